"""Writes one table with a row for each head of several models.

    python head_rows.py ROWS.csv DOCUMENTS MODEL TEXT [MODEL TEXT ...]

TEXT is a text file, which is cut into documents of 128 tokens, or a file that ends with .json: a list of documents, each a list of token ids.
For a finished result MODEL is the folder or file that `headwave run` wrote, and TEXT is `-`. docs/result-file.md describes the columns.
"""

import json
import pathlib
import sys

import pandas

import headwave


def rows_of(model, text, documents):
    """The rows of one model, or of a finished result."""
    if text == "-":
        return headwave.open(model).to_dataframe()
    file = pathlib.Path(text)
    given = {"ids": json.loads(file.read_text())[:documents]} if file.suffix == ".json" else {"text": file, "documents": documents, "length": 128}
    return headwave.run(model, **given).to_dataframe()


if __name__ == "__main__":
    if len(sys.argv) < 5 or len(sys.argv) % 2 == 0:
        raise SystemExit(__doc__)
    rows, documents, *pairs = sys.argv[1:]
    pandas.concat([rows_of(*pair, int(documents)) for pair in zip(pairs[::2], pairs[1::2])]).to_csv(rows, index=False)
