import pytest
from omegaconf import DictConfig

from smoothpl.run import equilibrium
from smoothpl.run.equilibrium import Equilibrium, loss_weights, measure_loss_weights
from tests.support.composing import composed


def test_the_weights_solve_the_papers_equations() -> None:
    """Appendix: lambda_FM l_FM = lambda_SFM l_Phi l_SFM, and lambda_u l_Phi / l_SFM = lambda_Phi l_Phi / (1 - tau)."""
    found = loss_weights(Equilibrium(0.22, 0.9), Equilibrium(0.2, 0.8), threshold=0.95)
    assert 1 * found.l_fm == pytest.approx(found.unlabeled_weight * found.l_phi * found.l_sfm)
    assert found.unlabeled_weight == pytest.approx(1.1)
    assert found.factor_bound is not None
    balance = found.unlabeled_weight * found.l_phi / found.l_sfm
    assert balance == pytest.approx(found.factor_bound * found.l_phi / (1 - 0.95))


def test_a_method_without_a_threshold_has_no_bound_for_the_factor_loss() -> None:
    assert loss_weights(Equilibrium(0.22, 0.9), Equilibrium(0.2, 0.8), threshold=None).factor_bound is None


@pytest.mark.parametrize(("max_steps", "steps"), [(100, 100), (1000, 500), (20_000, 2000)])
def test_automatic_runs_are_short_but_not_too_short(
    monkeypatch: pytest.MonkeyPatch, max_steps: int, steps: int
) -> None:
    """A tenth of the run, at least 500 steps, both with a weight of 1 and otherwise as configured but for the shape."""
    measured: list[DictConfig] = []

    def measure(config: DictConfig, _: object) -> Equilibrium:
        measured.append(config)
        return Equilibrium(0.1, 0.5)

    monkeypatch.setattr(equilibrium, "measure", measure)
    config = composed("method=smooth", "shape=sqrt", "unlabeled_weight=auto", f"max_steps={max_steps}", "fold=2")
    measure_loss_weights(config)
    step, smooth = measured
    assert (step.max_steps, step.trainer.max_steps, step.unlabeled_weight, step.fold) == (steps, steps, 1, 2)
    assert step.shape == {"_target_": "smoothpl.pseudo.Step"}
    assert smooth.shape.mu == 0.5
    step.shape = smooth.shape
    assert step == smooth
    assert config.unlabeled_weight == "auto"
