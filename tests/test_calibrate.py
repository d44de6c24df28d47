import sys

import pytest
from omegaconf import DictConfig

from smoothpl import calibrate
from smoothpl.calibrate import Equilibrium, calibrated
from smoothpl.errors import ConfigError
from tests.composing import composed

SHORT = ("steps=60", "threshold=0.5", "batch_size=8")


def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", ["calibrate", *arguments])
    calibrate.main()
    return capsys.readouterr().out


def test_the_weights_solve_the_papers_equations() -> None:
    """Appendix: lambda_FM l_FM = lambda_SFM l_Phi l_SFM, and lambda_u l_Phi / l_SFM = lambda_Phi l_Phi / (1 - tau)."""
    found = calibrated(Equilibrium(0.22, 0.9), Equilibrium(0.2, 0.8), threshold=0.95)
    assert 1 * found.l_fm == pytest.approx(found.unlabeled_weight * found.l_phi * found.l_sfm)
    assert found.unlabeled_weight == pytest.approx(1.1)
    balance = found.unlabeled_weight * found.l_phi / found.l_sfm
    assert balance == pytest.approx(found.factor_bound * found.l_phi / (1 - 0.95))


def test_two_short_runs_give_a_snippet_of_yaml(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(monkeypatch, capsys, "folds=1", *SHORT)
    assert "fold 0: two runs of 60 steps" in text
    assert "# python -m smoothpl.calibrate folds=1 steps=60" in text
    (line,) = [line for line in text.splitlines() if line.startswith("smooth_unlabeled_weight: ")]
    assert float(line.split()[1]) > 0


def test_a_method_without_a_threshold_has_no_bound_for_the_factor_loss() -> None:
    assert calibrated(Equilibrium(0.22, 0.9), Equilibrium(0.2, 0.8), threshold=None).factor_bound is None


@pytest.mark.parametrize(("max_steps", "steps"), [(100, 100), (1000, 500), (20_000, 2000)])
def test_automatic_runs_are_short_but_not_too_short(
    monkeypatch: pytest.MonkeyPatch, max_steps: int, steps: int
) -> None:
    """A tenth of the run, at least 500 steps, both with a weight of 1 and otherwise as configured but for the shape."""
    measured: list[DictConfig] = []

    def measure(config: DictConfig) -> Equilibrium:
        measured.append(config)
        return Equilibrium(0.1, 0.5)

    monkeypatch.setattr(calibrate, "measure", measure)
    config = composed("method=smooth", "shape=sqrt", "unlabeled_weight=auto", f"max_steps={max_steps}", "fold=2")
    calibrate.calibrate(config)
    step, smooth = measured
    assert (step.max_steps, step.trainer.max_steps, step.unlabeled_weight, step.fold) == (steps, steps, 1, 2)
    assert step.shape == {"_target_": "smoothpl.pseudo.Step"}
    assert smooth.shape.mu == 0.5
    step.shape = smooth.shape
    assert step == smooth
    assert config.unlabeled_weight == "auto"


def test_help_is_a_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        said(monkeypatch, capsys, "--help")
    text = capsys.readouterr().out
    assert "lambda_u" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["folds=0"], "folds=0 must be a positive whole number"),
        (["steps=many"], "steps=many must be a positive whole number"),
        (["method=fixmatch"], "unlabeled_weight=auto has nothing to measure with shape=step"),
        (["folds=1", "steps=1", "log_every=10"], "max_steps=1 is too short to measure"),
        (["folds=1", "steps=4", "log_every=2"], "hardly a pseudo-label counted yet.*use more steps"),
    ],
)
def test_what_cannot_be_measured_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        said(monkeypatch, capsys, *arguments)
