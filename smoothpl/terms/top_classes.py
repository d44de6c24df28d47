"""Which classes an image may still be of: the first few of its weak view, as many as contain the labels of a step."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.nets.several import each_head, for_each_head
from smoothpl.pseudo.labels import probabilities
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.ranks import of_all_ranks

MOST = 0.9999
"""Of the images of a step; of fewer than 10,000 that is all of them."""
FEWEST = 2


class TopClasses(NamedTuple):
    """Of U images; of several heads each counts as an image of its own."""

    strong: Tensor  # (U, C) probabilities of the view that learns, with their gradient
    excluded: Tensor  # (U, C) how far a class is out of the question, in [0, 1]
    counts: Tensor  # (U, C) 0 for classes that the view that learns is sure of all the same, detached
    number: Tensor  # k, how many classes are in question, a scalar


def top_classes(step: TrainStep, view: str, threshold: float, is_soft: bool) -> TopClasses:
    """As published, k is the least number from 2 up within which all strong views have the class of the weak one, all
    classes beyond it are excluded, and what strong views are surer of than threshold^2 does not count.

    Softly, ranks are real numbers, a class is excluded as far as it is behind the one of rank k, and what strong views
    believe counts the less, the surer they are.
    """
    logits = step.outputs[view].logits
    weak = for_each_head(step.lessons.probabilities, logits)
    strong = probabilities(each_head(logits))
    believed, sure = strong.detach(), threshold**2
    if is_soft:
        number = of_all_ranks(soft_ranks(weak, believed)).amax().clamp(FEWEST, weak.shape[1])
        return TopClasses(strong, (1 - weak / at_rank(weak, number)).clamp(min=0), (1 - believed / sure).relu(), number)
    number = least_number(of_all_ranks(ranks_of(weak.argmax(dim=1), believed)), weak.shape[1])
    beyond = weak.argsort(dim=1, descending=True, stable=True).argsort(dim=1) >= number
    return TopClasses(strong, beyond.float(), (believed <= sure).float(), number)


def ranks_of(label: Tensor, believed: Tensor) -> Tensor:
    """label (U,), believed (U, C) -> (U,): how many classes are believed in more, and 1."""
    return 1 + (believed > believed.gather(1, label.unsqueeze(1))).sum(dim=1)


def least_number(ranks: Tensor, num_classes: int) -> Tensor:
    """ranks (U,) -> the least k from 2 up, within which most of them are. All are counted: the device is not asked."""
    within = torch.arange(FEWEST, num_classes, device=ranks.device)
    share = (ranks.unsqueeze(1) <= within).float().mean(dim=0)
    return FEWEST + (share <= MOST).sum()


def soft_ranks(weak: Tensor, believed: Tensor) -> Tensor:
    """(U, C) each -> (U,): a class counts as far as it is believed in, compared with that of the weak view.

    By the geometric mean over what the weak view holds for possible: an arithmetic one would hide a label that strong
    views do not believe in at all.
    """
    own = (weak * believed.clamp(min=1e-30).log()).sum(dim=1, keepdim=True).exp()
    return (believed / own.clamp(min=1e-30)).clamp(max=1).sum(dim=1)


def at_rank(weak: Tensor, rank: Tensor) -> Tensor:
    """weak (U, C) and a real rank -> (U, 1): the probability there, in between those of two classes."""
    ordered = weak.sort(dim=1, descending=True).values
    first = rank.floor()
    places = torch.stack([first - 1, first.clamp(max=weak.shape[1] - 1)]).long()
    before, after = ordered.index_select(1, places).unbind(dim=1)
    return before.lerp(after, rank - first).unsqueeze(1).clamp(min=1e-30)


def check_settings(name: str, ranks: str, threshold: float | None) -> None:
    if ranks not in ("hard", "soft"):
        raise ConfigError(f"terms.{name}.ranks={ranks} must be hard (as published) or soft (continuous).")
    if threshold is None or not 0 < threshold < 1:
        raise ConfigError(
            f"terms.{name}.threshold={threshold} must lie between 0 and 1; a policy that finds its own threshold has "
            "none to give: 0.95 is published."
        )


def obstacles_of(name: str, is_soft: bool) -> Sequence[Obstacle]:
    if is_soft:
        return ()
    word = f"terms.{name}.ranks=soft"
    return [Obstacle(f"{name}: ranks, their number and the cut of what strong views are sure of jump", word, (word,))]
