"""Whether the numbers of a run are still numbers."""

from math import isfinite

from smoothpl.errors import DivergenceError


def check_finite(means: dict[str, float], step: int) -> None:
    if not all(map(isfinite, means.values())):
        terms = ", ".join(f"{name} {value:.3g}" for name, value in means.items())
        raise DivergenceError(f"training has diverged by step {step}: {terms}. Try a lower optim.learning_rate.")
