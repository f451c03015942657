"""Measures on your own model what Yamamoto and Matsuzaki report of roberta-base and GPT-2, and compares it with what they published.

    python paper.py MODEL TEXT [DOCUMENTS [LENGTH]]

It follows the argument of the paper. Heads fall into kinds by where they look. Positions are waves of a few frequencies, and hidden states keep
them. Queries and keys along the singular directions of W_Q W_K^T are waves too, shifted against each other by the offset at which the head
looks. That offset stays if the words are shuffled. If the paper shows a picture and no number, the interval is our reading of the picture.
Heads with names are those of roberta-base. In another model the interventions follow the head with the largest weight at its offset.

Source: Yamamoto and Matsuzaki 2023 (JP: NLP 2023, in Japanese; EN: Absolute Position Embedding Learns Sinusoid-like Waves for Attention Based on
Relative Position, EMNLP 2023).
"""

import pathlib
import sys

import numpy as np

import headwave

ANY = np.inf
PUBLISHED = {"roberta": {
    "heads in one or two clusters": ("almost every head's texts", 0.9, 1, "JP 3.1"),
    "offset of L7H8": ("-1: sharp on the left neighbour", -1, -1, "JP 3.1"),
    "offset of L1H2": ("+1: sharp on the right neighbour", 1, 1, "JP 3.1"),
    "strongest frequency of the positions": ("peaks about 50 cycles per 512", 40, 63, "JP 3.2"),
    "highest peak of the positions": ("periods of about 8 tokens or more", 1, 63, "EN 4.2"),
    "contrast of the word sequence": ("no peak", 0, 2, "JP 3.2"),
    "variance of the positions in 4 components": ("50.51 %", 0.4951, 0.5151, "JP appendix B"),
    "variance of the positions in 12 components": ("92.23 %", 0.9173, 0.9273, "JP appendix B"),
    "highly correlated components": ("5 to 20", 5, 20, "EN"),
    "fall of the correlation with depth": ("falls", 0, ANY, "EN"),
    "periodic columns of heads with an offset": ("about 4 to 12", 4, 12, "JP 3.3"),
    "frequencies of columns 5 and 6 of L0H0": ("one frequency", 0, 1, "JP 3.3"),
    "contrast of queries in layer 0": ("a peak about f = 50", 2, ANY, "JP 3.3"),
    "contrast of keys in layer 0": ("a peak about f = 50", 2, ANY, "JP 3.3"),
    "contrast of states in layer 0": ("no peak", 0, 2, "JP 3.3"),
    "decay of the contrast of queries": ("decays with depth", 0, ANY, "JP 3.3"),
    "lag of column 5 of L0H0": ("-2 or -3", -3, -2, "JP 3.5"),
    "lag of column 6 of L0H0": ("-2 or -3", -3, -2, "JP 3.5"),
    "weighted sum of L0H0": ("about -2", -3, -1, "JP 3.5"),
    "weighted sum of L7H8": ("-1", -1, -1, "JP 3.5"),
    "phases of L0H0": ("Delta from 1 to 3", -3, -1, "JP 3.4"),
    "phases of L1H2": ("Delta = -1", 0.5, 1.5, "JP 3.4"),
    "weight of L7H8 at its offset, positions only": ("no spike", 0, 0.5, "EN"),
    "weight of L7H8 at its offset, words only": ("mostly flat", 0, 0.5, "EN"),
    "weight of L7H8 at its offset, words shuffled": ("the spike stays", 0.5, ANY, "EN"),
}, "gpt2": {
    "energy of the positions below 10 cycles": ("low frequencies only", 0.9, 1, "JP appendix A"),
    "mean layer of heads with an offset": ("in low layers", 0, 5.5, "EN"),
}}
CONDITIONS = {"positions only": "positions-only", "words only": "words-only", "words shuffled": "shuffled-words"}


