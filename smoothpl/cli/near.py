"""What a key or an option that does not exist was probably meant to be."""

import difflib
from collections.abc import Sequence

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.knobs import conf_dir

ELSEWHERE = {
    **dict.fromkeys(("lr", "learningrate", "eta"), "optim.learning_rate"),
    **dict.fromkeys(("wd", "decay"), "optim.weight_decay"),
    **dict.fromkeys(("epochs", "num_epochs", "max_epochs", "steps", "iterations", "num_steps"), "max_steps"),
    **dict.fromkeys(("bs", "batch", "batchsize"), "batch_size"),
    **dict.fromkeys(("gpus", "num_gpus"), "trainer.devices"),
    **dict.fromkeys(("gpu", "device", "cuda"), "trainer.accelerator"),
    **dict.fromkeys(("workers", "num_worker"), "data.num_workers"),
    **dict.fromkeys(("image_size", "img_size", "resolution"), "data.size"),
    **dict.fromkeys(("folder", "path", "dir", "images", "data_dir", "data.path", "data.dir"), "data.root"),
    **dict.fromkeys(("labels", "data.label"), "data.labels"),
    **dict.fromkeys(("dataset", "datasets"), "data"),
    **dict.fromkeys(("model", "network", "arch", "architecture", "backbone"), "net"),
    **dict.fromkeys(("pretrained", "checkpoint"), "net.weights"),
    **dict.fromkeys(("augment", "augmentation", "augmentations", "transforms"), "views"),
    **dict.fromkeys(("tau", "confidence"), "threshold"),
    **dict.fromkeys(("lambda_u", "lambda"), "unlabeled_weight"),
    **dict.fromkeys(("ema",), "ema_decay"),
    **dict.fromkeys(("out", "output", "output_dir", "run_dir", "save_dir"), "hydra.run.dir"),
    **dict.fromkeys(("random_seed", "random_state"), "seed"),
    **dict.fromkeys(("optimizer", "optimiser"), "optim"),
    **dict.fromkeys(("wandb", "tensorboard"), "logger"),
    **dict.fromkeys(("alg", "algorithm"), "method"),
}
"""What other programs call it."""
OF_HYDRA = ("hydra", "_target_", "_partial_", "_convert_", "_recursive_", "_args_")


def unknown_key(full_key: str, node: DictConfig) -> str:
    """`node` is where the key was looked for."""
    owner, _, name = full_key.rpartition(".")
    known = [str(key) for key in node if key not in OF_HYDRA]
    near = [".".join(filter(None, [owner, each])) for each in difflib.get_close_matches(name, known, n=1)]
    elsewhere = known_elsewhere(full_key, node)
    meant = near or elsewhere if owner else elsewhere or near
    if meant:
        return f"{full_key} is not a knob: did you mean {' or '.join(meant)}?"
    if not known:
        return f"{full_key} is not a knob: this {owner} has none."
    return f"{full_key} is not a knob: known are {', '.join(known)}."


def known_elsewhere(full_key: str, node: DictConfig) -> list[str]:
    """The keys of other parts with this name, or what it is called here."""
    name = full_key.rpartition(".")[2].lower()
    if full_key.lower() in ELSEWHERE or name in ELSEWHERE:
        return [ELSEWHERE.get(full_key.lower()) or ELSEWHERE[name]]
    written = OmegaConf.to_container(node)
    assert isinstance(written, dict)
    parts = {str(part): inner for part, inner in written.items() if isinstance(inner, dict) and part not in OF_HYDRA}
    return [] if "." in full_key else [f"{part}.{name}" for part, inner in parts.items() if name in inner]


def unknown_option(file: str, options: Sequence[str]) -> str:
    """`file` as Hydra names it, group/option; options may also stand in folders of the group."""
    group, _, option = file.rpartition("/")
    folder = conf_dir() / group
    below = [path.relative_to(folder).with_suffix("").as_posix() for path in sorted(folder.rglob(f"{option}.yaml"))]
    near = below or difflib.get_close_matches(option, options, n=1)
    advice = f"did you mean {group}={near[0]}?" if near else f"{group} is one of {', '.join(sorted(options))}."
    return f"{group}={option} is not an option; {advice}"
