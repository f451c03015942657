"""What other tools hold, by the names and shapes that they document."""

import numpy as np
import pytest

import headwave


def drawn():
    """Queries and keys, (documents, T, heads, d_head), and their causal attention, of two layers."""
    rng = np.random.default_rng(1)
    layers = []
    for _ in range(2):
        q, k = rng.standard_normal((2, 3, 20, 2, 8)).astype("f4")
        scores = np.einsum("nihd,njhd->nhij", q, k) / np.sqrt(8)
        scores = np.where(np.tril(np.ones((20, 20), bool)), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        layers.append((q, k, (weights / weights.sum(-1, keepdims=True)).astype("f4")))
    return layers


def maps(states):
    result = headwave.run(states=states, only=["attention_map", "measured_offset"])
    assert result["measured_offset/offset"].shape == (3, 2, 2)
    return np.asarray(result["attention_map/weight"])


WANT = np.concatenate([weights[0] for _, _, weights in drawn()])


def test_a_tuple_of_attentions_is_taken():
    assert np.abs(maps(tuple(weights for _, _, weights in drawn())) - WANT).max() < 1e-6


def test_a_dict_of_arrays_is_taken():
    states = {"num_heads": 2, "causal": 1}
    for layer, (q, k, _) in enumerate(drawn()):
        states[f"queries/layer_{layer}"], states[f"keys/layer_{layer}"] = q.reshape(3, 20, 16), k.reshape(3, 20, 16)
    assert np.abs(maps(states) - WANT).max() < 1e-6


def test_tensors_of_pytorch_are_taken():
    torch = pytest.importorskip("torch")
    attentions = tuple(torch.from_numpy(weights).requires_grad_() for _, _, weights in drawn())
    assert np.abs(maps(attentions) - WANT).max() < 1e-6
    q, k, _ = (torch.from_numpy(of).to(torch.bfloat16) if of.ndim == 4 else of for of in drawn()[0])
    assert headwave.attend(q[0].transpose(0, 1), k[0].transpose(0, 1), k[0].transpose(0, 1)).shape == (2, 20, 8)


def test_a_dict_of_dicts_is_taken():
    layers = {f"layer_{layer}": weights for layer, (_, _, weights) in enumerate(drawn())}
    assert np.abs(maps({"attentions": layers}) - WANT).max() < 1e-6


def test_a_file_with_an_unknown_filter_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "states.h5", "w") as file:
        file.create_dataset("attentions/layer_0", data=drawn()[0][2], compression="lzf")
    with pytest.raises(headwave.FormatError, match="lzf.*expected no filter but shuffle, gzip and fletcher32: write it again with h5py"):
        maps(tmp_path / "states.h5")


def test_hard_attention_is_no_padding():
    weights = np.zeros((1, 2, 12, 12), "f4")
    weights[0, :, np.arange(12), np.maximum(np.arange(12) - 1, 0)] = 1  # no head looks at the last token
    headwave.run(states=(weights,), only=["measured_offset"])
    headwave.run(states=(np.full((1, 2, 12, 12), 1 / 12, "f4"),), only=["measured_offset"])


def test_an_archive_is_taken(tmp_path):
    np.savez(tmp_path / "states.npz", attentions=np.stack([weights for _, _, weights in drawn()]))
    with np.load(tmp_path / "states.npz") as archive:
        assert np.abs(maps(archive) - WANT).max() < 1e-6
