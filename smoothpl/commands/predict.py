"""smoothpl predict: classify images with a trained run"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_options
from smoothpl.cli.messages import first_few, inform
from smoothpl.cli.usage import options_of
from smoothpl.config.overrides import key_of
from smoothpl.errors import ConfigError, require
from smoothpl.record.trained import directory_of, trained

USAGE = """smoothpl predict run=DIR images=PLACE... [out=predictions.csv]

Classifies images with the network of a finished run:
  smoothpl predict run=outputs/... images=photos out=predictions.csv
  find . -name '*.jpg' | smoothpl predict run=outputs/... images=-

  run=DIR                the directory of a finished run
  images=PLACE           a file, or a folder with all below it; may be repeated;
                         - reads names from stdin, one per line; -0 with a zero
                         byte after each
  out=predictions.csv    .csv or .jsonl; - is stdout, as CSV
  top=1                  how many classes per image, the most likely first
  probabilities=false    true: the probabilities of all classes, too
  engine=auto            torch, or onnxruntime, which is faster on CPUs once it
                         has converted the network; auto: from 2,000 images on
  trust=false            true: allow a network that is not smoothpl's own code

Files that are not images are listed and skipped."""


def main(arguments: Sequence[str]) -> None:
    typed = read_options(arguments, USAGE, *options_of(USAGE), needed=("run", "images"))
    if typed.options.get("out") != "-":
        typed.file("out", "predictions.csv")
    run_dir = directory_of(typed.options["run"])
    trained(run_dir)  # which needs no torch
    from smoothpl.inference.classifier import load
    from smoothpl.inference.predictions import Format, find_files, write

    form = Format.parse(
        typed.options.get("out", "predictions.csv"), typed.number("top", 1), typed.flag("probabilities")
    )
    files = find_files([word.partition("=")[2] for word in arguments if key_of(word) == "images"])
    classifier = load(run_dir, trust=typed.flag("trust"))
    num_classes = len(classifier.class_names)
    require(form.top <= num_classes, f"top={form.top}, but there are {num_classes} classes.")
    classifier.use(typed.options.get("engine", "auto"), len(files))
    bad = write(form, classifier, files)
    if bad:
        names = first_few(list(map(repr, bad)))
        inform(f"{len(bad)} of {len(files):,} files are not readable images and are skipped: {names}")
    if len(bad) == len(files):
        raise ConfigError("none of the files is an image; nothing was predicted.")
    if form.out != "-":
        inform(f"predictions: {form.out} (engine={classifier.engine})")
