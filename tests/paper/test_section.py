from smoothpl.paper.section import paper_section


def test_all_figures_are_in_the_sheet_and_those_with_a_remark_in_the_abridged_one() -> None:
    section = paper_section()
    (sheet,) = section.sheets
    assert section.sentences[0] == "91 of 102 published figures follow from the errors that the paper prints."
    assert len(sheet.rows) == 170
    assert sheet.abridged is not None
    shown = [[cell.text for cell in row] for row in sheet.abridged.rows]
    assert len(shown) == sum(bool(row[-1].text) for row in sheet.rows) == 20
    assert {row[-2] for row in shown} == {"no", "yes"}
    marks = {row[-1] for row in shown}
    assert marks == {f"({number})" for number in range(1, len(sheet.abridged.notes) + 1)}
    assert all(note.startswith(f"({number}) ") for number, note in enumerate(sheet.abridged.notes, start=1))
