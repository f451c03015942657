"""The folder of files that HeadVis shows and Neuronpedia reads in (docs/profiles.md)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ..errors import FormatError

if TYPE_CHECKING:
    from .result import Stack

INTERVALS = 5           # groups of sequences, by their largest weight
INDUCTION_LEAST = 0.01  # smaller weights do not count in the induction score, as in Neuronpedia's pipeline
TOP_TOKENS = 50

_METRICS = {
    "self_attention_score": "Mean weight of a query on its own token.",
    "prev_token_score": "Mean weight of a query on the token before it.",
    "pattern_entropy": "Mean entropy of the weights of a query, in nats.",
    "qk_distance": "Mean distance of key and query, weighted by attention, in tokens.",
    "qk_distance_variance": "Variance of that distance, in tokens squared.",
    "induction_score": "Weight on tokens that follow an earlier copy of the query's own token, over queries that have one; "
                       "of the sequences shown, from the weights shown.",
}


class Sequence:
    """One document of a stack and what its heads look at: pairs of a query and one of its largest keys."""

    def __init__(self, stack: "Stack", number: int) -> None:
        end = int(stack.sequence_length[:number + 1].sum())
        first = end - int(stack.sequence_length[number])
        self.number, self.length = number, end - first
        self.ids = stack.sequence_ids[first:end]
        self.tokens = stack.sequence_tokens[first:end].tolist()
        self._key, self._weight = stack.largest_key[:, :, first:end], stack.largest_weight[:, :, first:end]

    def pairs(self, layer: int, head: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries, keys and weights, by query and then by key."""
        key, weight = self._key[layer, head], self._weight[layer, head]
        query = np.broadcast_to(np.arange(self.length)[:, None], key.shape)[key >= 0]
        order = np.lexsort((key[key >= 0], query))
        return query[order], key[key >= 0][order], weight[key >= 0][order]

    def largest(self) -> np.ndarray:
        """The largest weight of every head but for the first token's, as query or as key: (layers, heads)."""
        return np.where(self._key > 0, self._weight, 0)[:, :, 1:].max((-1, -2), initial=0)

    def induction(self) -> tuple[np.ndarray, int]:
        """Weight on tokens that follow an earlier copy of the query's, (layers, heads), and the number of queries that have a copy."""
        follows = np.zeros((self.length, self.length), bool)
        alike = (self.ids[:, None] == self.ids[None, :]) & (self.ids >= 0)   # -1: not known, so like no other
        follows[:, 1:] = np.tril(alike, -1)[:, :-1]
        found = follows[np.arange(self.length)[:, None], np.maximum(self._key, 0)] & (self._key >= 0)
        return np.where(found & (self._weight >= INDUCTION_LEAST), self._weight, 0).sum((-1, -2)), int(follows.any(1).sum())


