"""smoothpl export: write the trained network to one file, ONNX or others"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_options
from smoothpl.cli.messages import say
from smoothpl.cli.usage import options_of
from smoothpl.errors import require
from smoothpl.record.trained import directory_of, trained

USAGE = """smoothpl export run=DIR images=PLACE format=onnx [out=model.onnx]

The network of a finished run as one file. It takes images of any size, RGB in
bytes (batch, 3, height, width), all of one size in a batch, and gives
probabilities: centre crop, resize and scaling are inside. Class names and the
preprocessing are in its metadata.

  run=DIR          the directory of a finished run
  images=PLACE     a file or folder of images, on which the file must agree with
                   the run, or it is not written
  format=onnx      onnx, torchscript, torch_export or safetensors (weights only;
                   onnx and safetensors need pip install 'smoothpl[export]')
  out=model.onnx   the file to write
  trust=false      true: allow a network that is not smoothpl's own code"""


def main(arguments: Sequence[str]) -> None:
    typed = read_options(arguments, USAGE, *options_of(USAGE), needed=("run", "images"))
    run_dir = directory_of(typed.options["run"])
    trained(run_dir)  # which needs no torch
    from smoothpl.inference.export import SUFFIXES, export_run

    name = typed.options.get("format", "onnx")
    require(name in SUFFIXES, f"format={name} must be one of {', '.join(SUFFIXES)}.")
    suffix = SUFFIXES[name]
    out = typed.file("out", f"model{suffix}")
    require(out.suffix == suffix, f"out={out} must end with {suffix} (format={name}).")
    done = export_run(run_dir, typed.options["images"], name, out, trust=typed.flag("trust"))
    say(f"checked on {done.num_images} images: probabilities agree with the run to {done.difference:.1e}")
    say(f"model: {out}")
