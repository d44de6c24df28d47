"""Numbers that must lie in a range."""

from typing import Any

from omegaconf import DictConfig, ListConfig

from smoothpl.errors import require

MOST = 10**12
"""Of anything that is counted; a run of as many steps would take longer than anybody lives."""
LARGEST_SIDE = 8192  # pixels
MOST_WORKERS = 1024


def check_numbers(config: DictConfig) -> None:
    for name in ("batch_size", "max_steps", "eval_every", "log_every", "checkpoint_every", "accumulate"):
        require(config[name] > 0, f"{name}={config[name]} must be a positive whole number.")
    for name in ("batch_size", "max_steps", "eval_every", "log_every", "checkpoint_every", "unlabeled_ratio"):
        require(config[name] <= MOST, f"{name}={config[name]} is too large; use a number up to {MOST:,}.")
    for name in ("fold", "seed"):
        require(0 <= config[name] < 2**32, f"{name}={config[name]} must be a whole number from 0 to 2^32 - 1.")
    check_choosing(config)
    require(0 <= config.ema_decay < 1, f"ema_decay={config.ema_decay} must lie in [0, 1); 0 evaluates live weights.")
    require(0 < config.norm_momentum <= 1, f"norm_momentum={config.norm_momentum} must lie in (0, 1].")
    workers = config.data.num_workers
    require(isinstance(workers, int) and workers >= 0, f"data.num_workers={workers} must be 0 or a positive number.")
    require(workers <= MOST_WORKERS, f"data.num_workers={workers} is too large; as many as there are cores are enough.")
    check_side(config.data.get("size", 1))
    check_channels(config)


def check_choosing(config: DictConfig) -> None:
    number = config.choose_on
    require(
        0 <= number <= MOST,
        f"choose_on={number} must be a number of training images, for example 5000, or 0 to test on the test set.",
    )
    require(
        number == 0 or "num_labels" not in config.data.source,
        f"choose_on={number} is for published data sets; data=folder holds out labeled images by itself (data.folds).",
    )


def check_side(side: Any) -> None:
    require(
        type(side) is int and 0 < side <= LARGEST_SIDE,
        f"data.size={side} must be a whole number of pixels, the side of a square, from 1 to {LARGEST_SIDE}; for "
        "example 32, 64 or 96.",
    )


def check_channels(config: DictConfig) -> None:
    """The images are scaled channel by channel."""
    channels, mean = config.data.get("channels"), config.data.get("mean")
    require(
        channels is None or (type(channels) is int and channels > 0),
        f"data.channels={channels} must be a positive whole number: 1 for grey images, 3 for colours.",
    )
    require(
        channels is None or not isinstance(mean, ListConfig) or len(mean) == channels,
        f"data.channels={channels}, but data.mean={mean}, which must have one number for each channel; leave both as "
        "they are for these data.",
    )
    momentum = config.net.get("norm_momentum", config.norm_momentum)
    require(isinstance(momentum, float | int), f"net.norm_momentum={momentum} must be a number; set norm_momentum.")
