"""States in memory give, to the bit, what the same numbers give in the program's own formats."""

import numpy as np
import pytest

import headwave
from conftest import MODELS
from test_jobs import same

T, WIDTH = 40, 16
NUMBERS = {"num_heads": 2, "causal": 1}


def states():
    """Queries and keys of three documents in two layers, with what lies beside them."""
    rng = np.random.default_rng(1)
    arrays = {f"{word}/layer_{layer}": rng.standard_normal((3, T, WIDTH)).astype("f4") for layer in range(2) for word in ("queries", "keys")}
    beside = {"tokens": np.array([[f"t{i}" for i in range(T)]] * 3), "ids": rng.integers(0, 99, (3, T))}
    return arrays | beside | NUMBERS


def test_a_dict_of_arrays_is_a_folder_of_npy_files(tmp_path):
    for name, of in states().items():
        np.save(tmp_path / f"{name.replace('/', '_')}.npy", of)
    given = dict(only=["measured_offset", "attention_map"])
    same(headwave.run(states=states(), **given), headwave.run(states=tmp_path, **given))


def test_half_precision_and_integers_are_those_of_npy(tmp_path):
    rng = np.random.default_rng(1)
    for number, dtype in enumerate(("f2", "f8", ">f4", "i2")):
        array = (100 * rng.standard_normal((3, 20, 24))).astype(dtype)
        np.savez(tmp_path / f"{number}.npz", hidden_states=array)
        given = dict(any_states=True, only=["measured_offset"])
        same(headwave.run(MODELS / "bert-mlm", states={"hidden_states": array}, **given),
             headwave.run(MODELS / "bert-mlm", states=tmp_path / f"{number}.npz", **given))


def test_what_holds_no_numbers_is_refused():
    with pytest.raises(headwave.FormatError, match="'hidden_states': holds complex64"):
        headwave.run(MODELS / "bert-mlm", states=np.zeros((2, 4, 24), "c8"))
    with pytest.raises(headwave.ShapeError, match="'.*' is empty: its shape is"):
        headwave.run(MODELS / "bert-mlm", states=np.zeros((0, 4, 24), "f4"))
    with pytest.raises(headwave.FormatError, match="'num_heads' is nan; expected a finite number"):
        headwave.run(states=states() | {"num_heads": np.nan})
