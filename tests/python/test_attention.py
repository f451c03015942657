import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest

import headwave


def direct(q, k, v, added=0.0):
    """Attention of one head by its definition, in double."""
    scores = q.astype(float) @ k.astype(float).T / np.sqrt(q.shape[1]) + added
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return weights, weights @ v


def drawn(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-6), ("float32", 2e-6), ("float64", 1e-14)])
def test_attention_is_what_its_definition_says(dtype, tolerance):
    q, k, v = (drawn(4, 70, 8, seed=s).astype(dtype) for s in range(3))
    out = headwave.attend(q, k, v)
    assert out.dtype == ("float64" if dtype == "float64" else "float32") and out.shape == q.shape
    for head in range(4):
        assert np.abs(out[head] - direct(q[head], k[head], v[head])[1]).max() < tolerance


def test_masks_forbid_or_add():
    q, k, v = (drawn(2, 30, 8, seed=s) for s in range(3))
    lower = np.tril(np.ones((30, 30), bool))
    causal = headwave.attend(q, k, v, mask="causal")
    assert np.abs(causal[1] - direct(q[1], k[1], v[1], np.where(lower, 0, -np.inf))[1]).max() < 1e-14
    assert np.abs(headwave.attend(q, k, v, mask=lower) - causal).max() < 1e-15
    added = drawn(30, 30, seed=9)
    assert np.abs(headwave.attend(q, k, v, mask=added)[0] - direct(q[0], k[0], v[0], added)[1]).max() < 1e-14


def test_query_heads_share_key_heads():
    q, k, v = drawn(4, 20, 8), drawn(2, 20, 8, seed=2), drawn(2, 20, 5, seed=3)
    out = headwave.attend(q, k, v)
    assert out.shape == (4, 20, 5)
    assert np.abs(out[3] - direct(q[3], k[1], v[1])[1]).max() < 1e-14


def test_a_probe_sees_every_row_once():
    q, k = drawn(2, 100, 8), drawn(2, 100, 8, seed=2)
    rows = []
    assert headwave.attend(q, k, probe=lambda tile: rows.append((tile.first_row, tile.weights, tile.scores)), scores=True) is None
    weights = np.concatenate([of for _, of, _ in rows], axis=1)
    scores = np.concatenate([of for _, _, of in rows], axis=1)
    assert [first for first, _, _ in rows] == [0, 64]
    assert np.abs(weights[1] - direct(q[1], k[1], k[1])[0]).max() < 1e-14
    assert np.abs(scores[0] - q[0] @ k[0].T / np.sqrt(8)).max() < 1e-13


def test_what_a_probe_raises_comes_out():
    def refuse(tile):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        headwave.attend(drawn(1, 80, 4), drawn(1, 80, 4), probe=refuse)


def test_layouts_give_the_same_and_one_is_read_in_place():
    from headwave.arrays import side_by_side

    whole = drawn(40, 3, 8).astype("f4")  # tokens, heads, d: heads of a token side by side
    heads = whole.transpose(1, 0, 2)
    assert np.shares_memory(side_by_side(heads, heads.dtype), whole)
    frozen = heads.copy()
    frozen.flags.writeable = False
    want = headwave.attend(heads, heads, heads)
    for other in (frozen, np.asfortranarray(heads), heads[:, ::-1][:, ::-1], np.repeat(heads, 2, 2)[..., ::2]):
        assert np.array_equal(headwave.attend(other, other, other), want)


def layouts(values):
    """The same array in every layout that numpy has: axes in every order, forwards and backwards, sliced, ..."""
    for order in itertools.permutations(range(values.ndim)):
        for signs in itertools.product((1, -1), repeat=values.ndim):
            for gaps in 1 + np.eye(values.ndim + 1, values.ndim, dtype=int):
                memory = np.full([values.shape[axis] * gaps[axis] for axis in order], 99, values.dtype).transpose(np.argsort(order))
                view = memory[tuple(slice(None, None, gap) for gap in gaps)][tuple(slice(None, None, sign) for sign in signs)]
                view[...] = values
                yield f"axes {order}, signs {signs}, steps {gaps}", view
    wider = np.full([n + 3 for n in values.shape], 99, values.dtype)
    wider[tuple(slice(1, 1 + n) for n in values.shape)] = values
    yield "a part of a larger array", wider[tuple(slice(1, 1 + n) for n in values.shape)]
    yield "another byte order", values.astype(values.dtype.newbyteorder())
    frozen = values.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    memory = np.frombuffer(b"x" + values.tobytes(), values.dtype, offset=1).reshape(values.shape)
    yield "not aligned", memory
    for axis in range(values.ndim):  # which are no whole number of entries apart
        by_row = np.zeros(values.shape[axis], [("row", values.dtype, np.delete(values.shape, axis)), ("end", "u1")])
        by_row["row"] = np.moveaxis(values, axis, 0)
        yield f"records along axis {axis}", np.moveaxis(by_row["row"], 0, axis)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "i1", "u2", "i4", "i8"])
