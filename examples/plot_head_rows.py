"""Shows how sink, position, word and match divide the attention of each layer, from rows of `headwave export --heads` or head_rows.py.

    python plot_head_rows.py ROWS.csv [ROWS.csv ...] [FIGURE.png]

Prints a table and draws one panel for each model. A part is the sum of its bits over the heads of a layer, divided by the sum of all their bits.
Brackets show the same for the ends of the heads' intervals over documents: an interval that holds even if all heads err in one direction.
"""

import sys

import pandas

PARTS = ["sink", "position", "word", "match"]


def parts_by_layer(rows):
    """A row for each layer of each model: mean bits of its heads, and the parts and their intervals as shares of the bits."""
    rows = rows[rows["bits"].notna()]
    sums = rows.groupby(["model", "attention", "layer"], sort=False)
    found = pandas.DataFrame({"heads": sums.size(), "documents": sums["documents"].first(), "bits": sums["bits"].mean()})
    for part in PARTS:
        for end in ("", "_low", "_high"):
            found[part + end] = sums[part + end].sum() / sums["bits"].sum()
    return found.reset_index()


def as_text(parts):
    shown = parts[["model", "layer", "heads", "documents"]].assign(bits=parts["bits"].map("{:.2f}".format))
    for part in PARTS:
        shown[part] = [f"{of:.2f} [{low:.2f}, {high:.2f}]" for of, low, high in zip(parts[part], parts[part + "_low"], parts[part + "_high"])]
    return shown.to_string(index=False)


def plot(parts, file):
    from matplotlib import pyplot

    models = parts["model"].unique()
    figure, panels = pyplot.subplots(1, len(models), figsize=(3.4 * len(models), 3), sharey=True, squeeze=False, layout="constrained")
    for panel, model in zip(panels[0], models):
        of = parts[parts["model"] == model]
        for part in PARTS:
            error = [of[part] - of[part + "_low"], of[part + "_high"] - of[part]]
            panel.errorbar(of["layer"], of[part], yerr=[one.clip(lower=0) for one in error], label=part, marker="o", capsize=2)
        panel.set(title=model, xlabel="layer", xticks=of["layer"].unique())
    panels[0][0].set_ylabel("share of the bits")
    panels[0][-1].legend()
    figure.savefig(file, dpi=200)


if __name__ == "__main__":
    files, figures = ([name for name in sys.argv[1:] if name.endswith(".csv") == rows] for rows in (True, False))
    if not files or len(figures) > 1:
        raise SystemExit(__doc__)
    found = parts_by_layer(pandas.concat([pandas.read_csv(file) for file in files]))
    if found.empty:
        raise SystemExit("plot_head_rows: no row has bits, which need a run with 8 or more documents of equal length")
    print(as_text(found))
    for file in figures:
        plot(found, file)
