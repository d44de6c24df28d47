"""Views: what the network sees of an image."""

from smoothpl.data.views.cutout import Cutout, RandomCutout
from smoothpl.data.views.drawings import Distort, Shift
from smoothpl.data.views.flipcrop import FlipCrop
from smoothpl.data.views.pair import Views
from smoothpl.data.views.randaugment import RandAugment
from smoothpl.data.views.view import Chain, View

__all__ = ["Chain", "Cutout", "Distort", "FlipCrop", "RandAugment", "RandomCutout", "Shift", "View", "Views"]
