from pathlib import Path

import pytest

from smoothpl.commands import generations
from smoothpl.errors import ConfigError

SHORT = (
    *("benchmark=digits_long_tailed", "max_steps=4", "eval_every=4", "batch_size=4", "unlabeled_ratio=2"),
    *("pictures=false", "logger=none", "callbacks.progress=null", "threshold=0.3"),
)


def test_every_generation_has_a_line_and_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    generations.main([*SHORT, "method=fixmatch", "generations=2"])
    text = capsys.readouterr().out
    assert "Generation 1 of 2, 78 labels and 0 picked: " in text
    assert "Generation 2 of 2, 78 labels and " in text
    assert "balanced, %" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["generations=0"], "generations=0 must be a positive whole number"),
        (["generations=many"], "generations=many must be a positive whole number"),
        (["fold=0,1"], "fold=0,1"),
    ],
)
def test_a_mistake_is_one_message(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        generations.main([*SHORT, *words])


def test_help_shows_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        generations.main(["--help"])
    assert "smoothpl generations [knob=value ...] [generations=6]" in capsys.readouterr().out
