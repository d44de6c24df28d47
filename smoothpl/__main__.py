"""The console command: smoothpl <command>, which is also python -m smoothpl <command>."""

import sys

from smoothpl.cli import commands
from smoothpl.cli.interrupts import answer_interrupts


def main() -> None:
    answer_interrupts()
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in ("--help", "-h", "help"):
        sys.stdout.write(f"{commands.overview()}\n")
    elif name == "--version":
        from importlib.metadata import version

        sys.stdout.write(f"smoothpl {version('smoothpl')}\n")
    elif name in commands.command_names():
        commands.run(name, arguments)
    else:
        sys.exit(commands.unknown(name))


if __name__ == "__main__":
    main()
