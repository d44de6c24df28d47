"""The parts of a trained run, read from its directory: its averaged network, and the backbones below it."""

from pathlib import Path
from typing import NamedTuple

import torch
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn

from smoothpl.backbones.build import build_backbones
from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.encoder import Encoder
from smoothpl.backbones.run_files import check_files, way_back
from smoothpl.errors import ConfigError, require
from smoothpl.inference.trust import check_trusted
from smoothpl.layout import LAST_CHECKPOINT, RECORD
from smoothpl.nets.build import build_network
from smoothpl.nets.finetuning.build import whole_network
from smoothpl.nets.heads import Head
from smoothpl.nets.with_heads import without_heads
from smoothpl.record.record import Record
from smoothpl.record.trained import handed_over


class Parts(NamedTuple):
    """`network` sees images, or it is the head on the vectors of some backbones."""

    run_dir: Path
    record: Record
    network: nn.Module
    backbones: dict[str, Encoder | Embeddings]

    @property
    def is_finetuned(self) -> bool:
        """Whether the backbone has learned, too; then no bank has its vectors."""
        return self.record.config.get("finetune") is not None

    @property
    def encoders(self) -> dict[str, Encoder]:
        """Backbones for other images than those of the run."""
        found = {name: each for name, each in self.backbones.items() if isinstance(each, Encoder)}
        require(
            len(found) == len(self.backbones),
            f"run={self.run_dir} was trained on vectors that were made elsewhere (backbone=embeddings), and other "
            "images have none; train on the network that made them: backbone=onnx backbone.path=<its file>.",
        )
        return found

    @property
    def engine(self) -> str:
        """onnxruntime is not asked for: it need not be installed where a run is used."""
        return "torch" if self.record.config["backbone"].get("engine") == "torch" else "auto"


def read_parts(named: Path, trust: bool) -> Parts:
    run_dir, record = handed_over(named)
    config = resolved(record)
    check_trusted(config.net, "network", run_dir, trust)
    backbones = backbones_of(config, record, run_dir, trust)
    network = build_network(config.net, with_pretrained=False, dims=[each.dim for each in backbones.values()])
    state = without_heads(averaged(run_dir), judged_head(record))
    if config.get("finetune") is None:
        take(network, state, run_dir)
        return Parts(run_dir, record, network, backbones)
    ((name, encoder),) = backbones.items()
    assert isinstance(network, Head)
    whole = whole_network(encoder, network, config.finetune)  # type: ignore[arg-type]  # which refuses embeddings
    take(whole, state, run_dir)
    return Parts(run_dir, record, whole.head, {name: finetuned(encoder, whole.finished())})


def judged_head(record: Record) -> str | None:
    """The head of the method that makes its predictions, where that is not the network itself."""
    heads = record.config.get("extra_heads") or {}
    return next((name for name, each in heads.items() if each.get("judged")), None)


def resolved(record: Record) -> DictConfig:
    """What describes its network."""
    config = OmegaConf.create(record.config)
    parts = {name: config[name] for name in ("net", "backbone", "finetune") if name in config}
    return OmegaConf.create(
        {
            name: OmegaConf.to_container(part, resolve=True) if OmegaConf.is_config(part) else part
            for name, part in parts.items()
        }
    )


def backbones_of(config: DictConfig, record: Record, run_dir: Path, trust: bool) -> dict[str, Encoder | Embeddings]:
    """By their names, with the weights that the run was trained on; none if it saw images."""
    if config.get("backbone") is None:
        return {}
    encoders = config.backbone.get("encoders") if isinstance(config.backbone, DictConfig) else None
    if not isinstance(encoders, DictConfig) or not all(isinstance(each, DictConfig) for each in encoders.values()):
        raise ConfigError(
            f"run={run_dir}: {RECORD} is damaged (backbone={str(config.backbone)[:40]}); copy it again from where it "
            "was made."
        )
    for part in encoders.values():
        check_trusted(part, "backbone", run_dir, trust)
    check_files(dict(encoders), f"run={run_dir}")
    found = dict(zip(map(str, encoders), build_backbones(config.backbone), strict=True))
    # A head on the vectors of other weights would guess, and nobody would see why.
    other = [name for name, each in found.items() if record.backbones.get(name, each.digest) != each.digest]
    require(
        not other,
        f"run={run_dir} was trained on other weights of backbone {', '.join(other)} than are found here; "
        f"{way_back(dict(encoders), other)}, or train again.",
    )
    return found


def averaged(run_dir: Path) -> dict[str, Tensor]:
    try:
        state = torch.load(run_dir / LAST_CHECKPOINT, weights_only=True, map_location="cpu")["state_dict"]
        prefix = "average."
        return {key.removeprefix(prefix): state[key] for key in state if key.startswith(prefix)}
    except Exception as error:  # pickle has many ways to fail, and all mean that the file is damaged
        raise damaged(run_dir, error) from error


def take(network: nn.Module, state: dict[str, Tensor], run_dir: Path) -> None:
    try:
        network.load_state_dict(state)
    except ConfigError:
        raise
    except Exception as error:  # of another network
        raise damaged(run_dir, error) from error


def damaged(run_dir: Path, error: Exception) -> ConfigError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ConfigError(
        f"run={run_dir}: {LAST_CHECKPOINT} is damaged, or of another network than {RECORD} says ({reason}); copy both "
        "again from where the run was trained."
    )


def finetuned(encoder: Encoder | Embeddings, network: nn.Module) -> Encoder:
    """The backbone with what it has learned, and a digest of its own."""
    assert isinstance(encoder, Encoder)
    architecture = f"{encoder.digest}, finetuned"
    return Encoder(network, encoder.name, architecture, encoder.size, encoder.crop, encoder.mean, encoder.std)
