from collections.abc import Mapping
from copy import deepcopy

import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from tests.support.method_steps import assert_follows, module_and_batches

STEPS = 60


def test_the_average_of_the_weights_labels_the_first_view() -> None:
    """CE_l + 50 min(1, t / 0.4) mean (sg p'_w - p_w2)^2, p' by averaged weights that normalise by their own batch."""
    done = 0

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal done
        teacher = deepcopy(module.average).train()
        with torch.no_grad():
            taught = teacher(batch.weak).softmax(1)
        ramp, done = min(1, done / STEPS / 0.4), done + 1
        squared = (taught - seen["weak2"].logits.softmax(1)) ** 2
        distance: torch.Tensor = 50 * ramp * squared.mean()
        return cross_entropy(seen["labeled"].logits, batch.label) + distance

    assert_follows(rule, "method=mean_teacher", steps=STEPS)


def test_the_teacher_leaves_no_trace_in_itself() -> None:
    module, batches = module_and_batches("method=mean_teacher")
    before = deepcopy(module.average.state_dict())
    assert module.weighting is not None
    module.learn_from_all(next(batches), module.weighting)
    assert all(value.equal(before[name]) for name, value in module.average.state_dict().items())


def test_where_nothing_is_averaged_it_is_the_pi_model() -> None:
    """With a decay of 0 the average is the network itself, and its batch the same."""
    teacher, batches = module_and_batches("method=mean_teacher", "unlabeled_weight=10")
    model, _ = module_and_batches("method=pi_model")
    for _, batch in zip(range(3), batches, strict=False):
        losses = []
        for module in (teacher, model):
            module.average.load_state_dict(module.network.state_dict())
            assert module.weighting is not None
            losses.append(module.learn_from_all(batch, module.weighting)["loss"])
        torch.testing.assert_close(losses[0], losses[1], rtol=0, atol=0)


def test_the_view_that_the_teacher_looks_at_is_not_looked_at_twice() -> None:
    module, batches = module_and_batches("method=mean_teacher")
    batch = next(batches)
    assert [*module.look(batch)] == ["labeled", "weak2"]
    same, _ = module_and_batches("method=mean_teacher", "learned_view=weak", "views_wanted=[]")
    assert "weak" in same.look(batch._replace(views={}))
