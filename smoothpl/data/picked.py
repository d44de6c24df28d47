"""Picked images: what a trained network says of unlabeled images, for the next generation to learn as labels."""

import json
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from smoothpl.data.folds import Fold
from smoothpl.errors import ConfigError
from smoothpl.io.atomic import write_text
from smoothpl.io.digests import digest_of


class Picked(NamedTuple):
    """image (P,) among the training images, label (P,), weight (P,) in (0, 1] of the loss of each."""

    image: Tensor
    label: Tensor
    weight: Tensor

    def write(self, path: Path) -> None:
        write_text(path, json.dumps({name: part.tolist() for name, part in self._asdict().items()}) + "\n")

    @classmethod
    def read(cls, path: Path, digest: str | None = None) -> Self:
        """`digest`: of the file, if it must be the one that was learned from before."""
        if not path.is_file():
            raise ConfigError(
                f"data.picked.file={path} is not there, the labels that a generation adds; the smoothpl generations "
                "command that this run belongs to picks them again."
            )
        if digest is not None and digest_of(path) != digest:
            raise ConfigError(f"data.picked.file={path} has other labels than this run is to learn; start a new run.")
        try:
            fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            picked = cls(
                torch.tensor(fields["image"]).long(),
                torch.tensor(fields["label"]).long(),
                torch.tensor(fields["weight"]).float(),
            )
            if len({len(part) for part in picked}) > 1:
                raise ValueError("its lists differ in length")
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ConfigError(
                f"data.picked.file={path} is damaged ({error!r}); remove it, and run the same command again."
            ) from None
        return picked

    def check(self, num_images: int, num_classes: int) -> None:
        for name, part, limit in (("image", self.image, num_images), ("label", self.label, num_classes)):
            if len(part) and not 0 <= int(part.min()) <= int(part.max()) < limit:
                raise ConfigError(
                    f"data.picked.file: {name} {int(part.max())} is none of these data; they are of others."
                )

    def beside(self, fold: Fold, labels: Tensor) -> tuple[Fold, "Lessons"]:
        """The labeled images and, after them, the picked ones, which stay unlabeled too; and what each is taught."""
        label = torch.cat([labels[fold.labeled], self.label])
        weight = torch.cat([torch.ones(len(fold.labeled)), self.weight])
        joined = fold._replace(labeled=torch.cat([fold.labeled, self.image]))
        return joined, Lessons(label, None if bool((weight == 1).all()) else weight)


class Lessons(NamedTuple):
    """label (L,) of each labeled image, also where it is not the true one; weight (L,), None if all weigh 1."""

    label: Tensor
    weight: Tensor | None
