"""Backbones: images in, one vector per image out, by a network that was trained elsewhere and is not changed."""

from smoothpl.backbones.efficientnet_lite import efficientnet_lite
from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.encoder import Encoder
from smoothpl.backbones.engine import Engine, engine_for
from smoothpl.backbones.libraries import of_timm, of_torchvision
from smoothpl.backbones.onnx_file import of_onnx

__all__ = [
    "Embeddings",
    "Encoder",
    "Engine",
    "efficientnet_lite",
    "engine_for",
    "of_onnx",
    "of_timm",
    "of_torchvision",
]
