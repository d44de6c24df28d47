import torch

from smoothpl.pseudo import Fixed, Power, PseudoLabels, Step, ThresholdPolicy, Weighting

PSEUDO = PseudoLabels(torch.tensor([0, 1, 2]), torch.tensor([0.5, 0.9, 1.0]))


def test_a_weighting_is_the_shape_at_the_policys_threshold() -> None:
    torch.testing.assert_close(Weighting(Fixed(0.8), Power())(PSEUDO), torch.tensor([0, 0.5, 1]))
    assert Weighting(Fixed(0.8), Step())(PSEUDO).tolist() == [0, 1, 1]


def test_the_policys_memory_is_part_of_the_weightings_state() -> None:
    class Remembers(ThresholdPolicy):
        def __init__(self) -> None:
            super().__init__()
            self.seen: torch.Tensor
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, pseudo: PseudoLabels) -> torch.Tensor:
            return torch.zeros_like(pseudo.confidence)

        def observe(self, pseudo: PseudoLabels) -> None:
            self.seen += len(pseudo.label)

    weighting = Weighting(Remembers(), Power())
    weighting.observe(PSEUDO)
    assert weighting.state_dict()["policy.seen"] == 3
