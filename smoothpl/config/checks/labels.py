"""Labels: how many there are, and how they may grow."""

from omegaconf import DictConfig

from smoothpl.errors import require


def check_num_labels(config: DictConfig) -> None:
    """That it fits the split; the split itself checks the rest when it is built (data/folds.py)."""
    num_labels, split = config.num_labels, config.split
    name = split._target_.rpartition(".")[2]
    if "num_labels" in config.data.source:  # data with labels of their own
        require(num_labels is not None and num_labels > 0, f"num_labels={num_labels}: leave it out.")
    elif "labeled_head" in split:
        require(
            num_labels is None,
            f"num_labels={num_labels} has no effect: split={name} counts from split.labeled_head; add num_labels=null.",
        )
    elif "num_labels" not in split:
        require(num_labels is None, f"num_labels={num_labels} has no effect: split={name} takes every label there is.")
    else:
        require(
            num_labels is not None, f"num_labels=null, but split={name} must know how many; for all use split=full."
        )
        require(num_labels > 0, f"num_labels={num_labels} must be a positive whole number.")


def check_label_history(config: DictConfig) -> None:
    """labels_before and labels_until_pause: what resume sets, or an experiment with growing labels."""
    before, until_pause = list(config.labels_before), list(config.labels_until_pause)
    if not before + until_pause:
        return
    knobs = {"labels_before": before, "labels_until_pause": until_pause}
    typed = " and ".join(f"{name}={numbers}" for name, numbers in knobs.items() if numbers)
    require(config.num_labels is not None, f"{typed} has no effect: with this split every image carries its label.")
    numbers = [*before, *until_pause, config.num_labels]
    require(
        numbers[0] > 0 and sorted({*numbers}) == numbers,
        f"{typed}, then num_labels={config.num_labels}: labels can only be added; each number must be larger than the "
        "one before.",
    )
    if not until_pause:
        return
    require(
        config.resume is not None,
        f"{typed} is set by resume when a run continues with more labels; leave it out.",
    )
    require(
        not config.data.get("folds"),
        f"data.folds={config.data.get('folds')}: labels added in the middle of a run could be among those that test; "
        "finish it with the labels it has, and continue from there.",
    )
    require(
        labels_can_be_added(config),
        "split.unlabeled_includes_labeled=false: more labels in the middle of a run would leave other unlabeled "
        "images; continue without them, or start a new run.",
    )


def labels_can_be_added(config: DictConfig) -> bool:
    """Whether labels may be added in the middle of a run."""
    return config.num_labels is not None and bool(config.split.get("unlabeled_includes_labeled"))
