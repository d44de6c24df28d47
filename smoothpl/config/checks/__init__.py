"""Which settings contradict each other: what types cannot catch, refused before any work is done.

What only a part itself can know, it checks when it is built: a shape, a split, a network.
"""

from collections.abc import Sequence

from omegaconf import DictConfig

from smoothpl.config.checks.backbone import check_backbone
from smoothpl.config.checks.effects import check_effects, check_views
from smoothpl.config.checks.finetune import check_finetune
from smoothpl.config.checks.labels import check_label_history, check_num_labels
from smoothpl.config.checks.method import check_labels_only, check_pseudo_labels
from smoothpl.config.checks.names import check_names
from smoothpl.config.checks.numbers import check_numbers
from smoothpl.config.checks.open_set import check_open_set
from smoothpl.config.checks.trainer import check_trainer
from smoothpl.config.checks.verdict import check_verdict
from smoothpl.config.overrides import key_of

__all__ = ["check"]


def check(config: DictConfig, overrides: Sequence[str] = ()) -> None:
    """Raises ConfigError, naming the key, its value, the rule and the way out."""
    check_numbers(config)
    check_open_set(config)
    check_num_labels(config)
    check_label_history(config)
    check_views(config)
    check_trainer(config)
    check_backbone(config, overrides)
    check_verdict(config)
    check_finetune(config)
    typed = {*map(key_of, overrides)}
    # Two of three: one part of a method that learns from labels alone may have been asked for by mistake.
    if [config.policy, config.shape, config.target].count(None) >= 2:
        check_labels_only(config, typed)
    else:
        check_pseudo_labels(config, typed)
    check_effects(config, overrides)
    check_names(config, overrides)
