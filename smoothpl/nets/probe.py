"""The probe: a logistic regression on the features of labeled images, where a head starts, and how sure it may be."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from torch import Tensor
from torch.nn.functional import one_hot

STRENGTHS = np.logspace(-5, 1, 7)
"""Inverse strengths of regularisation that are tried, for features of unit deviation."""
USUAL_STRENGTH = 0.1
MOST_PARTS = 5
STEPS = 1000
Numbers = np.ndarray[Any, Any]
COLDEST, HOTTEST = 1 / 32, 32.0


class Probe(NamedTuple):
    """A linear classifier, weight (C, D), bias (C,), and the temperature at which its confidence is honest."""

    weight: Tensor
    bias: Tensor
    temperature: float


def fit_probe(features: Tensor, labels: Tensor, num_classes: int) -> Probe:
    """features (L, V, D): V views of each labeled image, standardised; labels (L,).

    Regularisation and temperature are chosen by cross-validation over the labeled images, all views of one in the same
    part. Where a class has a single image that cannot be done, and both are left at what is usual.
    """
    num_images, num_views, dim = features.shape
    known, place = torch.unique(labels, return_inverse=True)
    if len(known) == 1:  # nothing to tell apart
        return Probe(torch.zeros(num_classes, dim), one_hot(labels[0], num_classes).float(), 1.0)
    rows = features.flatten(0, 1).double().numpy()
    label, image = place.numpy().repeat(num_views), np.arange(num_images).repeat(num_views)
    parts = min(MOST_PARTS, int(place.bincount().min()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as far as it has come is far enough to start from
        if parts < 2:
            return Probe(*as_layer(regression(USUAL_STRENGTH).fit(rows, label), known, num_classes), 1.0)
        folds = list(StratifiedGroupKFold(parts, shuffle=True, random_state=0).split(rows, label, image))
        held_out = {each: held_out_logits(each, rows, label, folds) for each in STRENGTHS}
        best = min(held_out, key=lambda each: surprise(held_out[each], label, 1.0))
        layer = as_layer(regression(best).fit(rows, label), known, num_classes)
    return Probe(*layer, fit_temperature(held_out[best], label))


def regression(strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=STEPS)


def held_out_logits(strength: float, rows: Numbers, label: Numbers, folds: list[tuple[Numbers, Numbers]]) -> Numbers:
    """(L V, C): of every row, by the regression that has not seen its image."""
    found: Numbers = cross_val_predict(regression(strength), rows, label, cv=folds, method="decision_function")
    return two_sided(found) if found.ndim == 1 else found


def as_layer(fitted: LogisticRegression, known: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """A class without a label is as unlikely as the least likely one before anything is seen."""
    slopes, levels = fitted.coef_, fitted.intercept_
    if len(known) == 2:
        slopes, levels = two_sided(slopes[0]).T, two_sided(levels[0])
    weight, bias = torch.zeros(num_classes, slopes.shape[1]), torch.full((num_classes,), float(levels.min()))
    weight[known], bias[known] = torch.from_numpy(slopes).float(), torch.from_numpy(levels).float()
    return weight, bias


def two_sided(logit: Numbers) -> Numbers:
    """Of two classes scikit-learn keeps the difference of their logits."""
    return np.stack([-logit / 2, logit / 2], axis=-1)


def fit_temperature(logits: Numbers, label: Numbers) -> float:
    """At which held-out labels surprise least (Guo et al., 2017); within bounds: few labels may all be right."""

    def at(log: float) -> float:
        return surprise(logits, label, float(np.exp(log)))

    found = minimize_scalar(at, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return float(np.exp(found.x))


def surprise(logits: Numbers, label: Numbers, temperature: float) -> float:
    """The mean of -log p of the true class."""
    return -float(log_softmax(logits / temperature, axis=1)[np.arange(len(label)), label].mean())
