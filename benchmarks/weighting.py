"""python -m benchmarks.weighting: what the weighting of pseudo-labels costs, FlexMatch's memory included.

One core, a batch of 448, 50,000 images. The usual way counts the last labels of all images again in every step,
in a list.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import torch

from benchmarks.line import Line, show
from benchmarks.timing import compare
from smoothpl.pseudo import Beliefs, Curriculum, Fixed, Power, ThresholdPolicy, Weighting, probabilities, pseudo_labels

NUM_IMAGES, NUM_CLASSES, UNLABELED, LABELED = 50_000, 10, 448, 64


def lines() -> Iterator[Line]:
    labels = torch.randint(-1, NUM_CLASSES, (NUM_IMAGES,))
    fixed, curriculum, usual = compare(
        weighting_of(Fixed(0.95)), weighting_of(Curriculum(0.95, NUM_CLASSES)), lambda: Counter(labels.tolist())
    )
    yield Line("weighting of FixMatch, a step", 1e3 * fixed, None, "ms", "")
    what = f"weighting of FlexMatch, a step, memory of {NUM_IMAGES:,} images"
    yield Line(what, 1e3 * curriculum, 1e3 * usual, "ms", "Counter over a list", limit=0.5)


def weighting_of(policy: ThresholdPolicy) -> Callable[[], None]:
    weighting = Weighting(policy, Power())
    weighting.prepare(NUM_IMAGES)
    logits, labeled = 5 * torch.randn(UNLABELED, NUM_CLASSES), torch.randn(LABELED, NUM_CLASSES)
    image, label = torch.randint(NUM_IMAGES, (UNLABELED,)), torch.randint(NUM_CLASSES, (LABELED,))

    def step() -> None:
        pseudo = pseudo_labels(logits, image)
        weighting.see(Beliefs(pseudo, probabilities(labeled), label))
        weight = weighting(pseudo)
        weighting.lessons(pseudo)
        weighting.observe(pseudo, weight)

    return step


if __name__ == "__main__":
    show(lines())
