"""What conf/ may call: the schema and the resolvers, made known to Hydra."""

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from smoothpl.config.knobs import TrainConfig


def register() -> None:
    """Makes the schema and the resolvers that conf/ uses known to Hydra; safe to call twice."""
    from smoothpl.config.describe import describe_groups, describe_knobs
    from smoothpl.config.recipe import recipe_name
    from smoothpl.growth import labels_from

    ConfigStore.instance().store(name="schema", node=TrainConfig)
    OmegaConf.register_new_resolver(
        "recipe", lambda _root_: recipe_name(_root_, _root_.hydra.job.override_dirname), replace=True
    )
    # Dash lowers its threshold every 10 of 1,024 epochs.
    OmegaConf.register_new_resolver("dash_period", lambda steps: max(1, round(steps * 10 / 1024)), replace=True)
    OmegaConf.register_new_resolver("labels_from", labels_from, replace=True)
    OmegaConf.register_new_resolver("not", lambda flag: not flag, replace=True)
    OmegaConf.register_new_resolver("product", lambda one, other: one * other, replace=True)
    OmegaConf.register_new_resolver("knobs", describe_knobs, replace=True)
    OmegaConf.register_new_resolver("groups", describe_groups, replace=True)
