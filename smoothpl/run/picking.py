"""From a trained run to the labels of the next one: which unlabeled images it is surest of, class by class (CReST)."""

from pathlib import Path

import torch
from omegaconf import DictConfig
from torch import Tensor

from smoothpl.data import SemiSupervisedData
from smoothpl.data.picked import Picked
from smoothpl.layout import LAST_CHECKPOINT
from smoothpl.pseudo.shapes import Shape
from smoothpl.run.build import build_data, build_module

POWER = 1 / 3
"""CReST's 1 / alpha."""


def pick_from(config: DictConfig, run_dir: Path, shape: Shape) -> Picked:
    """Of the unlabeled images that carry no label, by the averaged network of a finished run."""
    data = build_data(config)
    data.setup("fit")
    candidates = data.fold.unlabeled[~torch.isin(data.fold.unlabeled, data.fold.labeled)]
    probabilities = beliefs_about(candidates, data, config, run_dir)
    return surest(candidates, probabilities, data.labeled_per_class, shape)


@torch.inference_mode()
def beliefs_about(index: Tensor, data: SemiSupervisedData, config: DictConfig, run_dir: Path) -> Tensor:
    """index (n,) of training images -> probabilities (n, C), as in an evaluation."""
    module = build_module(config, with_pretrained=False)
    state = torch.load(run_dir / LAST_CHECKPOINT, weights_only=True, map_location="cpu")["state_dict"]
    own = {key.removeprefix("average."): value for key, value in state.items() if key.startswith("average.")}
    module.average.load_state_dict(own)
    on_gpu = config.trainer.accelerator != "cpu" and torch.cuda.is_available()
    device = torch.device("cuda" if on_gpu else "cpu")
    module.to(device).eval()
    found = [torch.empty(0, data.num_classes)]
    for images in data.as_tested(index):
        logits = module.average(images.to(device))
        found.append(module.believe(logits).float().softmax(dim=1).cpu())
    return torch.cat(found)


def surest(image: Tensor, probabilities: Tensor, labeled_per_class: Tensor, shape: Shape) -> Picked:
    """image (n,), probabilities (n, C), labeled_per_class (C,): of the images predicted as a class, the surest share.

    That share is (size of the class that stands as far from the other end / size of the largest)^(1/3): all of the
    smallest class. The weight is the shape of the method by rank: a step takes them alike, as published; a ramp falls
    from 1 for the surest to 0 where the share ends.
    """
    confidence, label = probabilities.max(dim=1)
    order = labeled_per_class.argsort(descending=True, stable=True)
    sizes = labeled_per_class[order].double()
    shares = (sizes.flip(0) / sizes[0]) ** POWER
    chosen, weights = [], []
    for c, share in zip(order.tolist(), shares.tolist(), strict=True):
        members = (label == c).nonzero().squeeze(1)
        members = members[confidence[members].argsort(descending=True, stable=True)]
        number = int(len(members) * share)
        if not number:
            continue
        # By rank, in the middle of its place: the last one that is chosen is above the threshold by half a place.
        score = 1 - (torch.arange(number, dtype=torch.float64) + 0.5) / len(members)
        chosen.append(members[:number])
        weights.append(shape(score, torch.full_like(score, 1 - number / len(members))).float())
    if not chosen:
        return Picked(image[:0], label[:0], confidence[:0])
    which = torch.cat(chosen)
    return Picked(image[which], label[which], torch.cat(weights))
