"""python -m benchmarks.weighting: what the weighting of pseudo-labels costs, against the training step it is part of.

One core; FlexMatch with its memory of 50,000 images and a batch of 448, against forward and backward of WideResNet-28-2
on 64 + 2 x 448 images.
"""

import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.timing import compare
from smoothpl.nets import WideResNet
from smoothpl.pseudo import Beliefs, Curriculum, Fixed, Power, ThresholdPolicy, Weighting, probabilities, pseudo_labels

NUM_IMAGES, NUM_CLASSES, UNLABELED, LABELED = 50_000, 10, 448, 64


def main() -> None:
    torch.set_num_threads(1)
    network = WideResNet(NUM_CLASSES, channels=3, depth=28, width=2, variant="torchssl", norm_momentum=0.001)
    network = network.to(memory_format=torch.channels_last)
    images = torch.randn(LABELED + 2 * UNLABELED, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    start = time.process_time()
    network(images).logsumexp(dim=1).mean().backward()
    training = time.process_time() - start
    table = Table("", "milliseconds of CPU", "share", title="one step, one core")
    table.add_row("forward and backward of WideResNet-28-2", f"{1e3 * training:.0f}", "")
    policies: dict[str, ThresholdPolicy] = {
        "weighting of FixMatch": Fixed(0.95),
        "weighting of FlexMatch": Curriculum(0.95, NUM_CLASSES),
    }
    for name, policy in policies.items():
        (seconds,) = compare(weighting_of(policy))
        table.add_row(name, f"{1e3 * seconds:.2f}", f"{100 * seconds / training:.4f} %")
    Console().print(table)


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
    main()
