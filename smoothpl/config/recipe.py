"""Recipe: everything that was composed except fold, seed and places. Runs are grouped by it, not by a method's name."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.knobs import TrainConfig
from smoothpl.config.method_parts import FURTHER_PARTS

OF_COMMAND = ("resume", "resume_allow", "max_time", "minutes")
"""Knobs of one command, not of the run: they are neither recorded nor repeated when it is resumed."""
COVERAGE = "callbacks.coverage"
WATCHING = (
    *("callbacks.progress", "callbacks.collapse", COVERAGE, "callbacks.gallery", "callbacks.purity"),
    *("logger", "pictures", "verdict"),
)
"""What only watches a run."""
# What does not change what is learned: names of bundles, which of several runs it is, what watches, and the machine.
NOT_RECIPE = [
    *("benchmark", "method", "fold", "seed", "smooth_unlabeled_weight"),
    *OF_COMMAND,
    *WATCHING,
    *("backbone.engine", "finetune.eval_every"),
    *("checkpoint_every", "compile", "deterministic", "eval_every", "log_every"),
    *("data.name", "data.num_workers", "data.root", "data.source.root", "data.picked.file", "data.picked.digest"),
    *("trainer.accelerator", "trainer.devices", "trainer.num_nodes", "trainer.strategy"),
    *("trainer.deterministic", "trainer.benchmark", "trainer.val_check_interval", "trainer.log_every_n_steps"),
]
FACTS_OF_A_FOLDER = ("data.images_digest", "data.labels_digest", "data.num_classes", "data.folds", "data.padding")
NOT_IN_NAME = [
    *(each for each in NOT_RECIPE if each != "smooth_unlabeled_weight"),  # which decides unlabeled_weight
    *("experiment", "data", "labels_before", "labels_until_pause"),
    *FACTS_OF_A_FOLDER,
]
"""Overrides that the name of a recipe leaves out: it has them elsewhere, or they change nothing that is learned."""
INIT_FROM = "net.init_from"
"""Which networks of libraries always had."""
LATER = (
    *("labels_before", "labels_until_pause", "backbone", "head", "finetune", "views_wanted", "labeled_weight"),
    *FURTHER_PARTS,
    *("policy.warm_up_steps", INIT_FROM, "unlabeled", "learned_head", "choose_on", "optim.schedule"),
)
"""Knobs that earlier versions did not have, also of parts: while they are empty, a recipe keeps the digest it had."""


def is_recipe(path: str, value: Any) -> bool:
    """Whether a dotted name of the composed configuration, with its value, changes what is learned."""
    if path in LATER and not value:
        return False
    return path not in NOT_RECIPE and path.rpartition(".")[2] not in ("fold", "seed")


FORMER_NAMES = {"images_digest": "album", "labels_digest": "told"}
"""Keys of `data` and of its source that were called otherwise: a digest is made of the names it was first made of."""
AFTER, BEGUN = "after", "begun"
"""In the name of a recipe: the labels of the runs before, and those until a pause."""


def not_in_name(keys: Iterable[str]) -> list[str]:
    """Those of some typed keys that the name of a recipe leaves out."""
    within = tuple(f"{each}." for each in NOT_IN_NAME if each != "data")
    return [key for key in keys if key in NOT_IN_NAME or key.startswith(within)]


def recipe_digest(config: DictConfig) -> str:
    """Eight letters for a recipe; two runs that share them differ in fold or seed only."""
    recipe = OmegaConf.create({each.name: config[each.name] for each in fields(TrainConfig)})
    recipe.update(fold=0, seed=0)  # before resolving, because parts refer to them
    OmegaConf.resolve(recipe)
    repairs = OmegaConf.select(recipe, f"{COVERAGE}.action") == "repair"  # which does more than watch
    others = [each for each in NOT_RECIPE if each != COVERAGE or not repairs]
    for path in (*(each for each in LATER if came_later(recipe, each)), *others):
        owner, _, key = path.rpartition(".")
        part = OmegaConf.select(recipe, owner) if owner else recipe
        if part is not None:
            part.pop(key, None)
    written = json.loads(json.dumps(OmegaConf.to_container(recipe)), parse_int=float)  # 1 and 1.0 are the same recipe
    written["data"] = with_former_names(written["data"])
    written["data"]["source"] = with_former_names(written["data"]["source"])
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()[:8]


def came_later(recipe: DictConfig, path: str) -> bool:
    """Whether a knob is empty that earlier versions did not have."""
    had_it = path == INIT_FROM and str(OmegaConf.select(recipe, "net._target_")).endswith(".pretrained")
    return not had_it and not OmegaConf.select(recipe, path)


def with_former_names(part: dict[str, Any]) -> dict[str, Any]:
    return {FORMER_NAMES.get(key, key): value for key, value in part.items()}


def plain(config: DictConfig) -> dict[str, Any]:
    """Everything that was composed, resolved, except the knobs of the command itself."""
    composed = OmegaConf.to_container(config, resolve=True)
    assert isinstance(composed, dict)
    return {str(key): value for key, value in composed.items() if key not in OF_COMMAND}


def recipe_name(config: DictConfig, changed: str = "") -> str:
    """For directories and tables: the method, what was changed on the command line, earlier labels, and the digest."""
    after = f"{AFTER}={'-'.join(map(str, config.labels_before))}" if config.labels_before else ""
    begun = f"{BEGUN}={'-'.join(map(str, config.labels_until_pause))}" if config.labels_until_pause else ""
    # 120 characters: a directory's name may have 255 bytes.
    parts = [config.method, changed.replace("/", "_")[:120], after[:60], begun[:60], recipe_digest(config)]
    return ",".join(filter(None, parts))
