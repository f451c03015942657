"""Writes tests/golden/families/measured.md from the goldens there and what a run of their tests measured.

    HEADWAVE_FAMILIES_LOG=measured.txt build/release/data_tests "*compute*"
    python make_families_page.py measured.txt

A line of measured.txt is a golden's name and its differences from what transformers computes: the largest of an attention
weight, and of a hidden state in units of the rms of what is expected.
"""

import pathlib
import sys

HEAD = """# Measured

The largest difference of an attention weight, and of a hidden state in units of its rms, between headwave and transformers' eager attention on each checkpoint
of this folder, on 7 and on 24 tokens. Made by `../make_families_page.py`.

| checkpoint | attention | states |
|---|---|---|
"""


def main(measured):
    goldens = pathlib.Path(__file__).parent / "families"
    largest = {}
    for line in pathlib.Path(measured).read_text().splitlines():
        name, *numbers = line.split()
        largest[name] = [max(a, float(b)) for a, b in zip(largest.get(name, [0, 0]), numbers)]
    rows = []
    for folder in sorted(path.parent for path in goldens.glob("*/config.json")):
        weights, states = largest[folder.name]
        rows.append(f"| {folder.name} | {weights:.1e} | {states:.1e} |")
    (goldens / "measured.md").write_text(HEAD + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
