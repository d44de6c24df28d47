"""python -m benchmarks.views: CPU time of a weak and a strong view, batched, against one Pillow image after the other.

One core, batches of 448 as in the paper, real CIFAR-10 (SMOOTHPL_DATA). Both sides decide from drawn numbers, apply the
same operations, and end with a batch of normalised floats; the batched side includes its planning.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count

import torch
from PIL import Image
from torch import Tensor

from benchmarks import pillow_views
from benchmarks.line import Line, show
from benchmarks.setting import data_for
from benchmarks.timing import compare
from smoothpl.data import View, Views

SIZE = 448


def lines() -> Iterator[Line]:
    data = data_for("data=cifar10", "views=torchssl")
    images = data.source.train.images[:SIZE]  # type: ignore[attr-defined]
    weak = measure(images, data.views, data.views.weak, pillow_views.weak)
    strong = measure(images, data.views, data.views.strong, pillow_views.strong)
    pillow, batched = (sum(both) for both in zip(weak, strong, strict=True))
    what = f"weak and strong view of a CIFAR-10 image, batches of {SIZE}"
    yield Line(what, batched, pillow, "µs", "Pillow, image by image", at_least=20)


def measure(
    images: Tensor, views: Views, view: View, reference: Callable[[Image.Image, Sequence[float]], Tensor]
) -> list[float]:
    pictures = [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in images]
    draws = [torch.rand(SIZE, view.num_draws) for _ in range(20)]
    numbers = [each.tolist() for each in draws]
    turn = count()

    def one_by_one() -> None:
        rows = numbers[next(turn) % 20]
        torch.stack([reference(picture, row) for picture, row in zip(pictures, rows, strict=True)])

    def batched() -> None:
        plan = view.plan(draws[next(turn) % 20], images.shape)
        views.normalise(view(images, plan))

    return [1e6 * seconds / SIZE for seconds in compare(one_by_one, batched)]


if __name__ == "__main__":
    show(lines())
