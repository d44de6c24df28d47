import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from smoothpl.errors import ConfigError
from smoothpl.nets.weight_files import read_weights


class Evil:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("touched"),))


def refused(place: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_weights(str(place), "weights", "backbone")
    message = str(caught.value)
    assert message.startswith(f"backbone.weights={place} ")
    assert "\n" not in message
    assert "weights_only" not in message
    return message


def test_a_file_of_a_stranger_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.pth").write_bytes(pickle.dumps({"state_dict": Evil()}))
    torch.save({"state_dict": Evil()}, tmp_path / "worse.pth")
    for name in ("evil.pth", "worse.pth"):
        refused(tmp_path / name)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("content", "code"), [({"weight": Evil()}, r"pathlib.Path.touch|getattr"), (nn.Linear(2, 2), "torch.nn")]
)
def test_a_file_with_code_is_named_so_and_torch_s_advice_to_run_it_is_not_repeated(
    tmp_path: Path, content: Any, code: str
) -> None:
    torch.save(content, tmp_path / "code.pt")
    message = refused(tmp_path / "code.pt")
    assert "holds code (" in message
    assert any(each in message for each in code.split("|"))
    assert message.endswith("and is not read: it could do anything here; save its weights alone, as .safetensors.")


@pytest.mark.parametrize("name", ["a.pt", "a.safetensors"])
@pytest.mark.parametrize("content", [b"", b"hello, this is text", b"PK\x03\x04 and so on", bytes(range(256))])
def test_garbage_is_refused_with_the_way_out(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    message = refused(tmp_path / name)
    assert "holds no weights that can be read: it is damaged, or of another format" in message
    assert message.endswith("use a state dict that torch.save has written, or .safetensors.")


def test_half_a_file_and_a_file_without_tensors_are_refused(tmp_path: Path) -> None:
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "whole.pt")
    content = (tmp_path / "whole.pt").read_bytes()
    (tmp_path / "half.pt").write_bytes(content[: len(content) // 2])
    torch.save([1, 2], tmp_path / "list.pt")
    assert "it is damaged" in refused(tmp_path / "half.pt")
    assert "holds no weights: no tensors with names; use a state dict" in refused(tmp_path / "list.pt")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "mine.pt").write_bytes(b"")
    (tmp_path / "mine.pt").chmod(0)
    assert "may not be read; change its permissions" in refused(tmp_path / "mine.pt")


def test_weights_are_found_in_their_wrapping(tmp_path: Path) -> None:
    state = nn.Linear(2, 2).state_dict()
    torch.save({"epoch": 3, "teacher": {"state_dict": state}}, tmp_path / "wrapped.pt")
    assert read_weights(str(tmp_path / "wrapped.pt"), "weights").keys() == state.keys()
