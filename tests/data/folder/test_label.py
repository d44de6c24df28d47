from smoothpl.data.folder.label import TEST, Label


def test_a_label_says_where_it_was_given() -> None:
    label = Label("a.png", "cat", is_test=True, where="labels.csv, line 2")
    assert (label.where, TEST) == ("labels.csv, line 2", "test")
