"""Published weights, fetched by the libraries that know where they are; without a network that is said at once."""

import logging
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies

from torch import Tensor

from smoothpl.errors import ConfigError

HUB = "huggingface_hub.constants"
PATIENCE = 5.0
"""Seconds until a computer must have answered."""


def fetched(fetch: Callable[[], Mapping[str, Tensor]], weights: str, group: str = "net") -> dict[str, Tensor]:
    try:
        return dict(fetch())
    except Exception as error:  # of the network, a web site, a cache that is full, ...: all mean the same
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise ConfigError(
            f"{group}.weights={weights} could not be fetched ({reason}); try again, or fetch the file elsewhere and "
            f"name it: {group}.weights=<file>."
        ) from error


@contextmanager
def quiet_hub() -> Iterator[None]:
    """Hugging Face's library tries a dozen times, for a minute, and says so every time. Where it cannot be reached, it
    is told to look into its cache only."""
    hub = sys.modules.get(HUB)
    address = str(getattr(hub, "ENDPOINT", ""))
    is_cut_off = hub is not None and not hub.HF_HUB_OFFLINE and not is_reachable(address)
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        if is_cut_off:
            hub.HF_HUB_OFFLINE = True  # type: ignore[union-attr]
        yield
    except OSError as error:
        if is_cut_off:
            raise ConnectionError(f"no connection to {address}") from error
        raise
    finally:
        logging.disable(before)
        if is_cut_off:
            hub.HF_HUB_OFFLINE = False  # type: ignore[union-attr]


def is_reachable(address: str) -> bool:
    """Taken for granted behind a proxy, which answers for others."""
    parts = urlsplit(address)
    if parts.hostname is None or parts.scheme in getproxies():
        return True
    try:
        port = parts.port or (80 if parts.scheme == "http" else 443)
        socket.create_connection((parts.hostname, port), timeout=PATIENCE).close()
    except OSError:
        return False
    return True
