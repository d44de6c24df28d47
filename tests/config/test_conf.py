"""Every file in conf/, and every way of combining them."""

from itertools import permutations, product
from pathlib import Path

import pytest
from hydra.core.config_store import ConfigStore
from hydra.errors import MissingConfigException
from hydra.utils import instantiate
from omegaconf import OmegaConf

from smoothpl.config.checks import check
from smoothpl.config.knobs import TrainConfig, conf_dir
from smoothpl.config.resolvers import register
from smoothpl.errors import ConfigError
from smoothpl.run.build import build_data, build_module
from tests.support.composing import HEADS, OWN, build, composed, options, ramps

PARTS = [
    "data",
    "split",
    "unlabeled",
    "views",
    "net",
    "align",
    "policy",
    "shape",
    "target",
    "annealing",
    "balance",
    "fairness",
    "optim",
    "callbacks",
]
EVERY_PART = [(group, option) for group in PARTS for option in options(group)]


@pytest.mark.parametrize(("group", "option"), EVERY_PART, ids=["=".join(part) for part in EVERY_PART])
def test_every_part_can_be_built(group: str, option: str) -> None:
    named = ["net.name=resnet18"] if option in ("torchvision", "timm") else []
    data = ["data=imagenet"] if option in ("imagenet", "resnet50") or named else []  # others lack size or colours
    own = ["benchmark=folder", *OWN] if option in ("folder", "photos", "given") else []
    dim = ["+net.dim=4"] if option in HEADS else []  # which a backbone tells
    is_nothing = (group, option) in (("annealing", "none"), ("fairness", "none"), ("unlabeled", "closed_set"))
    assert (build(group, option, *data, *named, *own, *dim) is None) == is_nothing


AROUND = [(group, option) for group in ("backbone", "head", "finetune", "verdict") for option in options(group)]


@pytest.mark.parametrize(("group", "option"), AROUND, ids=["=".join(part) for part in AROUND])
def test_every_option_around_a_backbone_composes(group: str, option: str) -> None:
    backbone = [] if group == "backbone" else ["backbone=efficientnet_lite0"]
    check(composed(*backbone, f"{group}={option}"))


@pytest.mark.parametrize(
    ("words", "frame", "padding"),
    [
        ("data=cifar10", None, 4),
        ("views=fixmatch data=stl10", None, 12),
        ("benchmark=cifar10_40 views=fixmatch", None, 4),
        ("data=imagenet", 224, 0),
    ],
)
def test_data_bring_the_views_that_suit_them_unless_others_are_asked_for(
    words: str, frame: int | None, padding: int
) -> None:
    views = composed(*words.split()).views
    assert (views.frame.size if "frame" in views else None) == frame
    assert views.weak.steps.flip_crop.padding == padding


@pytest.mark.parametrize(("benchmark", "method"), list(product(options("benchmark"), options("method"))))
def test_every_method_composes_with_every_benchmark(benchmark: str, method: str) -> None:
    config = composed(f"benchmark={benchmark}", f"method={method}", *(OWN if benchmark == "folder" else ()))
    if (benchmark, method) == ("folder", "fully_supervised"):  # nobody has labeled all of one's own images
        with pytest.raises(ConfigError, match="split=full and data=folder: labels that somebody has given"):
            build_data(config)
        return
    check(config)
    assert (config.benchmark, config.method) == (benchmark, method)
    assert not OmegaConf.missing_keys(config)
    build_data(config)
    build_module(config)


@pytest.mark.parametrize(
    "order", list(permutations(["method=fixmatch", "shape=sqrt", "threshold=0.98", "benchmark=digits_40"]))
)
def test_the_command_line_wins_in_any_order(order: tuple[str, ...]) -> None:
    config = composed(*order)
    assert (config.method, config.shape.mu, config.threshold) == ("fixmatch", 0.5, 0.98)


@pytest.mark.parametrize("method", [method for method in options("method") if "supervised" not in method])
@pytest.mark.parametrize("shape", ramps())
def test_every_method_takes_every_shape(method: str, shape: str) -> None:
    mu = ["shape.mu=3"] if shape == "power" else []
    config = composed(f"method={method}")  # its parts look up the shape when they are made
    config.shape = composed(f"shape={shape}", *mu).shape
    check(config)
    weighting = build_module(config).weighting
    assert weighting is not None
    assert type(weighting.shape) is type(instantiate(config.shape))


def test_a_group_is_never_named_like_a_plain_knob() -> None:
    """conf/threshold/ would make threshold=0.98 a choice of file."""
    register()
    schema = OmegaConf.structured(ConfigStore.instance().load("schema.yaml").node)
    bundles = {"benchmark", "method"}
    plain = {name for name in schema if OmegaConf.is_missing(schema, name)} - bundles
    groups = {path.name for path in conf_dir().iterdir() if path.is_dir()}
    assert groups - {"hydra", "experiment"} <= set(TrainConfig.__dataclass_fields__)
    assert not plain & groups


def test_an_experiment_wins_over_the_method_and_loses_to_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    text = "# @package _global_\ndefaults:\n  - override /shape: square\nthreshold: 0.7\nfold: 5\n"
    (tmp_path / "experiment" / "mine.yaml").write_text(text)
    config = composed("experiment=mine", "fold=1", f"hydra.searchpath=[file://{tmp_path}]")
    assert (config.threshold, config.shape.mu, config.fold) == (0.7, 2, 1)
    with pytest.raises(MissingConfigException):
        composed("experiment=typo", f"hydra.searchpath=[file://{tmp_path}]")
