"""smoothpl features: compute the features of a backbone before training needs them"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import say
from smoothpl.config.overrides import CommandLine
from smoothpl.errors import require

USAGE = """smoothpl features [knob=value ...]

Makes the features that a run with these knobs would need, and keeps them in the
cache; the run then starts at once:
  smoothpl features data=folder data.root=photos
  smoothpl features benchmark=cifar10_40 backbone=efficientnet_lite0

Stopped in the middle, it goes on where it was. Started several times, on one
machine or on several that share the cache (XDG_CACHE_HOME), all share the work."""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE)
    from smoothpl.run.command_line import complete

    request = complete(CommandLine.parse(typed.rest))
    config = request.config()
    require(
        config.backbone is not None,
        "backbone=none: images have features only with a backbone; add for example backbone=efficientnet_lite0.",
    )
    from smoothpl.config.stages import of_head
    from smoothpl.run.build import build_data

    data = build_data(of_head(config), request.scan)
    data.setup("fit")
    vectors = data.vectors
    looks = sum(len(kind) for table in vectors.tables for kind in table.values())
    say(f"features: {len(vectors):,} images, {looks} vectors of each; {len(data.source.test):,} test images.")
