"""What conf/ may call: the schema and the resolvers, made known to Hydra, which is made to read each file once."""

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from smoothpl.config.checks.effects import check_views
from smoothpl.config.checks.open_set import num_known
from smoothpl.config.data_name import data_name
from smoothpl.config.describe import describe_groups, describe_knobs
from smoothpl.config.knobs import TrainConfig
from smoothpl.config.overrides import key_of
from smoothpl.config.parsed_once import parse_once
from smoothpl.config.recipe import not_in_name, recipe_name
from smoothpl.errors import ConfigError

SCHEMA = "schema.yaml"


def register() -> None:
    """Makes the schema and the resolvers that conf/ uses known to Hydra; safe to call twice."""
    parse_once()
    if SCHEMA not in ConfigStore.instance().repo:  # it takes a tenth of what composing does
        ConfigStore.instance().store(name=SCHEMA, node=TrainConfig)
    OmegaConf.register_new_resolver("recipe", name_of_recipe, replace=True)
    OmegaConf.register_new_resolver(
        "not_in_name", lambda _root_: not_in_name(map(key_of, _root_.hydra.overrides.task)), replace=True
    )
    OmegaConf.register_new_resolver("data_name", lambda _root_: data_name(_root_), replace=True)  # noqa: PLW0108
    # Dash lowers its threshold every 10 of 1,024 epochs.
    OmegaConf.register_new_resolver("dash_period", lambda steps: max(1, round(steps * 10 / 1024)), replace=True)
    # What others do once per epoch: so many times in a run, however long it is.
    OmegaConf.register_new_resolver("period", lambda steps, times: max(1, round(steps / times)), replace=True)
    OmegaConf.register_new_resolver("labels_from", labels_from, replace=True)
    OmegaConf.register_new_resolver("num_known", num_known, replace=True)
    OmegaConf.register_new_resolver("not", lambda flag: not flag, replace=True)
    OmegaConf.register_new_resolver("product", lambda one, other: one * other, replace=True)
    OmegaConf.register_new_resolver("knobs", describe_knobs, replace=True)
    OmegaConf.register_new_resolver("groups", describe_groups, replace=True)


def name_of_recipe(_root_: DictConfig) -> str:
    """For YAML: the directory of a run has it in its name, so it is asked for before anything is checked."""
    check_views(_root_)
    return recipe_name(_root_, _root_.hydra.job.override_dirname)


def labels_from(first: int, step: int, num_labels: int | None) -> list[int]:
    """For YAML: the numbers of labels of the runs before, where they grow by the same step."""
    if num_labels is None or num_labels < first or (num_labels - first) % step:
        raise ConfigError(
            f"num_labels={num_labels} is not one of {first}, {first + step}, {first + 2 * step}, ...; use such a "
            "number, or set labels_before itself."
        )
    return list(range(first, num_labels, step))
