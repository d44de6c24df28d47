import sys
from functools import partial
from typing import Any

import pytest

from benchmarks import (
    crowd,
    diagnostics,
    ema,
    evaluation,
    features,
    folder,
    inference,
    one_core,
    pictures,
    plain_loop,
    profile,
    report,
    sampler,
    scaling,
    start,
    step,
    timing,
    views,
    weighting,
)

SMALLEST = ("benchmark=digits_40", "backbone=efficientnet_lite0", "backbone.views=1", "backbone.size=32")
SMALL_NETWORK = {"WideResNet-10-1": inference.NETWORKS["WideResNet-10-1"]}
STEPS_OF_HALF_A_SECOND = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    print(0.5, flush=True)
"""
hurried = partial(timing.compare, turns=1, seconds=0.001)


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (views, sampler, weighting, ema):
        monkeypatch.setattr(part, "compare", hurried)
    values: dict[Any, dict[str, Any]] = {
        views: {"SIZE": 8},
        weighting: {"LABELED": 2, "UNLABELED": 4},
        plain_loop: {"NUM_IMAGES": 100, "RESTING": 0},
        step: {"TURNS": 1, "SHORTEST": 0.01, "SMALL": 1, "WORKERS": 0, "AGAINST_LOOP": {"": 1.4}}
        | dict.fromkeys(("CIFAR", "DIGITS"), ("batch_size=2",)),
        crowd: {"WORKER": (sys.executable, "-c", STEPS_OF_HALF_A_SECOND), "TURNS": 1, "SETTLING": 0},
        one_core: {"SMALL": 1, "AT_LEAST": {"": 1.1}},
        evaluation: {"KNOBS": ("benchmark=digits_40",)},
        pictures: {"NUM_FILES": 4, "BATCH": 2, "STEPS": 3, "TURNS": 1},
        report: {"MANY": 40, "METHODS": ("fixmatch", "smooth"), "THRESHOLDS": (0.95,)},
        folder: {"NUM_FILES": 20},
        profile: {"STEPS": 1, "WARM": 1, "SMALL": 1},
        features: {"NUM_IMAGES": 40, "SIDE": 32, "STEP": SMALLEST}
        | {"FOLDER": (*SMALLEST, "max_steps=2", "eval_every=2", "pictures=false", "logger=none")},
        inference: {
            "MANY": 17,
            "TURNS": 1,
            "SHORTEST": 0.001,
            "NETWORKS": SMALL_NETWORK,
            "IN_LINES": (*SMALL_NETWORK,),
        },
        start: {"TIMES": 1},
        diagnostics: {"STEPS": 2, "KINDS": [("benchmark=digits_40", "batch_size=4", "threshold=0.12")]},
        scaling: {
            "TURNS": 1,
            "VALUES": {"classes": [10], "unlabeled_images": [50], "unlabeled_of_a_step": [7], "processes": [2]},
        },
    }
    for part, constants in values.items():
        for name, value in constants.items():
            monkeypatch.setattr(part, name, value)