@pytest.mark.parametrize("which", ["q", "k", "v", "all"])
def test_every_layout_gives_what_numpy_computes(dtype, which):
    whole = (drawn(2, 5, 3) * 3).round(2 if dtype in ("f2", "f4", "f8", "g") else 0)
    given = {name: np.roll(abs(whole) if dtype == "u2" else whole, step, 1).astype(dtype) for step, name in enumerate("qkv")}
    want = headwave.attend(**given)
    tolerance = 1e-13 if dtype in ("f8", "g") else 1e-5
    for head in range(2):
        assert np.abs(want[head] - direct(*(of[head] for of in given.values()))[1]).max() < tolerance
    changed = {name: layouts(of) for name, of in given.items() if which in (name, "all")}
    for laid in zip(*changed.values(), strict=True):
        other = {name: of for name, (_, of) in zip(changed, laid, strict=True)}
        assert np.array_equal(headwave.attend(**{**given, **other}), want), laid[0][0]


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "f8", "i4"])
@pytest.mark.parametrize("of_q", ["f4", "f8"])
def test_every_layout_of_a_mask_gives_what_numpy_computes(dtype, of_q):
    q, k, v = (drawn(2, n, 3, seed=n).astype(of_q) for n in (5, 4, 4))
    mask = np.array(drawn(5, 4, seed=3) > -0.5 if dtype == "?" else (3 * drawn(5, 4, seed=3)).round(1), dtype)
    mask[:, 1] = True
    added = np.where(mask, 0, -np.inf) if dtype == "?" else mask
    want = headwave.attend(q, k, v, mask=mask)
    assert np.abs(want[1] - direct(q[1], k[1], v[1], added)[1]).max() < (1e-13 if of_q == "f8" else 1e-5)
    for about, other in layouts(mask):
        assert np.array_equal(headwave.attend(q, k, v, mask=other), want), about


def some(laid):
    """A third of the layouts, in which each kind is: a job takes longer than attention."""
    return itertools.islice(laid, 0, None, 3)


def traces_of(weights, **given):
    return headwave.run(states=(weights,), only=["measured_offset"], **given)["offset_trace"]


def test_layouts_of_other_arrays_give_the_same():
    q, k = drawn(2, 6, 4), drawn(2, 6, 4, seed=2)
    weights = np.exp(drawn(2, 6, 6))
    weights /= weights.sum(-1, keepdims=True)
    delay, spectrum = headwave.delay(q, k, reach=2)["coherence"], headwave.spectrum(q[0])["mean"]
    traces = traces_of(weights, reach=2)["mean_weight"]
    for about, other in some(layouts(q)):
        assert np.array_equal(headwave.delay(other, k, reach=2)["coherence"], delay), about
    for about, other in layouts(q[0]):
        assert np.array_equal(headwave.spectrum(other)["mean"], spectrum), about
    for about, other in some(layouts(weights)):
        assert np.array_equal(traces_of(other, reach=2)["mean_weight"], traces, equal_nan=True), about


def test_layouts_of_stored_arrays_give_the_same():
    states = {f"{name}/layer_0": drawn(1, 6, 8, seed=seed).astype("f4") for seed, name in enumerate(("queries", "keys"))}
    numbers = {"num_heads": 2, "causal": 0}
    want = headwave.run(states={**states, **numbers}, only=["attention_map"])["attention_map/weight"]
    for about, other in some(layouts(states["keys/layer_0"])):
        found = headwave.run(states={**states, **numbers, "keys/layer_0": other}, only=["attention_map"])["attention_map/weight"]
        assert np.array_equal(found, want), about


