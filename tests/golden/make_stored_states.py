"""Makes tests/golden/stored/*.h5: stored queries, keys and states, sound and malformed, for tests/data/stored_states_test.

    python make_stored_states.py FOLDER

Written with h5py 3.16.0 and numpy 2.4.6. causal.h5 carries the attention that numpy computes in double from its queries and
keys, under its own mask and scale.
"""
import pathlib
import sys

import h5py
import numpy as np

DOCUMENTS, T, HEADS, D_HEAD = 2, 7, 2, 3
WIDTH = HEADS * D_HEAD


def attention(query, key, causal, scale):
    """(T, width) each -> (heads, T, T)."""
    weights = []
    for h in range(HEADS):
        columns = slice(h * D_HEAD, (h + 1) * D_HEAD)
        scores = scale * query[:, columns].astype(np.float64) @ key[:, columns].astype(np.float64).T
        if causal:
            scores[np.triu_indices(T, 1)] = -np.inf
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights.append(scores / scores.sum(axis=1, keepdims=True))
    return np.stack(weights)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def write(path, arrays, attributes):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
        for name, value in attributes.items():
            file.attrs[name] = value


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    query, key = numbers(1, DOCUMENTS, T, WIDTH), numbers(2, DOCUMENTS, T, WIDTH)
    pair = {"queries/layer_1": query, "keys/layer_1": key}
    said = {"num_heads": HEADS, "head_dim": D_HEAD, "causal": True, "score_scale": np.float32(0.25)}
    reference = np.stack([attention(query[d], key[d], True, 0.25) for d in range(DOCUMENTS)])
    tokens = np.array([f"w{i}" for i in range(T)], dtype=h5py.string_dtype())
    write(folder / "causal.h5", pair | {"tokens": tokens, "reference/layer_1/attention": reference}, said)

    write(folder / "causal_two.h5", pair, said | {"causal": 2})
    write(folder / "causal_text.h5", pair, said | {"causal": "yes"})
    write(folder / "scale_negative.h5", pair, said | {"score_scale": -0.25})
    write(folder / "head_dim_other.h5", pair, said | {"head_dim": 4})
    write(folder / "heads_not_dividing.h5", pair, {"num_heads": 4})
    write(folder / "no_keys.h5", {"queries/layer_1": query}, said)
    write(folder / "documents_differ.h5", {"queries/layer_0": query, "keys/layer_0": key[:1]}, said)
    write(folder / "one_axis.h5", {"hidden_states/layer_0": query[0, 0]}, said)
    write(folder / "not_a_group.h5", {"hidden_states": query}, said)
    write(folder / "tokens_short.h5", pair | {"tokens": tokens[:3]}, said)
    query_nan = query.copy()
    query_nan[1, 2, 3] = np.nan
    write(folder / "not_finite.h5", {"queries/layer_1": query_nan, "keys/layer_1": key}, said)
    with h5py.File(folder / "documents_promised.h5", "w") as file:
        file.attrs.update(said)
        for name, values in {"queries/layer_0": query, "keys/layer_0": key}.items():
            chunks = (1, *values.shape[1:])
            stored = file.create_dataset(name, (1 << 33, *values.shape[1:]), "f4", chunks=chunks)
            stored[:2] = values


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