def contents(stack: "Stack", numbers: list[int], model: str, dataset: str, exact: int,
             about: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """What is in every file, by its name; made as it is asked for, since a large model has thousands of heads.

    Args:
        numbers: of the layers in the model; -1: it has none
        exact: largest |offset| with a bin of its own
        about: what else to say of the documents and the weights

    Raises:
        FormatError: layers have no numbers, or no sequences were kept
    """
    if -1 in numbers or len(set(numbers)) < len(numbers):
        raise FormatError(f"export: 'headvis' numbers layers; found {', '.join(stack.layers[:4])} ...")
    if not hasattr(stack, "largest_key"):
        raise FormatError("export: 'headvis' shows single documents; watch with headwave.watch(model, sequences=20, tokenizer=tokenizer)")
    sequences = [Sequence(stack, number) for number in range(len(stack.sequence_length))]
    heads = [(layer, head) for layer in range(len(numbers)) for head in range(stack.heads)]
    metrics = _metrics(stack, sequences)
    config = _config(stack, [[numbers[layer], head] for layer, head in heads], model, dataset, exact, about)
    scatter = [{"layer": numbers[layer], "head": head} | {name: _number(of[layer, head]) for name, of in metrics.items()}
               for layer, head in heads]
    largest = np.array([sequence.largest() for sequence in sequences])
    interval = 1 + np.argsort(np.argsort(largest, 0, kind="stable"), 0) * INTERVALS // len(sequences)
    edges, shares = _distances(stack)

    def of(layer: int, head: int) -> Callable[[], Any]:
        return lambda: _head(sequences, layer, head, largest[:, layer, head], interval[:, layer, head], edges, shares[layer, head])

    return {
        "config.json": lambda: config, "scatter_data.json": lambda: scatter, "server_config.json": dict,
        "attributions/manifest.json": dict,
        **{f"heads/L{numbers[layer]}H{head}.json": of(layer, head) for layer, head in heads},
    }


def _metrics(stack: "Stack", sequences: list[Sequence]) -> dict[str, np.ndarray]:
    mean, rows = stack.mean_weight(), stack.rows.sum(0)[:, None]
    weight = stack.weight.sum((0, 2))
    first, last = (side.astype(float) for side in (stack.first_offset, stack.last_offset))
    squares = [(low * low + high * high + low * high + abs(high - low) / 2) / 3 for low, high in zip(abs(first), abs(last))]
    distance, square = (weight @ abs(first + last) / 2 / rows, weight @ np.array(squares) / rows)
    scores, queries = (sum(of) for of in zip(*(sequence.induction() for sequence in sequences)))
    at = {offset: mean[..., stack.first_offset.tolist().index(offset)] if offset in stack.first_offset else np.full(weight.shape[:2], np.nan)
          for offset in (0, -1)}
    return dict(zip(_METRICS, (at[0], at[-1], stack.entropy.sum(0) / rows, distance, square - distance ** 2,
                               scores / queries if queries else np.full(weight.shape[:2], np.nan))))


def _distances(stack: "Stack") -> tuple[list[int], np.ndarray]:
    """Edges 0, 1, 2, 4, ... of distances, and the share of attention between them, (layers, heads, edges - 1)."""
    nearest, farthest = stack._distances
    edges = np.array([0, *(1 << np.arange(int(farthest.max()).bit_length() + 1))])
    low, high = np.maximum(nearest[:, None], edges[:-1]), np.minimum(farthest[:, None] + 1, edges[1:])
    parts = np.maximum(high - low, 0) / (farthest - nearest + 1)[:, None]   # of each bin; weights within it are taken as even
    return edges.tolist(), stack.weight.sum((0, 2)) @ parts / stack.kept.sum(0)[..., None]


def _head(sequences: list[Sequence], layer: int, head: int, largest: np.ndarray, interval: np.ndarray, edges: list[int],
          shares: np.ndarray) -> dict[str, Any]:
    shown, by_query, by_key = [], defaultdict(float), defaultdict(float)
    for sequence, most, group in zip(sequences, largest, interval):
        query, key, weight = sequence.pairs(layer, head)
        shown.append({"sequence_id": sequence.number, "interval": int(group), "tokens": sequence.tokens,
                      "attention_indices": (query * sequence.length + key).tolist(),
                      "attention_values": np.round(weight.astype(float), 4).tolist(), "seq_len": sequence.length,
                      "max_activation": _number(most)})
        for side, positions in ((by_query, query), (by_key, key)):
            for position, value in zip(positions.tolist(), weight.tolist()):
                side[sequence.tokens[position]] += value
    counts, bounds = np.histogram(largest, 50, (0, 1))
    return {
        "sequences": shown,
        "qk_distance_histogram": {"bin_edges": edges, "bin_values": np.round(shares, 6).tolist()},
        "top_query_tokens": _most(by_query), "top_key_tokens": _most(by_key),
        "histogram": {"bin_edges": np.round(bounds, 4).tolist(), "bin_values": counts.tolist()},
        "statistics": {"n_samples": len(shown), "mean_max_activation": _number(largest.mean())},
    }


def _config(stack: "Stack", heads: list[list[int]], model: str, dataset: str, exact: int, about: dict[str, Any]) -> dict[str, Any]:
    length = int(stack.sequence_length.max())
    said = dict(_METRICS)
    if (distance := int(stack._distances.max())) > exact:
        for metric in ("qk_distance", "qk_distance_variance"):
            said[metric] += f" Of {distance} tokens; beyond {exact} weights within a bin are taken as even."
    about = {"model_name": model, "dataset_name": dataset or stack.digest or "unknown", "n_sequences": stack.documents, "seq_len": length,
             "dtype": stack.dtype, "attn_implementation": stack.implementation, **about}
    return {
        "model_name": model, "dataset_name": about["dataset_name"], "heads": heads, "n_layers": max(layer for layer, _ in heads) + 1,
        "n_heads": stack.heads, "n_intervals": INTERVALS, "metrics": list(_METRICS), "metric_descriptions": said,
        "head_data_pattern": "L{layer}H{head}.json", "has_umap": False, "umap_heads": [],
        "custom_plots": [{"key": "qk_distance_histogram", "label": "Share of attention by distance, all documents"},
                         {"key": "histogram", "label": "Largest weight of a sequence"}],
        "custom_tables": [{"key": "top_query_tokens", "label": "Top query tokens"}, {"key": "top_key_tokens", "label": "Top key tokens"}],
        "statistics_display": {"n_samples": {"label": "Sequences", "format": "default"},
                               "mean_max_activation": {"label": "Mean largest weight", "format": "default"}},
        "pipeline_config": about,
    }


def _most(weights: dict[str, float]) -> list[dict[str, Any]]:
    ranked = sorted(weights.items(), key=lambda one: -one[1])[:TOP_TOKENS]
    return [{"token": token, "weight": round(weight, 4)} for token, weight in ranked]


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
