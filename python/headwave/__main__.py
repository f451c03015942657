"""python -m headwave check-model MODEL: what needs both headwave and transformers."""

import sys

from . import Error, check_model

USAGE = """Compares a checkpoint's attention with what transformers computes, over a few random tokens.

Usage: python -m headwave check-model MODEL

MODEL is a model directory, or a name on the hub, found in its local cache. Exits with 3 where a weight differs by more than 0.001."""


def main(arguments: list[str]) -> int:
    if "-h" in arguments or "--help" in arguments:
        print(USAGE)
        return 0
    if len(arguments) != 2 or arguments[0] != "check-model":
        print(USAGE, file=sys.stderr)
        return 2
    try:
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        checked = check_model(arguments[1])
    except (Error, ImportError) as problem:
        print(f"headwave: {problem}", file=sys.stderr)
        return 2
    print(checked)
    return 0 if checked.alike else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
