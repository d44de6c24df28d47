"""Generations: runs from scratch, each with the labels that the one before it has picked (CReST, CReST+)."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

from hydra.utils import instantiate
from omegaconf import DictConfig, open_dict

from smoothpl.config.data_name import data_name
from smoothpl.config.overrides import key_of, quoted
from smoothpl.config.recipe import OF_COMMAND, not_in_name, recipe_name
from smoothpl.data.picked import Picked
from smoothpl.errors import require
from smoothpl.io.digests import digest_of
from smoothpl.layout import GENERATIONS, OUTPUTS, PICKED, RECORD
from smoothpl.pseudo.shapes import Gaussian, Shape, Step, jumps
from smoothpl.record.record import Record, read
from smoothpl.run.picking import pick_from
from smoothpl.run.resume import AUTO, is_same_run
from smoothpl.run.training import train


class Generation(NamedTuple):
    """One run of the chain; it has learned `num_picked` pseudo-labels as labels."""

    number: int
    place: Path
    record: Record
    num_picked: int


class Chain(NamedTuple):
    """What all generations have in common."""

    config: DictConfig  # as it was typed
    words: tuple[str, ...]
    number: int

    @property
    def place(self) -> Path:
        """Always the same for the same settings, so that the same command goes on where it was."""
        config = self.config
        name = recipe_name(config, ",".join([*self.shown, f"generations={self.number}"]))
        return (
            Path(OUTPUTS).resolve() / GENERATIONS / data_name(config) / name / f"fold={config.fold},seed={config.seed}"
        )

    @property
    def shown(self) -> list[str]:
        """The typed words that the name of a recipe has."""
        hidden = {*not_in_name([key_of(word) for word in self.words]), "method"}
        return [word for word in self.words if key_of(word) not in hidden]

    def power(self, number: int) -> float | None:
        """Of the labels' frequencies in a generation: from 1 to that of align, evenly; None without such an align."""
        last = None if self.config.align is None else self.config.align.get("power")
        return None if last is None else 1 - (1 - float(last)) * number / max(1, self.number - 1)

    def of_generation(self, number: int) -> tuple[DictConfig, list[str]]:
        """Its configuration, and what one would have typed for it."""
        config, added = deepcopy(self.config), list[str]()
        config.resume = AUTO  # what was begun is continued
        power = self.power(number)
        if power is not None:
            config.align.power = power
            added.append(f"align.power={power}")
        if number:
            file = self.place / str(number - 1) / PICKED
            places = {"file": str(file), "digest": digest_of(file)}
            with open_dict(config.data):
                config.data.picked = places | {"generation": number}
            added += [f"+data.picked.{key}={quoted(value)}" for key, value in places.items()]
            added.append(f"+data.picked.generation={number}")
        taken = {key_of(word) for word in added}
        return config, [*(word for word in self.words if key_of(word) not in {*taken, *OF_COMMAND}), *added]

    def run(self, number: int) -> tuple[Path, Record, DictConfig]:
        config, typed = self.of_generation(number)
        place = self.place / str(number)
        if (place / RECORD).is_file():
            require(
                is_same_run(read(place), config),
                f"{place} holds a run of other settings than this generation; move it away.",
            )
        name = recipe_name(config, ",".join([*self.shown, *([f"generation={number}"] if number else [])]))
        return place, train(config, place, name, typed), config


def generations(config: DictConfig, number: int, words: Sequence[str]) -> Iterator[Generation]:
    """Yields each of `number` generations when it is trained; `words`: what was typed. Those that are finished are not
    trained again."""
    check_generations(config)
    chain, num_picked = Chain(config, tuple(words), number), 0
    shape = shape_of(config)
    for each in range(number):
        place, record, own = chain.run(each)
        yield Generation(each, place, record, num_picked)
        if each < number - 1:
            if not (place / PICKED).is_file():
                pick_from(own, place, shape).write(place / PICKED)
            num_picked = len(Picked.read(place / PICKED).image)


def shape_of(config: DictConfig) -> Shape:
    """By which picked images weigh: that of the method; a method without one takes them alike."""
    shape: Shape = Step() if config.shape is None else instantiate(config.shape)
    require(
        not isinstance(shape, Gaussian),
        "shape=gaussian has no weight by rank for picked images; use another shape, for example shape=linear.",
    )
    return shape


def check_generations(config: DictConfig) -> None:
    """What a chain of runs cannot be."""
    data = config.data
    require(config.resume is None, "resume: leave it out; the same command goes on where it was.")
    require(not config.labels_before, "labels_before: every generation starts from scratch; leave it out.")
    require(
        not data.get("picked"), "data.picked is chosen by each generation for the next one; leave it out, or train one."
    )
    require(
        "images_digest" not in data,
        "data=folder: generations are for data sets whose split chooses the labels; smoothpl suggest says which of "
        "your own images to label next.",
    )
    for name in ("verdict", "finetune"):
        require(config[name] is None, f"{name} does not know several generations; leave it out.")
    require(
        config.trainer.devices == 1 and config.trainer.get("num_nodes", 1) == 1,
        f"trainer.devices={config.trainer.devices}: generations are trained by one process; use trainer=default.",
    )
    one_view = config.mix is None and config.labeled_weight is None and "labeled_strong" not in config.views_wanted
    require(
        one_view or jumps(shape_of(config)),
        f"method={config.method} learns labels in other ways than by the labeled loss, which alone knows the weights "
        "of picked images; use shape=step, where they all weigh 1.",
    )
