"""Makes the files that HeadVis' page and Neuronpedia read (docs/profiles.md)."""

from __future__ import annotations

import functools
import json
import warnings
from collections import Counter
from typing import Any, Callable

import numpy as np

from ..errors import FormatError
from .headvis_findings import Findings
from .stack import Stack

INDUCTION = 4                # HeadScore::induction (analysis/attention/head_types.h)
INTERVALS = 5                # groups of documents, by their largest weight
LARGEST, LEAST = 8, 0.005    # most keys shown of a query, and the smallest weight shown
HEAD_BYTES = 10_000_000      # most of a head's file, which the page loads whole; long documents exceed it
EDGE_BYTES = 1_300           # size of the file of one divided score
TOP_TOKENS = 50
EDGES, MOST_EDGES = 16, 20_000   # most weights whose scores are divided, in a head and in all; a file each

_METRICS = {
    "self_attention_score": "Mean weight of a query on its own token.",
    "prev_token_score": "Mean weight of a query on the token before it.",
    "pattern_entropy": "Mean entropy of the weights of a query, in nats.",
    "qk_distance": "Mean distance of key and query, weighted by attention, in tokens.",
    "qk_distance_variance": "Variance of that distance, in tokens squared.",
    "induction_score": "Mean weight on tokens right after an earlier copy of the query's own token, over queries that have one.",
}


