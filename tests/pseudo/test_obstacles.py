from smoothpl.pseudo.obstacles import Obstacle


def test_an_obstacle_reads_as_a_sentence_with_the_way_out() -> None:
    assert str(Obstacle("the shape jumps", "shape=linear", ("shape=linear",))) == "the shape jumps: use shape=linear"
