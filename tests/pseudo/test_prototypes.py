from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo.prototypes import Prototypes
from smoothpl.run.build_method import build_method
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import TINY, composed
from tests.support.method_checks import assert_same_losses
from tests.support.method_paths import LARGE, SMALL, largest_jumps
from tests.support.method_promises import assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows

WORDS = ("method=fixmatch", "extra_heads=[projection]", "refine=[prototypes]", "terms=[prototype]")
SHORT = ("refine.prototypes.every=10", "refine.prototypes.length=6")


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_beliefs_are_blended_by_frequency_and_strong_views_learn_nearness(counts: str) -> None:
    """q = (1 - b) p + b a, b = (n / max n)^(1/1.5) of argmax p, or its mean by p; mean CE(a, softmax(cos / 0.05))."""
    known: dict[int, list[torch.Tensor]] = {c: [] for c in range(10)}
    period, frequency = torch.zeros(10), torch.zeros(10)
    number = changed = taught = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal number, changed, taught, period, frequency
        q = p = seen["weak"].logits.detach().softmax(1)
        nearness = torch.zeros(())
        if number >= 10 and all(known.values()):
            means = torch.stack([torch.stack(rows[-6:]).mean(0) for rows in known.values()])

            def near(view: str) -> torch.Tensor:
                return cosine_similarity(seen[view].heads["projection"].unsqueeze(1), means, dim=2) / 0.05

            a, blend = near("weak").detach().softmax(1), (frequency / frequency.max()) ** (1 / 1.5)
            b = (blend[p.argmax(1)] if counts == "hard" else p @ blend).unsqueeze(1)
            q = (1 - b) * p + b * a
            nearness = cross_entropy(near("strong"), a)
            changed += int((q.argmax(1) != p.argmax(1)).sum())
            taught += int((q.amax(1) > 0.3).sum())
        for row, c in zip(seen["labeled"].heads["projection"].detach(), batch.label.tolist(), strict=True):
            known[c].append(row)
        period = period + (torch.bincount(q.argmax(1), minlength=10) if counts == "hard" else q.sum(0))
        number += 1
        if number % 10 == 0:
            frequency, period = period / period.sum(), torch.zeros(10)
        confidence, label = q.max(1)
        lesson = (confidence > 0.3) * cross_entropy(seen["strong"].logits, label, reduction="none")
        return cross_entropy(seen["labeled"].logits, batch.label) + lesson.mean() + nearness

    assert_follows(rule, *WORDS, *SHORT, "threshold=0.3", f"refine.prototypes.counts={counts}", steps=60)
    assert changed > 20
    assert taught > 20


def test_as_long_as_there_are_no_prototypes_it_is_the_method_without() -> None:
    other = ("method=fixmatch", "extra_heads=[projection]", "threshold=0.5")
    assert_same_losses((*WORDS, "threshold=0.5"), other)


def test_it_jumps_at_ties_and_thresholds_and_its_smooth_version_does_not() -> None:
    ready = ("threshold=0.6", *(f"refine.prototypes.{word}" for word in ("every=5", "length=4", "temperature=1")))
    assert largest_jumps(*WORDS, *ready)["logits"] > LARGE
    smooth = ("refine.prototypes.counts=soft", "shape=linear", "smooth=strict")
    assert max(largest_jumps(*WORDS, *ready, *smooth).values()) < SMALL
    with pytest.raises(ConfigError, match=r"use refine.prototypes.counts=soft"):
        build_method(composed(*WORDS, "shape=linear", "smooth=strict"))


def test_a_step_never_waits_for_the_device_and_its_memory_needs_whole_steps() -> None:
    assert not waits(*WORDS, *SHORT)
    assert_needs_whole_steps(*WORDS)


def test_the_oldest_embeddings_of_a_class_make_room() -> None:
    part = Prototypes(3, width=1, batch_size=4, length=4)
    part.take(torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.tensor([0, 2, 0, 0]))
    part.take(torch.tensor([[5.0], [6.0], [7.0]]), torch.tensor([0, 0, 2]))
    assert part.embeddings.squeeze(2).tolist() == [[6, 3, 4, 5], [0, 0, 0, 0], [2, 7, 0, 0]]
    assert part.taken.tolist() == [5, 0, 2]
    assert not part.is_ready


@pytest.mark.parametrize(
    "knobs", [{"temperature": 0}, {"flatness": 0}, {"every": 0}, {"length": 2}, {"counts": "some"}]
)
def test_numbers_out_of_range_are_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"refine.prototypes.*{next(iter(knobs))}={next(iter(knobs.values()))}"):
        Prototypes(10, width=4, batch_size=16, **knobs)


def test_features_can_be_learned_from_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ("max_steps=40", "eval_every=40", "refine.prototypes.every=10")
    record = train(composed(*TINY_BACKBONE, *TINY, *WORDS, *words), tmp_path / "run")
    assert record.status == "finished"
    assert record.error is not None
    assert record.error < 75  # 90 is guessing
    assert record.metrics["train/prototype_loss"]
