"""python -m benchmarks: one table of all that is measured, each line a ratio within one run, with its target."""

import json
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

from rich.console import Console

from benchmarks.line import Line, ratios, tabulate, to_json, to_markdown
from benchmarks.machine import describe_machine

PARTS = (
    *("views", "sampler", "weighting", "ema", "waits", "step", "one_core", "crowd", "evaluation", "start", "memory"),
    *("diagnostics", "pictures", "folder", "features", "inference", "report", "sweep", "gpu"),
)
USAGE = f"""python -m benchmarks [part ...] [out=outputs/benchmarks]

Measures speed and memory against references, as ratios within one run, and
leaves them as JSON and Markdown in the folder `out`; with an earlier JSON there,
its ratios are shown beside these. Needs SMOOTHPL_DATA, and a machine with nothing else to do.
Parts: {", ".join(PARTS)}. All of them are the default."""


def main() -> None:
    arguments = sys.argv[1:]
    if {"-h", "--help"} & {*arguments}:
        return Console().print(USAGE, markup=False, highlight=False)
    out = Path(next((each.partition("=")[2] for each in arguments if each.startswith("out=")), "outputs/benchmarks"))
    parts = [each for each in arguments if not each.startswith("out=")] or list(PARTS)
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit(f"{unknown[0]} is not a part of the benchmarks; the parts are {', '.join(PARTS)}.")
    run(parts, out, Console())
    return None


def run(parts: list[str], out: Path, console: Console) -> None:
    began, machine = time.monotonic(), describe_machine()
    lines: list[Line] = []
    for part in parts:
        console.print(f"{part} ...", highlight=False)
        lines += measure(part)
    earlier = sorted(out.glob("*.json"))
    console.print(tabulate(lines, ratios(earlier[-1]) if earlier else None))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
    path.write_text(json.dumps(to_json(lines, machine), indent=1) + "\n")
    path.with_suffix(".md").write_text(to_markdown(lines))
    missed = sum(line.holds is False for line in lines)
    verdict = "all targets are met" if not missed else f"{missed} targets are missed"
    console.print(f"{(time.monotonic() - began) / 60:.1f} minutes, {verdict}: {path}", highlight=False)
    if machine["gpus"]:
        console.print(f"No such file of a GPU is known yet: please attach {path.name} to an issue.", highlight=False)


def measure(part: str) -> list[Line]:
    """In a process of its own: what one part leaves in memory, threads and settings is not there for the next."""
    command = [sys.executable, "-c", f"from benchmarks.__main__ import tell; tell({part!r})"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)  # it has printed why
    return read_lines(done.stdout)


def read_lines(printed: str) -> list[Line]:
    return [Line(*fields) for fields in json.loads(printed.splitlines()[-1])]


def tell(part: str) -> None:
    lines = list(import_module(f"benchmarks.{part}").lines())
    sys.stdout.write(f"\n{json.dumps(lines)}\n")


if __name__ == "__main__":
    main()
