from collections.abc import Mapping
from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import cosine_similarity, cross_entropy, kl_div, normalize

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.run.build import build_module
from smoothpl.run.build_method import build_method
from smoothpl.terms import Adversarial
from tests.support.composing import SMALL, composed
from tests.support.method_checks import assert_same_losses, loss_of, waits_in_a_step
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 100
PRECISE = "terms.adversarial.xi=0.1"  # where rounding does not decide the direction


def test_an_image_moved_the_worst_way_is_predicted_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """CE_l + 0.3 min(1, t / 0.4) KL(sg p || p(x + 6 g/|g|)) + 0.06 H(p), g = grad_d KL(sg p || p(x + xi d)).

    Rounding in g is multiplied by 6 before it meets the network, and may carry an image over a kink of it: so the
    direction is compared in 64 bits, and what is made of the one in 32 bits as closely as everywhere.
    """
    done, used = 0, list[tuple[torch.Tensor, torch.Tensor]]()
    direction = Adversarial.direction

    def overheard(term: Adversarial, network: nn.Module, *given: torch.Tensor) -> torch.Tensor:
        ours = direction(term, network, *given)
        used.append((ours, direction(term, deepcopy(network).double(), *(each.double() for each in given))))
        return ours

    monkeypatch.setattr(Adversarial, "direction", overheard)

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal done
        x, logits = batch.weak, seen["weak"].logits

        def network(images: torch.Tensor) -> torch.Tensor:  # without a trace in the running statistics
            buffers = {name: buffer.clone() for name, buffer in module.network.named_buffers()}
            moved: torch.Tensor = functional_call(module.network, buffers, images)
            return moved

        p = logits.softmax(1).detach()
        d = normalize(batch.chance["noise"].double().flatten(1)).view_as(x).requires_grad_()
        precise = deepcopy(module.network).double()
        distance = kl_div(precise(x.double() + 0.1 * d).log_softmax(1), p.double(), reduction="batchmean")
        (g,) = torch.autograd.grad(distance, d)
        ours, exact = used.pop()
        torch.testing.assert_close(exact, normalize(g.flatten(1), eps=1e-30).view_as(x), rtol=0, atol=1e-4)
        compared.append(float(cosine_similarity(ours.flatten(1).double(), exact.flatten(1)).median()))
        adversarial = kl_div(network(x + 6 * ours).log_softmax(1), p, reduction="batchmean")
        entropy = -(logits.softmax(1) * logits.log_softmax(1)).sum(1).mean()
        ramp, done = min(1, done / STEPS / 0.4), done + 1
        return cross_entropy(seen["labeled"].logits, batch.label) + 0.3 * ramp * adversarial + 0.06 * entropy

    compared: list[float] = []
    assert_follows(rule, "method=vat", PRECISE, steps=STEPS, scale=1.0)
    assert min(compared) > 0.999


def test_without_its_terms_it_is_supervised() -> None:
    module, batches = module_and_batches("method=vat", "terms.adversarial.weight=0", "terms.entropy.weight=0")
    batch = next(batches)
    alone = cross_entropy(module.network(batch.labeled), batch.label)
    loss = loss_of(module, batch)
    assert loss.equal(alone)
    assert gradient(loss, module).equal(gradient(alone, module))


def test_at_the_first_step_only_the_entropy_counts() -> None:
    """The ramp of the adversarial term begins at 0."""
    assert_same_losses(("method=vat",), ("method=vat", "terms.adversarial.weight=0"), steps=1)


def test_the_moved_images_leave_no_trace_in_the_running_statistics() -> None:
    module, batches = module_and_batches("method=vat")
    other, _ = module_and_batches("method=vat")
    batch = next(batches)
    loss_of(module, batch)
    other.network(batch.labeled)
    for ours, theirs in zip(module.network.buffers(), other.network.buffers(), strict=True):
        assert ours.equal(theirs)


def test_it_moves_features_as_it_moves_images() -> None:
    module, batches = module_and_batches("method=vat", *SMALL, "terms.adversarial.ramp=null", PRECISE)
    batch = next(batches)
    assert batch.weak.dtype == torch.float16
    torch.nn.init.normal_(next(module.network.parameters()))
    assert gradient(loss_of(module, batch), module).isfinite().all()


def test_it_is_smooth_as_it_is_and_not_without_its_softening() -> None:
    build_method(composed("method=vat", "smooth=strict"))
    with pytest.raises(ConfigError, match="jumps where its gradient vanishes"):
        build_method(composed("method=vat", "smooth=strict", "terms.adversarial.softening=0"))


def test_a_step_does_not_wait_for_the_device() -> None:
    assert not waits_in_a_step("method=vat")


def test_a_ramp_is_made_for_whole_steps() -> None:
    with pytest.raises(ConfigError, match="accumulate=2"):
        build_module(composed("method=vat", "accumulate=2"))
