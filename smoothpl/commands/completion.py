"""smoothpl completion: print a completion script for bash, zsh or fish"""

import sys
from collections.abc import Sequence

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.completion import SHELLS, script
from smoothpl.errors import require

USAGE = """smoothpl completion bash|zsh|fish

Prints a script that lets TAB complete the commands, their options, the knobs of
a run and the options of every group (method=sm<TAB>). To have it in every new
shell, write it once to where the shell looks for it:
  smoothpl completion bash > ~/.local/share/bash-completion/completions/smoothpl
  smoothpl completion zsh > ~/.zfunc/_smoothpl    a directory of your $fpath
  smoothpl completion fish > ~/.config/fish/completions/smoothpl.fish
In this bash only: eval "$(smoothpl completion bash)\""""


def main(arguments: Sequence[str]) -> None:
    shells = read_arguments(arguments, USAGE).rest
    require(len(shells) == 1 and shells[0] in SHELLS, f"name one shell: {', '.join(SHELLS)}; --help says more.")
    sys.stdout.write(f"{script(shells[0])}\n")