def test_cpp_takes_no_rows_with_gaps_between_their_numbers():
    rows = np.ones((6, 8), "f4")

    def attend(q, k=rows, v=rows, mask=None):
        return headwave._core.attend(q, k, v, mask, None, 2, 2, 0.5, False, 0, False)

    assert attend(rows).shape == attend(np.ones((12, 20), "f4")[::2, 2:10]).shape == (6, 8)
    for bad in (np.ones((6, 16), "f4")[:, ::2], np.ones((8, 6), "f4").T, rows[:, ::-1], rows[::-1], np.broadcast_to(rows[:1], (6, 8)),
                np.frombuffer(b"x" + rows.tobytes(), "f4", offset=1).reshape(6, 8)):
        for given in ({"q": bad}, {"q": rows, "k": bad}, {"q": rows, "v": bad}, {"q": rows, "mask": bad[:, :6]}):
            with pytest.raises(headwave.FormatError, match="side by side"):
                attend(**given)


@pytest.mark.parametrize("bad, error, words", [
    (lambda q: (q, q[:, :, :4]), headwave.ShapeError, "head widths"),
    (lambda q: (q[0, 0], q), headwave.ShapeError, "expected"),
    (lambda q: (q[:, :0], q), headwave.ShapeError, "each at least 1"),
    (lambda q: (np.where(q > 2, np.nan, q), q), headwave.NumericError, "q holds NaN"),
    (lambda q: (q.astype("U4"), q), headwave.FormatError, "expected real numbers"),
    (lambda q: (q.astype(complex), q), headwave.FormatError, "complex128"),
    (lambda q: ([[1, 2], [3]], q), headwave.ShapeError, "different lengths"),
])
def test_what_cannot_be_attended_is_refused_in_one_line(bad, error, words):
    with pytest.raises(error, match=words) as raised:
        headwave.attend(*bad(drawn(2, 60, 8)))
    assert "\n" not in str(raised.value) and isinstance(raised.value, (headwave.Error, ValueError))


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(headwave.ShapeError, match="expected \\(60, 60\\)"):
        headwave.attend(drawn(2, 60, 8), drawn(2, 60, 8), mask=np.ones((60, 59), bool))


def test_traces_find_where_attention_lands():
    weights = np.zeros((2, 40, 40))
    for i in range(40):
        weights[0, i, max(i - 3, 0)] = 1
    weights[1] = 1 / 40
    traces = traces_of(weights, reach=10)
    mean = np.asarray(traces["mean_weight"])[0, 0]
    offsets = np.asarray(traces["mean_weight"].coords["offset"])
    assert offsets[np.nanargmax(mean[0])] == -3
    assert np.allclose(mean[1][np.abs(offsets) < 30], 1 / 40, atol=1e-7)
    one = np.asarray(traces_of(weights[0], reach=10)["mean_weight"])[0, 0, 0]   # of a head alone
    assert np.allclose(one[:40], mean[0][:40]) and np.isnan(one[40:]).all()   # which is causal
    with pytest.raises(headwave.FormatError, match="'attentions/layer_0' has shape .2, 2, 2, 40, 40., expected"):
        traces_of(np.full((2, 2, 2, 40, 40), 1 / 40))
    with pytest.raises(headwave.FormatError, match="row 0 adds up to 2, expected 1"):
        headwave.run(states={"attentions/layer_0": weights[None] * 2}, only=["measured_offset"])


def test_a_delay_is_found_to_parts_of_a_token():
    x = drawn(128, 6)
    found = headwave.delay(x, np.roll(x, 5, axis=0))
    assert abs(float(found["offset"][0]) - 5) < 1e-6 and float(found["coherence"][0]) > 0.999999
    with pytest.raises(headwave.ShapeError, match="expected the same"):
        headwave.delay(x, x[:100])


def test_a_spectrum_has_the_lines_of_its_waves():
    n = np.arange(64)[:, None]
    table = np.cos(2 * np.pi * 5 * n / 64 + np.arange(3))
    amplitude = np.asarray(headwave.spectrum(table)["amplitude"])
    assert amplitude.shape == (33, 3) and np.allclose(amplitude[5], 32) and np.allclose(np.delete(amplitude, 5, 0), 0, atol=1e-12)
    with pytest.raises(headwave.NumericError):
        headwave.spectrum(np.full((8, 2), np.inf))


def test_other_threads_run_while_attention_is_computed():
    q = drawn(4, 3000, 32).astype("f4")
    ended = threading.Event()
    worker = threading.Thread(target=lambda: (headwave.attend(q, q, q), ended.set()))
    worker.start()
    turns = 0
    while not ended.wait(0.001):
        turns += 1
    worker.join()
    assert turns > 10


def test_ctrl_c_ends_attention_within_a_second():
    q = drawn(8, 20000, 64).astype("f4")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        headwave.attend(q, q, q)
    assert time.monotonic() - begun < 1.5
