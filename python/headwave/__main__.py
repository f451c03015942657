"""python -m headwave COMMAND: what needs Python, as a command."""

import json
import sys
from typing import Any

from . import Error, check_model
from .profiles.result import open_profiles

USAGE = """What the program `headwave` cannot do without Python.

Usage: python -m headwave check-model MODEL
       python -m headwave export PROFILES --to TOOL --out FOLDER [--OPTION VALUE]...

check-model  Compares a checkpoint's attention with what transformers computes, over a few random tokens. MODEL is a model directory, or a
             name on the hub, found in its local cache. Exits with 3 where a weight differs by more than 0.001.
export       Writes what another tool reads of profiles that headwave.watch summed: duo_attention, kvpress, triattention
             or headvis, with its options, such as --recent 256 (docs/profiles.md)."""


def main(arguments: list[str]) -> int:
    if "-h" in arguments or "--help" in arguments:
        print(USAGE)
        return 0
    try:
        if arguments[:1] == ["check-model"] and len(arguments) == 2:
            return _check(arguments[1])
        if arguments[:1] == ["export"] and len(arguments) % 2 == 0 and len(arguments) > 1:
            options = {name.removeprefix("--").replace("-", "_"): value for name, value in zip(arguments[2::2], arguments[3::2])}
            if all(name.startswith("--") for name in arguments[2::2]) and {"to", "out"} <= set(options):
                open_profiles(arguments[1]).export(options.pop("to"), options.pop("out"), **{name: _value(of) for name, of in options.items()})
                return 0
    except (Error, ImportError) as problem:
        print(f"headwave: {problem}", file=sys.stderr)
        return 1
    print(USAGE, file=sys.stderr)
    return 2


def _check(model: str) -> int:
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    checked = check_model(model)
    print(checked)
    return 0 if checked.alike else 3


def _value(text: str) -> Any:
    """A number where it is one."""
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
