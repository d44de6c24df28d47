import torch

from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms import Term


class One(Term):
    def forward(self, step: TrainStep) -> torch.Tensor:
        return torch.ones(())


def test_a_term_counts_by_its_weight_and_its_ramp_which_moves_when_a_step_is_over() -> None:
    step: TrainStep = None  # type: ignore[assignment]
    plain, growing = One(weight=3.0), One(weight=3.0, ramp=Ramp(4, until=0.5))
    assert plain.weighted(plain(step)) == 3
    counted = []
    for _ in range(4):
        counted.append(float(growing.weighted(growing(step))))
        growing.finish(step)
    assert counted == [0, 1.5, 3, 3]
    assert not [*plain.buffers()]
    assert not plain.obstacles(None)  # type: ignore[arg-type]