def contents(stack: Stack, numbers: list[int], result: Any, said: dict[str, Any], sequences: int, megabytes: float,
             decode: Callable[[int], str]) -> dict[str, Any]:
    """Gives by name the content of every file, or a function that makes the content. `numbers` are the layers' numbers in the model."""
    heads = [(layer, head) for layer in range(len(numbers)) for head in range(stack.heads)]
    known = {token: decode(token) if token >= 0 else str(token) for token in np.unique(stack.kept_token).astype(int).tolist()}
    tokens = [[known[token] for token in document] for document in stack.kept_token.astype(int).tolist()]
    findings = Findings(result, [(numbers[layer], head) for layer, head in heads], decode)
    metrics = _metrics(stack) | {name: of.reshape(len(numbers), stack.heads) for name, of in findings.measures.items()}
    distances = _distances(stack)
    scatter = [{"layer": numbers[layer], "head": head, **{name: None if np.isnan(of[layer, head]) else round(float(of[layer, head]), 6)
                                                          for name, of in metrics.items()}} for layer, head in heads]
    scatter.sort(key=lambda row: list(row.values()).count(None))   # the page offers those metrics as axes that are numbers in the first row
    divided = min(EDGES, MOST_EDGES // len(heads)) if len(tokens) > 1 else 0   # one document has no others to compare it with
    each = _each(tokens, len(heads), divided, sequences, megabytes)
    said = {"n_sequences": stack.documents, "seq_len": len(tokens[0]), "dtype": stack.dtype, "attn_implementation": stack.implementation,
            "sequences_of_each_head": min(INTERVALS * each, len(tokens)), "result": result.title, **said}
    config = {
        "model_name": said["model_name"], "dataset_name": said["dataset_name"], "heads": [[numbers[layer], head] for layer, head in heads],
        "n_layers": max(numbers) + 1, "n_heads": stack.heads, "n_intervals": INTERVALS, "metrics": list(metrics),
        "metric_descriptions": _METRICS | findings.about, "head_data_pattern": "L{layer}H{head}.json", "has_umap": False, "umap_heads": [],
        "custom_plots": [*findings.plots, {"key": "qk_distance_histogram", "label": "Share of attention by distance, all documents"}],
        "custom_tables": [*findings.tables, *({"key": f"top_{side}_tokens", "label": f"Top {side} tokens"} for side in ("query", "key"))],
        "pipeline_config": said}
    manifest: dict[str, dict[str, list[list[int]]]] = {}
    files: dict[str, Any] = {"config.json": config, "scatter_data.json": scatter, "server_config.json": {}, "attributions/manifest.json": manifest}
    for layer, head in heads:
        largest, edges = _largest(stack, layer, head, divided)
        groups = enumerate(np.array_split(np.argsort(largest, kind="stable"), INTERVALS), 1)
        shown = [(interval, int(document)) for interval, group in reversed(list(groups)) for document in group[::-1][:each]]
        files[f"heads/L{numbers[layer]}H{head}.json"] = functools.partial(_head, stack, layer, head, tokens, largest, shown, distances,
                                                                                functools.partial(findings.of, numbers[layer], head))
        those = sorted(((weight, document, query, key) for _, document in shown for weight, query, key in edges[document]), reverse=True)
        for _, document, query, key in those[:divided]:
            name = f"L{numbers[layer]}H{head}S{int(stack.kept_number[document])}"
            manifest.setdefault(name, {"qk": [], "ov": []})["qk"].append([query, key])
            files[f"attributions/qk/{name}Q{query}K{key}.json"] = functools.partial(_attribution, stack, layer, head, document, query, key)
    return files


def _each(tokens: list[list[str]], heads: int, divided: int, sequences: int, megabytes: float) -> int:
    """Decides how many sequences of each group a head shows: at least one, and few enough that the folder keeps its limit of size.

    Raises:
        FormatError: the limit is exceeded even with one sequence of each group
    """
    length = len(tokens[0])
    # Upper bounds in bytes: for a sequence, with "index, " and "weight, " for each weight; for profiles and tables.
    one = max(len(json.dumps(text)) for text in tokens) + LARGEST * length * (len(str(length ** 2)) + 10) + 200
    rest = 100 * length + 30_000
    whole = (megabytes * 1e6 - 1e5) / heads - divided * EDGE_BYTES
    if INTERVALS * one + rest > whole:
        raise FormatError(f"export: megabytes={megabytes:g} is too little for {INTERVALS} sequences of each of {heads} heads; give "
                          f"{np.ceil((INTERVALS * one + rest + divided * EDGE_BYTES) * heads / 1e6 + 0.1):.0f} or more, or watch shorter documents")
    wanted = max(1, min(sequences // INTERVALS, -(-len(tokens) // INTERVALS)))
    fit = max(1, int((min(HEAD_BYTES, whole) - rest) // (INTERVALS * one)))
    if fit < wanted:
        limit = f"the folder within megabytes={megabytes:g}" if whole < HEAD_BYTES else f"each head's file near {HEAD_BYTES / 1e6:g} MB"
        warnings.warn(f"export: 'headvis' shows {INTERVALS * fit} sequences of each head instead of {min(INTERVALS * wanted, len(tokens))}, "
                      f"to keep {limit}", stacklevel=6)
    return min(fit, wanted)


def _metrics(stack: Stack) -> dict[str, np.ndarray]:
    mean, rows, weight = stack.mean_weight(), stack.rows.sum(0)[:, None], stack.weight.sum((0, 2))
    first, last = stack.first_offset.astype(float), stack.last_offset.astype(float)
    distance = weight @ abs(first + last) / 2 / rows   # weights are taken as even within a bin
    square = weight @ ((first * first + last * last + first * last + abs(last - first) / 2) / 3) / rows
    own, previous = (mean[..., first == offset][..., 0] if offset in first else np.full(weight.shape[:2], np.nan) for offset in (0, -1))
    with np.errstate(invalid="ignore"):
        induction = (stack.head_score / stack.head_score_documents)[INDUCTION]
    return dict(zip(_METRICS, (own, previous, stack.entropy.sum(0) / rows, distance, square - distance ** 2, induction)))


def _distances(stack: Stack) -> tuple[np.ndarray, np.ndarray]:
    """Gives distances 0, 1, 2, 4, ..., and the share of attention between two of these, (layers, heads, n), as if weights were even in a bin."""
    nearest, farthest = np.sort(np.abs([stack.first_offset, stack.last_offset]), 0)
    edges = np.array([0, *(1 << np.arange(int(farthest.max()).bit_length() + 1))])
    parts = np.maximum(np.minimum(farthest[:, None] + 1, edges[1:]) - np.maximum(nearest[:, None], edges[:-1]), 0)
    return edges, stack.weight.sum((0, 2)) @ (parts / (farthest - nearest + 1)[:, None]) / stack.kept.sum(0)[..., None]


def _largest(stack: Stack, layer: int, head: int, count: int) -> tuple[list[float], list[list[tuple[float, int, int]]]]:
    """Finds each document's largest weight, and its `count` largest weights with their queries and keys. As on the page, without first tokens."""
    largest, edges = [], []
    for document in range(len(stack.kept_number)):
        weight = _weights(stack, layer, head, document)[1:, 1:]
        places = np.argpartition(weight, -min(count, weight.size), None)[-count:] if count else np.array([], int)
        largest.append(float(weight.max()))
        edges.append([(float(weight.flat[place]), *(int(at) + 1 for at in np.unravel_index(place, weight.shape))) for place in places])
    return largest, edges


def _attribution(stack: Stack, layer: int, head: int, document: int, query: int, key: int) -> dict[str, Any]:
    """Divides a score before softmax and soft cap into parts. Before rotary positions, query and key are each the sum of the mean over the
    other documents at that position and of what this document adds. A bias by offset is one more part."""
    sides = []
    for name, place, of in (("kept_query", query, head), ("kept_key", key, head * stack.kv_heads // stack.heads)):
        vectors = getattr(stack, name)[:, layer, place, of].astype(np.float64)
        mean = np.delete(vectors, document, 0).mean(0)
        sides.append(_turned(stack, layer, np.stack([mean, vectors[document] - mean]), np.full(2, place)))
    scores = sides[0] @ sides[1].T * stack.scale[layer]
    said = ("position", "mean of the other documents at position {}"), ("content", "what this document adds at position {}")
    pairs = [(one, other, scores[i, j], one_said.format(query), other_said.format(key))
             for i, (one, one_said) in enumerate(said) for j, (other, other_said) in enumerate(said)]
    if hasattr(stack, "score_bias"):
        length = (stack.score_bias.shape[-1] + 1) // 2
        pairs.append(("bias", "bias", stack.score_bias[layer, head, key - query + length - 1], *["bias that the model adds at this offset"] * 2))
    return {"pairs": [{"query_feature": one, "key_feature": other, "attribution": round(float(score), 6), "query_description": one_said,
                       "key_description": other_said, "query_snippets": [], "key_snippets": []}
                      for one, other, score, one_said, other_said in sorted(pairs, key=lambda pair: -abs(pair[2]))]}


def _head(stack: Stack, layer: int, head: int, tokens: list[list[str]], largest: list[float], documents: list[tuple[int, int]],
          distances: tuple[np.ndarray, np.ndarray], found: Callable[[], tuple[dict[str, Any], dict[str, str]]]) -> dict[str, Any]:
    """Makes the content of a head's file, with documents and the numbers of their groups."""
    shown: list[dict[str, Any]] = []
    top: dict[str, Any] = {"query": Counter(), "key": Counter()}
    for interval, document in documents:
        weight, texts = _weights(stack, layer, head, document), tokens[document]
        keys = np.sort(np.argpartition(weight, -min(LARGEST, len(weight)))[:, -LARGEST:])
        values = np.take_along_axis(weight, keys, -1)
        query, place = np.nonzero(values >= LEAST)
        key, values = keys[query, place], values[query, place]
        shown.append({"sequence_id": int(stack.kept_number[document]), "interval": interval, "tokens": texts,
                      "attention_indices": (query * len(texts) + key).tolist(), "attention_values": np.round(values, 4).tolist(),
                      "seq_len": len(texts), "max_activation": round(largest[document], 6)})
        for side, positions in (("query", query), ("key", key)):
            for position, value in zip(positions.tolist(), values.tolist()):
                top[side][texts[position]] += value
    counts, bounds = np.histogram(largest, 50, (0, 1))
    tables = {f"top_{side}_tokens": [{"token": token, "weight": round(weight, 4)} for token, weight in of.most_common(TOP_TOKENS)]
              for side, of in top.items()}
    findings, words = found()
    return {"sequences": shown, **findings, **tables, "histogram": {"bin_edges": np.round(bounds, 4).tolist(), "bin_values": counts.tolist()},
            "qk_distance_histogram": {"bin_edges": distances[0].tolist(), "bin_values": np.round(distances[1][layer, head], 6).tolist()},
            "statistics": {"n_samples": len(shown), "mean_max_activation": round(float(np.mean(largest)), 6), **words}}


def _weights(stack: Stack, layer: int, head: int, document: int) -> np.ndarray:
    """Computes a head's weights in a kept document, (queries, keys), from its queries and keys (equation 1 of tiles.py)."""
    query = _turned(stack, layer, stack.kept_query[document, layer, :, head])
    key = _turned(stack, layer, stack.kept_key[document, layer, :, head * stack.kv_heads // stack.heads])
    score, cap, window = query @ key.T * stack.scale[layer], stack.soft_cap[layer], stack.account_window[layer]
    if cap:
        score = cap * np.tanh(score / cap)
    t = np.arange(len(key)) - np.arange(len(query))[:, None]
    if hasattr(stack, "score_bias"):
        score += stack.score_bias[layer, head, t + len(query) - 1]
    score[(t > 0) | (window > 0) & (t <= -window)] = -np.inf
    top = score.max(-1, keepdims=True)
    weight = np.exp(score - top)
    sink = stack.sink_score[layer, head] if hasattr(stack, "sink_score") else np.nan
    return weight / (weight.sum(-1, keepdims=True) + (0 if np.isnan(sink) else np.exp(sink - top)))


def _turned(stack: Stack, layer: int, vectors: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
    """Applies rotary positions (Turns of rotary.py) to queries or keys (n, d). `places` are their positions; None: 0, 1, 2, ..."""
    places = np.arange(len(vectors)) if places is None else places
    frequency = stack.turn_frequency[layer][~np.isnan(stack.turn_frequency[layer])]
    half, turned = len(frequency), vectors.astype(np.float64)
    one, other = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if stack.turn_neighbours[layer] else (slice(half), slice(half, 2 * half))
    pairs = (vectors[:, one] + 1j * vectors[:, other]) * np.exp(1j * np.outer(places, frequency)) * stack.turn_gain[layer]
    turned[:, one], turned[:, other] = pairs.real, pairs.imag
    return turned
