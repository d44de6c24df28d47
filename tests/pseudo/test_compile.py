import pytest
import torch

from benchmarks.waiting import Synchronisations
from smoothpl.pseudo import Beliefs, PseudoLabels
from smoothpl.run.build_method import build_weighting
from tests.support.composing import composed, options
from tests.support.steps import CLASSES, IMAGES, random_steps

LABELS = torch.full((CLASSES,), 4)
METHODS = [name for name in options("method") if "supervised" not in name] + ["dash policy.warm_up_steps=3"]


@pytest.mark.parametrize("method", METHODS)
def test_the_weighting_of_a_step_is_one_graph(method: str) -> None:
    """Captured whole, without a break, and with the answers of the uncompiled one, state included."""
    torch._dynamo.reset()  # it counts how often `step` was compiled, for whatever method
    plain, compiled = (build_weighting(composed(*f"method={method}".split())) for _ in range(2))
    plain.prepare(IMAGES, LABELS)
    compiled.prepare(IMAGES, LABELS)

    def step(beliefs: Beliefs) -> tuple[torch.Tensor, PseudoLabels]:
        compiled.see(beliefs)
        weight = compiled(beliefs.unlabeled)
        lessons = compiled.lessons(beliefs.unlabeled)
        compiled.observe(beliefs.unlabeled, weight)
        return weight, lessons

    fast = torch.compile(step, fullgraph=True, backend="aot_eager")
    for beliefs in random_steps(5):
        weight, _ = fast(beliefs)
        plain.see(beliefs)
        torch.testing.assert_close(weight, plain(beliefs.unlabeled))
        plain.observe(beliefs.unlabeled, weight)
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(compiled.state_dict()[name], value)


@pytest.mark.parametrize("method", METHODS)
def test_the_weighting_of_a_step_never_asks_the_device_for_a_number(method: str) -> None:
    weighting = build_weighting(composed(*f"method={method}".split()))
    weighting.prepare(IMAGES, LABELS)
    beliefs = next(random_steps(1))
    with Synchronisations() as synchronisations:
        weighting.see(beliefs)
        weight = weighting(beliefs.unlabeled)
        weighting.lessons(beliefs.unlabeled)
        weighting.observe(beliefs.unlabeled, weight)
    assert not synchronisations.found
