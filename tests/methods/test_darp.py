from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.optimize import brentq
from torch.nn.functional import cross_entropy

from smoothpl.config.checks import check
from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo.ledger_alignment import LedgerAlignment
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import assert_same_losses
from tests.support.method_paths import LARGE, SMALL, largest_jumps
from tests.support.method_promises import assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows

Numbers = npt.NDArray[np.floating[Any]]
STEPS, IMAGES, CLASSES = 60, 1297, 10
LEDGER = "refine.ledger_alignment"
HALF_SURE = "threshold=0.5"
SMOOTH = ("refine=[dual_alignment]", "shape=linear", "smooth=strict")


def dual_by_hand(column: Numbers, weight: Numbers, size: float) -> float:
    return float(brentq(lambda nu: (column * np.exp(-nu / weight)).sum() - size, -60, 60))


def aligned_by_hand(ledger: Numbers, sizes: Numbers, rounds: int) -> Numbers:
    """The 2 M_c largest entries of each class, scaled; rows to 1; then rows and columns in turn."""
    kept = np.zeros_like(ledger)
    for c, size in enumerate(sizes):
        first = np.argsort(-ledger[:, c], kind="stable")[: int(2 * size)]
        kept[first, c] = ledger[first, c] * (size + 1e-6) / (ledger[first, c].sum() + 1e-6)
    p = (kept + 1e-6) / (kept + 1e-6).sum(1, keepdims=True)
    weight = -1 / (p * np.log(p + 1e-6)).sum(1)
    duals = np.zeros(len(sizes))
    for _ in range(rounds):
        rows = (p * np.exp(-duals / weight[:, None])).sum(1)
        scaled = p / rows[:, None]
        duals = np.array([dual_by_hand(scaled[:, c], weight, size) for c, size in enumerate(sizes)])
    moved = p * np.exp(-duals / weight[:, None])
    return np.asarray(moved / moved.sum(1, keepdims=True))


def test_every_so_often_all_images_are_aligned_and_those_of_a_step_get_their_rows() -> None:
    ledger: Numbers = np.full((IMAGES, CLASSES), 0.1, np.float32)
    aligned: Numbers = np.zeros((IMAGES, CLASSES))
    sizes: Numbers = np.full(CLASSES, IMAGES / CLASSES)
    number = changed = taught = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal number, changed, taught, aligned
        labeled, weak, strong = (seen[view].logits for view in ("labeled", "weak", "strong"))
        believed = weak.detach().softmax(1)
        for image, row in zip(batch.image.tolist(), believed.numpy(), strict=True):
            ledger[image] = row
        target = believed
        if number >= STEPS // 2:
            if (number - STEPS // 2) % 10 == 0:
                aligned = aligned_by_hand(ledger.astype(np.float64), sizes, 3)
            target = torch.from_numpy(aligned[batch.image.numpy()]).float()
            changed += int((target.argmax(1) != believed.argmax(1)).sum())
            taught += int((target.amax(1) > 0.5).sum())
        number += 1
        confidence, label = target.max(1)
        each = cross_entropy(strong, label, reduction="none")
        return cross_entropy(labeled, batch.label) + ((confidence > 0.5) * each).mean()

    words = ("method=darp", HALF_SURE, f"{LEDGER}.start=0.5", f"{LEDGER}.rounds=3")
    module = assert_follows(rule, *words, steps=STEPS)
    assert module.weighting is not None
    (part,) = module.weighting.further
    assert isinstance(part, LedgerAlignment)
    torch.testing.assert_close(part.aligned, torch.from_numpy(aligned).float(), rtol=1e-3, atol=1e-5)
    assert changed > 20
    assert taught > 20


def test_before_it_begins_it_is_fixmatch() -> None:
    assert_same_losses(("method=darp", HALF_SURE, f"{LEDGER}.start=1"), ("method=fixmatch", HALF_SURE))


def test_it_jumps_at_ranks_and_thresholds_and_its_smooth_version_does_not() -> None:
    at_once = (f"{LEDGER}.start=0", f"{LEDGER}.every=1", f"{LEDGER}.rounds=2")
    words = ("method=darp", "extra_heads=[projection]", "threshold=0.8")
    assert largest_jumps(*words, *at_once, points=50, looks=2)["logits"] > LARGE
    assert largest_jumps(*words, *at_once, "shape=linear", points=50, looks=3)["logits"] > SMALL  # by the cut alone
    assert max(largest_jumps(*words, *SMOOTH).values()) < SMALL


def test_it_is_refused_where_a_smooth_loss_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"drops the next: use refine=\[dual_alignment\]"):
        build_method(composed("method=darp", "shape=linear", "smooth=strict"))
    build_method(composed("method=darp", *SMOOTH))


def test_a_step_does_not_wait_for_the_device_not_even_when_it_aligns() -> None:
    assert not waits("method=darp", f"{LEDGER}.start=0", f"{LEDGER}.every=1")
    assert not waits("method=darp", "refine=[dual_alignment]")


def test_its_memory_is_made_for_whole_steps() -> None:
    assert_needs_whole_steps("method=darp")
    assert_needs_whole_steps("method=darp", "refine=[dual_alignment]")


def test_it_cannot_be_fused_into_one_graph() -> None:
    words = ["method=darp", "compile=true"]
    with pytest.raises(ConfigError, match=r"compile=true cannot fuse refine=\[ledger_alignment\]"):
        check(composed(*words), words)


def test_what_corrects_beliefs_before_is_refused() -> None:
    with pytest.raises(ConfigError, match="use align=none, and put it first"):
        build_method(composed("method=darp", "align=uniform"))
    with pytest.raises(ConfigError, match="and Debiasing would correct that before"):
        build_method(composed("method=darp", "refine=[debiasing,ledger_alignment]"))
