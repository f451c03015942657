"""Prints the smaller tables of docs/findings.md from CSV files that `headwave export` writes.

    python findings.py experiments HEADS.csv    `follows` and `moved` of heads, by the largest of position, word and match
    python findings.py offsets HEADS.csv        how many measured offsets are 1 token long, and how many more than 3
    python findings.py table SHARES.csv         share of the position table in the position kernels of each layer
"""

import sys

import pandas


def experiments(heads):
    largest = heads[["position", "word", "match"]].idxmax(axis=1).where(lambda part: part == "position", "word or match")
    return heads.assign(largest=largest).groupby("largest")[["follows", "moved"]].agg(["count", "min", "median", "max"]).round(2).to_string()


def offsets(heads):
    distance = heads["offset"].dropna().abs()
    return f"{(distance == 1).sum()} of {len(distance)} offsets are 1 token, {(distance > 3).sum()} more than 3"


def table(shares):
    shares = shares[shares["source"] == "positions"]
    return shares.groupby("layer")[["position_query", "position_key"]].agg(["min", "median", "max"]).round(2).to_string()


if __name__ == "__main__":
    print({"experiments": experiments, "offsets": offsets, "table": table}[sys.argv[1]](pandas.read_csv(sys.argv[2])))
