"""The confidence interval of an error: how far the error on a few images can be from that on many."""

from scipy.stats import binomtest


def interval(wrong: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of an error rate, in percent."""
    found = binomtest(wrong, total).proportion_ci(method="wilson")
    return 100 * found.low, 100 * found.high


def describe_interval(wrong: int, total: int) -> str:
    return "{:.2f} to {:.2f} %".format(*interval(wrong, total))
