import math
from unittest.mock import Mock

import pytest
import torch
from lightning import Trainer
from torch import nn

from benchmarks.waiting import Synchronisations
from smoothpl.data import Batch
from smoothpl.errors import DivergenceError
from smoothpl.losses import factor_loss, labeled_loss, unlabeled_loss
from smoothpl.metrics.finite import check_finite
from smoothpl.module import MOST_CLASSES, SemiSupervisedModule
from smoothpl.pseudo import Beliefs, Fairness, Gaussian, probabilities, pseudo_labels
from smoothpl.run.build import build_data, build_module
from smoothpl.run.quiet import quiet_libraries
from smoothpl.terms import Lesson
from tests.support.composing import TINY, composed, options, ramps

HALF_SURE = "threshold=0.12"  # an untrained network is barely surer than chance


def module_and_batch(*overrides: str) -> tuple[SemiSupervisedModule, Batch]:
    config = composed(*TINY, *overrides)
    torch.manual_seed(0)
    module, data = build_module(config), build_data(config)
    data.setup("fit")
    if module.weighting is not None:
        module.weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class)
        for term in module.all_terms.values():
            term.prepare(len(data.fold.unlabeled), data.labeled_per_class)
    return module, data.on_after_batch_transfer(next(iter(data.train_dataloader())), 0)


def loss_of(module: SemiSupervisedModule, batch: Batch) -> torch.Tensor:
    terms = module.learn_from_all(batch, module.weighting) if module.weighting else module.learn_from_labels(batch)
    return terms["loss"]


def weight_of_lesson(module: SemiSupervisedModule) -> float:
    lesson = module.terms["lesson"]
    assert isinstance(lesson, Lesson)
    return lesson.weight


def gradient(module: SemiSupervisedModule, loss: torch.Tensor) -> torch.Tensor:
    parameters = [each for each in module.network.parameters() if each.requires_grad]
    return torch.cat([each.flatten() for each in torch.autograd.grad(loss, parameters)])


@pytest.mark.parametrize("shape", ramps())
@pytest.mark.parametrize("method", ["fixmatch", "smooth", "pseudo_label"])
def test_the_loss_is_labeled_plus_weighted_unlabeled(method: str, shape: str) -> None:
    mu = ["shape.mu=3"] if shape == "power" else []
    module, batch = module_and_batch(f"method={method}", f"shape={shape}", HALF_SURE, "unlabeled_weight=1.7", *mu)
    assert module.weighting is not None
    learned = batch.weak if batch.strong is None else batch.strong
    logits = module.network(torch.cat([batch.labeled, batch.weak] + ([] if batch.strong is None else [batch.strong])))
    weak, strong = logits[4:32], logits[-len(learned) :]
    pseudo = pseudo_labels(weak)
    assert not isinstance(module.weighting.shape, Gaussian)
    weight = module.weighting.shape(pseudo.confidence, torch.full((28,), 0.12))
    expected = labeled_loss(logits[:4], batch.label) + 1.7 * unlabeled_loss(strong, pseudo.label, weight)
    assert (weight > 0).any()
    torch.testing.assert_close(loss_of(module, batch), expected)


def test_the_factor_loss_teaches_the_weak_view_to_be_surer() -> None:
    module, batch = module_and_batch("method=smooth", HALF_SURE, "factor_weight=0.5")
    assert module.weighting is not None
    assert not isinstance(module.weighting.shape, Gaussian)
    assert batch.strong is not None
    weak = module.network(torch.cat([batch.labeled, batch.weak, batch.strong]))[4:32]
    weight = module.weighting.shape(weak.softmax(dim=1).max(dim=1).values, torch.full((28,), 0.12))
    without, _ = module_and_batch("method=smooth", HALF_SURE)
    loss = loss_of(module, batch)
    expected = loss_of(without, batch) + 0.5 * factor_loss(weight)
    torch.testing.assert_close(loss, expected)
    (of_weak,) = torch.autograd.grad(0.5 * factor_loss(weight), weak, retain_graph=True)
    assert of_weak.abs().max() > 1e-4
    torch.testing.assert_close(
        gradient(module, loss), gradient(module, 0.5 * factor_loss(weight)) + gradient(without, loss_of(without, batch))
    )


LESSON_ALONE = [
    *("adamatch", "dash", "fixmatch", "flexmatch", "freematch", "pseudo_label", "smooth", "smooth_sqrt"),
    *("smooth_square", "softmatch", "uda"),
]
"""Methods of one lesson by the network itself, and perhaps a fairness loss: those that were there before all others."""


