"""python -m benchmarks.without_training [knob=value ...]: the probe, and scikit-learn's LabelSpreading, on the features
that runs with the same knobs learn from. Errors in percent on the test set, one row for each fold."""

import sys
import warnings
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from smoothpl.config.compose import compose_checked
from smoothpl.data import SemiSupervisedData
from smoothpl.nets.probe import fit_probe
from smoothpl.nets.start import statistics
from smoothpl.run.build import build_data

FOLDS = 6
NEIGHBOURS = (5, 7, 10, 15, 20, 30)
UNLABELED = -1
MOST = 10_000
"""Unlabeled images that labels are spread over: the time grows with their square."""
Numbers = np.ndarray[Any, Any]


def main(words: list[str]) -> None:
    table = Table("fold", "probe", "LabelSpreading", "neighbours", title=" ".join(words))
    errors: list[tuple[float, float]] = []
    for fold in range(FOLDS):
        data = build_data(compose_checked([*words, f"fold={fold}"]))
        data.setup("fit")
        neighbours, spread = spreading_error(data)
        errors.append((probe_error(data), spread))
        table.add_row(str(fold), *(f"{each:.2f}" for each in errors[-1]), str(neighbours))
    found = np.array(errors)
    table.add_row("mean ± std", *(f"{m:.2f} ± {s:.2f}" for m, s in zip(found.mean(0), found.std(0), strict=True)), "")
    Console().print(table)


def scale_of(data: SemiSupervisedData) -> tuple[torch.Tensor, torch.Tensor]:
    mean, deviation, _ = statistics(data.unlabeled_vectors())
    return mean, deviation.clamp(min=1e-12)


def tested(data: SemiSupervisedData) -> tuple[torch.Tensor, torch.Tensor]:
    index = torch.arange(len(data.source.test))
    (vectors,) = data.source.test.read(index, None, [torch.empty(len(index), 0)])
    return vectors.float(), data.source.test.labels


def probe_error(data: SemiSupervisedData) -> float:
    mean, deviation = scale_of(data)
    labels = data.source.train.labels[data.fold.labeled]
    probe = fit_probe((data.labeled_vectors() - mean) / deviation, labels, data.num_classes)
    vectors, truth = tested(data)
    predicted = ((vectors - mean) / deviation @ probe.weight.T + probe.bias).argmax(dim=1)
    return 100 * float((predicted != truth).float().mean())


def spreading_error(data: SemiSupervisedData) -> tuple[int, float]:
    """On the images as they are, labeled and unlabeled; the number of neighbours by cross-validation on the labels."""
    mean, deviation = scale_of(data)
    labels = data.source.train.labels[data.fold.labeled].numpy()
    chosen = data.fold.unlabeled[torch.randperm(len(data.fold.unlabeled), generator=torch.Generator().manual_seed(0))]
    rows = torch.cat([next(data.vectors.weak_looks(index)) for index in torch.split(chosen[:MOST], 1024)])
    unlabeled = ((rows.float() - mean) / deviation).numpy()
    known = ((next(data.vectors.weak_looks(data.fold.labeled)).float() - mean) / deviation).numpy()
    neighbours = min(NEIGHBOURS, key=lambda number: held_out_error(known, labels, number))
    spreading = LabelSpreading(kernel="knn", n_neighbors=neighbours, max_iter=100)
    vectors, truth = tested(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # parts of the graph that no label reaches
        spreading.fit(np.concatenate([known, unlabeled]), np.concatenate([labels, np.full(len(unlabeled), UNLABELED)]))
        predicted = spreading.predict(((vectors - mean) / deviation).numpy())
    return neighbours, 100 * float((predicted != truth.numpy()).mean())


def held_out_error(known: Numbers, labels: Numbers, neighbours: int) -> float:
    """With labels alone a part is predicted by its nearest labeled images, no more of them than a class has."""
    parts = StratifiedKFold(min(4, int(np.bincount(labels).min())), shuffle=True, random_state=0)
    number = min(neighbours, len(labels) // 2)
    wrong = [
        (KNeighborsClassifier(number).fit(known[train], labels[train]).predict(known[test]) != labels[test]).mean()
        for train, test in parts.split(known, labels)
    ]
    return float(np.mean(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