def contrast(amplitude):
    """The largest amplitude at 40 to 60 cycles per 512 tokens, divided by the median over all frequencies but 0."""
    last = len(amplitude) - 1
    first, end = max(1, last * 40 // 256), min(last, last * 60 // 256)
    return amplitude[first : end + 1].max() / np.median(amplitude[1:]) if end >= first else np.nan


def peak(curve, reach=30):
    """The offset at which a curve around offset 0 is largest, in tokens. Ties go to the smaller offset."""
    middle = len(curve) // 2
    return max(range(-min(reach, middle), min(reach, middle) + 1), key=lambda t: (curve[middle + t], -abs(t)))


def measured(result, named):
    """The measured numbers, {name: value}, without those that the result lacks. `named`: whether to look at the heads of roberta-base."""
    rows, of = {}, lambda name: np.asarray(result[name], float)
    have = lambda name: name in result and of(name).ndim > 0     # a single NaN: undefined for this model
    if have("head_cluster/share"):
        rows["heads in one or two clusters"] = ((of("head_cluster/share") > 0).sum(-1) <= 2).mean()
    if have("position_spectrum/peak_frequency"):
        peaks = of("position_spectrum/peak_frequency")
        rows["strongest frequency of the positions"], rows["highest peak of the positions"] = peaks[0], peaks.max()
        rows["energy of the positions below 10 cycles"] = of("position_spectrum/cumulative_energy")[9]
        rows["contrast of the word sequence"] = contrast(of("position_spectrum/word_mean"))
    if have("position_components/cumulative_share"):
        for count in (4, 12):
            rows[f"variance of the positions in {count} components"] = of("position_components/cumulative_share")[count - 1]
    if have("position_correlation/correlation"):
        by_layer = of("position_correlation/correlation")[:, -1]     # of the most components that were kept
        rows["highly correlated components"] = (by_layer[0] > 0.9).sum()
        rows["fall of the correlation with depth"] = by_layer[0].mean() - by_layer[-1].mean()
    offset = of("measured_offset/offset")[0]
    if have("periodic_columns/query") and np.isfinite(offset).any():
        rows["periodic columns of heads with an offset"] = of("periodic_columns/query")[np.isfinite(offset)].mean()
    if have("wave_spectra/query"):
        for name in ("query", "key", "state"):
            rows[f"contrast of {'queries' if name == 'query' else name + 's'} in layer 0"] = contrast(of(f"wave_spectra/{name}")[0])
        rows["decay of the contrast of queries"] = rows["contrast of queries in layer 0"] - contrast(of("wave_spectra/query")[-1])
    if named:
        rows["offset of L7H8"], rows["offset of L1H2"] = offset[7, 8], offset[1, 2]
        frequency, columns = of("periodic_columns/peak_frequency")[0, 0], of("cross_covariance/correlation")[0, 0]
        rows["frequencies of columns 5 and 6 of L0H0"] = abs(frequency[4] - frequency[5])
        rows["lag of column 5 of L0H0"], rows["lag of column 6 of L0H0"] = peak(columns[4]), peak(columns[5])
        for layer, head in ((0, 0), (7, 8)):
            rows[f"weighted sum of L{layer}H{head}"] = peak(of("cross_covariance/weighted")[layer, head])
        for layer, head in ((0, 0), (1, 2)):
            rows[f"phases of L{layer}H{head}"] = of("phase_delay/estimate")[layer, head]
    if have("position_atlas/predicted_offset") and np.isfinite(of("position_atlas/predicted_offset")).any():
        rows["mean layer of heads with an offset"] = np.nonzero(np.isfinite(of("position_atlas/predicted_offset")))[0].mean()
    return rows


def carried(model, result, named, **given):
    """The share of a head's weight at its offset that is left with positions alone, with words alone, and with shuffled words."""
    offset, weight = (np.asarray(result[f"measured_offset/{name}"])[0] for name in ("offset", "weight"))
    if np.isnan(offset).all():
        return
    layer, head = (7, 8) if named else np.unravel_index(np.nanargmax(np.where(np.isnan(offset), np.nan, weight)), offset.shape)
    at = lambda found: float(found["offset_trace/mean_weight"].sel(pairs="all", layer=layer, head=head, offset=offset[layer, head]))
    for words, intervention in CONDITIONS.items():
        changed = headwave.run(model, only=["measured_offset"], interventions=[intervention], **given)
        yield f"weight of L{layer}H{head} at its offset, {words}", at(changed) / at(result)


def main(model, text, documents=100, length=512):
    given = dict(text=pathlib.Path(text), documents=int(documents), length=int(length))
    result = headwave.run(model, everything=True, **given)
    family, shape = result.provenance["model_family"], np.asarray(result["measured_offset/offset"]).shape[1:]
    published = PUBLISHED.get(family, {}) if shape == (12, 12) else {}
    named = bool(published) and family == "roberta"
    for name, value in (measured(result, named) | dict(carried(model, result, named, **given))).items():
        claim, low, high, source = published.get(name, ("", np.nan, np.nan, ""))
        verdict = "" if not claim else "agrees" if low <= value <= high else "differs"
        print(f"{name:50}{value:10.4g}  {claim:38}{verdict:9}{source}".rstrip())


if __name__ == "__main__":
    main(*sys.argv[1:])
