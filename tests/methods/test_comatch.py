from collections.abc import Mapping
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy, one_hot

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from tests.support.method_paths import LARGE, SMALL, largest_jumps
from tests.support.method_promises import assert_is_read_without_its_heads, assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 100
IN_REACH = ("threshold=0.8", "terms.graph.threshold=0.6")
"""Of images whose neighbours in the bank were believed to be something else."""


def test_probabilities_are_aligned_and_smoothed_and_their_graph_is_taught() -> None:
    """q = 0.9 p + 0.1 softmax(g_w . bank / 0.2) bank_p, p by the last 32 means, the bank of the last 5 steps;
    CE_l + mean 1[max q >= 0.95] CE(q, z_s) + mean_i -sum_j Q_ij log softmax_j(g_s,i . g_s2,j / 0.2)."""
    means: list[torch.Tensor] = []
    bank: list[tuple[torch.Tensor, torch.Tensor]] = []
    taught = smoothed = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal taught, smoothed
        g = {view: each.heads["projection"] for view, each in seen.items()}
        p = seen["weak"].logits.detach().softmax(1)
        means.append(p.mean(0))
        p = p / (torch.stack(means[-32:]).mean(0) + 1e-6)
        q = p = p / p.sum(1, keepdim=True)
        if len(bank) == 5:
            embeddings, beliefs = (torch.cat(each) for each in zip(*bank, strict=True))
            q = 0.9 * p + 0.1 * (g["weak"].detach() @ embeddings.T / 0.2).softmax(1) @ beliefs
            smoothed += 1
        bank.append((torch.cat([g["weak"], g["labeled"]]).detach(), torch.cat([p, one_hot(batch.label, 10)])))
        del bank[:-5]
        above = (q.amax(1) >= 0.95).float()
        taught += int(above.sum())
        shared = (q @ q.T).fill_diagonal_(1)
        shared = shared * (shared >= 0.8)
        shared = shared / shared.sum(1, keepdim=True)
        similar = g["strong"] @ g["strong2"].T / 0.2
        lesson = -(above * (q * seen["strong"].logits.log_softmax(1)).sum(1)).mean()
        graph = -(shared * similar.log_softmax(1)).sum(1).mean()
        return cross_entropy(seen["labeled"].logits, batch.label) + lesson + graph

    assert_follows(rule, "method=comatch", steps=STEPS)
    assert taught > 20
    assert smoothed == STEPS - 5


def test_without_bank_and_graph_it_is_fixmatch_with_alignment_and_soft_targets() -> None:
    method, batches = module_and_batches(
        "method=comatch", "refine.bank.keep=1.0", "terms.graph.weight=0", "threshold=0.2"
    )
    words = ("views_wanted=[strong2]", "extra_heads=[projection]")  # the same images in the batch
    other, _ = module_and_batches("method=fixmatch", "align=queue", "target=soft", "threshold=0.2", *words)
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        assert ours["weight"].equal(theirs["weight"])
        assert gradient(ours["loss"], method).equal(gradient(theirs["loss"], other))
    assert (ours["weight"] > 0).any()


def test_its_thresholds_jump_and_those_of_its_smooth_version_do_not() -> None:
    published = largest_jumps("method=comatch", *IN_REACH)
    assert published["logits"] > LARGE
    assert published["embeddings"] > LARGE
    smooth = largest_jumps("method=comatch", *IN_REACH, "shape=linear", "smooth=strict")
    assert max(smooth.values()) < SMALL


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=comatch")


def test_its_memory_and_its_graph_need_whole_steps() -> None:
    assert_needs_whole_steps("method=comatch")


def test_a_trained_run_is_read_without_its_projection(tmp_path: Path) -> None:
    assert_is_read_without_its_heads(tmp_path / "run", "method=comatch")
