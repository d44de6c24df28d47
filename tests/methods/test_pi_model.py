from collections.abc import Mapping

import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 100


def test_two_weak_views_should_be_predicted_alike_more_and_more() -> None:
    """CE_l + 10 min(1, t / 0.4) mean over images and classes of (sg p_w - p_w2)^2, t the share of the run done."""
    done = 0

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal done
        labeled, weak, weak2 = (seen[view].logits for view in ("labeled", "weak", "weak2"))
        ramp = min(1, done / STEPS / 0.4)
        done += 1
        difference = weak.softmax(1).detach() - weak2.softmax(1)
        return cross_entropy(labeled, batch.label) + 10 * ramp * (difference**2).mean()

    assert_follows(rule, "method=pi_model", steps=STEPS)


def test_without_its_weight_it_is_supervised() -> None:
    """The ramp is 0 at the first step."""
    module, batches = module_and_batches("method=pi_model")
    batch = next(batches)
    assert module.weighting is not None
    loss = module.learn_from_all(batch, module.weighting)["loss"]
    alone = cross_entropy(module.network(batch.labeled), batch.label)
    assert loss.equal(alone)
    assert gradient(loss, module).equal(gradient(alone, module))


def test_each_view_is_normalised_by_itself_and_only_labeled_images_move_the_running_statistics() -> None:
    module, batches = module_and_batches("method=pi_model")
    other, _ = module_and_batches("method=pi_model")
    batch = next(batches)
    outputs = module.look(batch)
    alone = other.network(batch.labeled)
    assert outputs["labeled"].logits.equal(alone)
    for ours, theirs in zip(module.network.buffers(), other.network.buffers(), strict=True):
        assert ours.equal(theirs)
    assert outputs["weak2"].logits.equal(other.network(batch.views["weak2"]))