@pytest.mark.parametrize("method", LESSON_ALONE)
def test_a_step_of_a_plain_method_is_made_of_its_parts_to_the_bit(method: str) -> None:
    """Weights before memory, lessons that the method has corrected, every term in the loss, memory afterwards: written
    out as it was before teachers, refinements and terms were parts of their own."""
    module, batch = module_and_batch(f"method={method}", HALF_SURE)
    other, _ = module_and_batch(f"method={method}", HALF_SURE)
    weighting, lesson = other.weighting, other.terms["lesson"]
    assert weighting is not None
    assert module.weighting is not None
    assert isinstance(lesson, Lesson)
    fairness = other.terms["fairness"].part if "fairness" in other.terms else None
    for _ in range(2):
        views = [batch.labeled, batch.weak] + ([] if batch.strong is None else [batch.strong])
        labeled, weak, *others = torch.split(other.network(torch.cat(views)), [len(view) for view in views])
        learned = others[0] if others else weak
        pseudo, beliefs_in_labeled = pseudo_labels(weak, batch.image), probabilities(labeled.detach())
        weighting.see(Beliefs(pseudo, beliefs_in_labeled, batch.label))
        weight, lessons = weighting(pseudo), weighting.lessons(pseudo)
        expected = {
            "labeled_loss": labeled_loss(labeled, batch.label, weighting.of_labeled(beliefs_in_labeled, batch.label)),
            "unlabeled_loss": unlabeled_loss(learned, lesson.target(lessons), weight),
            "label": lessons.label,
            "weight": weight,
            "confidence": lessons.confidence,
        }
        expected["loss"] = expected["labeled_loss"] + lesson.weight * expected["unlabeled_loss"]
        if isinstance(fairness, Fairness):
            fairness.see(pseudo, weight)
            expected["fairness_loss"] = fairness(learned, weight)
            assert expected["fairness_loss"].abs() > 1e-4
            expected["loss"] = expected["loss"] + expected["fairness_loss"]
        weighting.observe(pseudo, weight)
        learned_now = module.learn_from_all(batch, module.weighting)
        for name, value in expected.items():
            torch.testing.assert_close(learned_now[name], value, rtol=0, atol=0)
        assert gradient(module, learned_now["loss"]).equal(gradient(other, expected["loss"]))
        assert (weight > 0).any()
    for name, value in weighting.state_dict().items():
        torch.testing.assert_close(module.weighting.state_dict()[name], value, rtol=0, atol=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_loss_or_weight_that_is_not_finite_is_an_error_that_names_the_step_and_the_terms(bad: float) -> None:
    with pytest.raises(
        DivergenceError, match=r"diverged by step 7: loss 2.5, labeled_loss (nan|inf|-inf)\. Try a lower"
    ):
        check_finite({"loss": 2.5, "labeled_loss": bad}, 7)
    check_finite({"loss": 2.5}, 7)
    module, batch = module_and_batch("method=supervised")
    module.health.add(module.learn_from_labels(batch))
    module.check_health(7)
    next(module.network.parameters()).data[0] = bad
    with pytest.raises(DivergenceError, match=r"diverged by step 7: .*largest weight (nan|inf)"):
        module.check_health(7)


@pytest.mark.parametrize("parts", [1, 3])
def test_means_are_reported_when_a_step_ends_and_they_are_due(parts: int) -> None:
    """With parts of a step (accumulate) only after the last part of every second step, and after the last batch."""
    module, batch = module_and_batch("method=supervised", "log_every=2")
    reported: list[int] = []
    module.report = lambda means, step=None: reported.append(batch_idx)  # type: ignore[method-assign]
    module.trainer = Mock(accumulate_grad_batches=parts, is_last_batch=False)
    for batch_idx in range(5 * parts):
        module.trainer.global_step = batch_idx // parts
        module.trainer.is_last_batch = batch_idx == 5 * parts - 1
        module.training_step(batch, batch_idx)
    assert reported == [2 * parts - 1, 4 * parts - 1, 5 * parts - 1]


@pytest.mark.parametrize(("num_classes", "by_class"), [(MOST_CLASSES, True), (MOST_CLASSES + 1, False)])
def test_shares_of_classes_are_logged_unless_there_are_many(num_classes: int, by_class: bool) -> None:
    module = SemiSupervisedModule(nn.Identity(), Mock(), num_classes)
    logged: dict[str, float] = {}
    module.log_dict = logged.update  # type: ignore[method-assign, assignment]
    labels = torch.arange(num_classes)
    predicted = labels.clone()
    predicted[1] = 0
    module.validation_step((nn.functional.one_hot(predicted).float(), labels), 0)
    module.on_validation_epoch_end()
    assert logged["val/error"] == pytest.approx(100 / num_classes)
    assert logged["val/collapsed_classes"] == 1
    shares = [logged.get(f"val/share_of_class_{c}") for c in range(num_classes)]
    assert shares == ([2, 0, *[1] * (num_classes - 2)] if by_class else [None] * num_classes)


def test_supervised_learns_from_labels_alone() -> None:
    module, batch = module_and_batch("method=supervised")
    assert module.weighting is None
    torch.testing.assert_close(loss_of(module, batch), labeled_loss(module.network(batch.labeled), batch.label))


def test_the_networks_that_are_evaluated_and_trained_start_equal_and_only_one_is_trained() -> None:
    module, _ = module_and_batch()
    for averaged, live in zip(module.average.parameters(), module.network.parameters(), strict=True):
        assert torch.equal(averaged, live)
        assert averaged is not live
        assert not averaged.requires_grad


@pytest.mark.parametrize("method", options("method"))
def test_a_step_never_asks_the_device_for_a_number(method: str) -> None:
    module, _ = module_and_batch(f"method={method}", "log_every=100")
    data = build_data(composed(*TINY, f"method={method}"))
    data.setup("fit")
    views, raw = data.views, next(iter(data.train_dataloader()))
    module.trainer = Trainer(max_steps=100, logger=False, enable_checkpointing=False, barebones=True)
    module.trainer.fit_loop.epoch_loop.batch_progress.is_last_batch = False
    views.of_step(raw)  # what is made once per device
    with Synchronisations() as synchronisations:
        module.training_step(views.of_step(raw), 0).backward()  # type: ignore[no-untyped-call]
    assert not synchronisations.found


def test_evaluation_asks_the_averaged_network() -> None:
    module, _ = module_and_batch()
    classify = module.average.get_submodule("classify")
    assert isinstance(classify, nn.Linear)
    nn.init.zeros_(classify.weight)
    nn.init.zeros_(classify.bias)
    classify.bias.data[3] = 1
    quiet_libraries()
    trainer = Trainer(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.validate(module, datamodule=build_data(composed(*TINY)), verbose=False)
    assert module.last_confusion.sum() == 500
    assert module.last_confusion[:, 3].sum() == 500
    assert trainer.callback_metrics["val/collapsed_classes"] == 9


@pytest.mark.parametrize(
    "words",
    [
        f"method=smooth {HALF_SURE}",
        f"method=flexmatch {HALF_SURE}",
        "method=freematch forward=split",
        "method=supervised",
    ],
)
def test_a_step_is_one_graph_without_breaks_and_learns_the_same(words: str) -> None:
    """fullgraph refuses a graph break, and recompiling for every batch would show in the counter."""
    plain, batch = module_and_batch(*words.split())
    compiled, _ = module_and_batch(*words.split())
    torch._dynamo.reset()
    counts = torch._dynamo.utils.counters
    counts.clear()
    compiled.compile_step(backend="aot_eager")
    for _ in range(3):
        torch.testing.assert_close(loss_of(compiled, batch), loss_of(plain, batch), rtol=1e-4, atol=1e-5)
    assert counts["stats"]["unique_graphs"] == 1
    assert not counts["graph_break"]


def test_a_split_forward_leaves_the_weak_view_without_gradient_and_to_itself() -> None:
    """BatchNorm sees the weak views alone: another algorithm, which only looks like the joint one."""
    module, batch = module_and_batch("method=smooth", HALF_SURE, "forward=split")
    assert module.weighting is not None
    assert batch.strong is not None
    with torch.no_grad():
        pseudo = pseudo_labels(module.network(batch.weak))
    logits = module.network(torch.cat([batch.labeled, batch.strong]))
    weight = module.weighting(pseudo)
    expected = labeled_loss(logits[:4], batch.label) + weight_of_lesson(module) * unlabeled_loss(
        logits[4:], pseudo.label, weight
    )
    torch.testing.assert_close(loss_of(module, batch), expected)
    outputs = module.look(batch)
    assert outputs["strong"].logits.requires_grad
    assert not outputs["weak"].logits.requires_grad
    joint, _ = module_and_batch("method=smooth", HALF_SURE)
    assert not torch.allclose(loss_of(joint, batch), expected)


@pytest.mark.parametrize("method", ["fixmatch", "supervised"])
def test_labels_that_do_not_count_alike_weigh_in_the_labeled_loss(method: str) -> None:
    """As those that a generation before has picked: the mean of weight times cross-entropy, and its gradient."""
    module, batch = module_and_batch(f"method={method}")
    weight = torch.linspace(0, 1, len(batch.label))

    def labeled(weight: torch.Tensor | None) -> torch.Tensor:
        weighed = batch._replace(label_weight=weight)
        learn = module.learn_from_labels if module.weighting is None else None
        return (learn(weighed) if learn else module.learn_from_all(weighed, module.weighting))["labeled_loss"]  # type: ignore[arg-type]

    logits = module.look(batch)["labeled"].logits if method == "fixmatch" else module.network(batch.labeled)
    each = nn.functional.cross_entropy(logits, batch.label, reduction="none")
    torch.testing.assert_close(labeled(None), each.mean())
    torch.testing.assert_close(labeled(weight), (weight * each).mean())
    first = next(module.network.parameters())
    found, expected = (torch.autograd.grad(loss, first)[0] for loss in (labeled(weight), (weight * each).mean()))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-6)


def test_weights_of_labels_and_of_annealing_are_multiplied() -> None:
    module, batch = module_and_batch("method=uda", "annealing=linear")
    assert module.weighting is not None
    learned = module.learn_from_all(batch._replace(label_weight=torch.zeros(len(batch.label))), module.weighting)
    assert learned["labeled_loss"] == 0
