import pytest

from smoothpl.commands import equilibrium
from smoothpl.errors import ConfigError

SHORT = ("steps=60", "threshold=0.5", "batch_size=8")


def test_two_short_runs_give_a_snippet_of_yaml(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    equilibrium.main(["folds=1", *SHORT])
    text = capsys.readouterr().out
    assert "fold 0: two runs of 60 steps" in text
    assert "# smoothpl equilibrium folds=1 steps=60" in text
    (line,) = [line for line in text.splitlines() if line.startswith("smooth_unlabeled_weight: ")]
    assert float(line.split()[1]) > 0
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["folds=0"], "folds=0 must be a positive whole number"),
        (["steps=many"], "steps=many must be a positive whole number"),
        (["method=fixmatch"], "unlabeled_weight=auto compares a smooth shape with shape=step, and this shape jumps"),
        (["folds=1", "steps=1", "log_every=10"], "max_steps=1 is too short to measure"),
        (["folds=1", "steps=4", "log_every=2"], "hardly any pseudo-label counted yet.*use more steps"),
    ],
)
def test_a_mistake_is_one_message(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        equilibrium.main(arguments)
