"""What is no argument: an exception of headwave's own, in one line that names it."""

import numpy as np
import pytest

import headwave
from conftest import MODELS

MODEL = MODELS / "bert-mlm"
Q = np.random.default_rng(1).standard_normal((2, 20, 8))
IDS = np.random.default_rng(1).integers(3, 40, (3, 24))
HUGE = 2**70


def refused(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


@pytest.mark.parametrize("given, error, words", [
    (dict(window=-1), headwave.ShapeError, "window=-1: expected 0 or more"),
    (dict(window=2.5), headwave.FormatError, "window=2.5: expected a whole number"),
    (dict(window=HUGE), headwave.ShapeError, "window"),
    (dict(window=Q), headwave.FormatError, "window=.* of type ndarray"),
    (dict(scale=float("nan")), headwave.ShapeError, "scale=nan: expected a finite number"),
    (dict(scale="1"), headwave.FormatError, "scale='1': expected a number"),
    (dict(probe=3), headwave.FormatError, "probe is of type int"),
    (dict(mask="causl"), headwave.ShapeError, "expected 'causal'"),
    (dict(mask=np.full((20, 20), "a")), headwave.FormatError, "booleans or numbers"),
    (dict(mask=np.full((20, 20), np.nan)), headwave.NumericError, "mask holds NaN"),
    (dict(mask=np.full((20, 20), np.inf)), headwave.NumericError, "infinity"),
    (dict(mask=np.zeros((20, 20), complex)), headwave.FormatError, "complex128"),
])
def test_of_attend(given, error, words):
    refused(lambda: headwave.attend(Q, Q, Q, **given), error, words)


@pytest.mark.parametrize("q", [np.array(1.0), Q.astype(object), None, "abc", Q.astype("M8[s]"), np.zeros((0, 4, 4)), [[1, None], [2, 3]]])
def test_of_arrays(q):
    refused(lambda: headwave.attend(q, q), headwave.Error, "^q")
    refused(lambda: headwave.delay(q, q), headwave.Error, "^q")
    refused(lambda: headwave.spectrum(q), headwave.Error, "^positions")


def test_numbers_that_overflow_are_refused_and_do_not_become_nan():
    large = (Q * 1e30).astype("f4")
    refused(lambda: headwave.attend(large, large, Q.astype("f4")), headwave.NumericError, "too large for float32; .* or float64")
    assert np.isfinite(headwave.attend(large.astype("f8"), large, Q)).all()
    refused(lambda: headwave.attend(Q * 1e200, Q * 1e200, Q), headwave.NumericError, "too large for float64")
    seen = []
    refused(lambda: headwave.attend(large, large, probe=seen.append), headwave.NumericError, "too large for float32")
    assert seen == []


def test_of_attributes_that_are_passed_to_the_program():
    for value in ([1], None, 2**70):
        refused(lambda: headwave._core.profiles_input(("memory", {"special": value}, []), {}), headwave.FormatError,
                f"attribute 'special' is of type {type(value).__name__}; expected a str")


def test_of_what_is_small():
    refused(lambda: headwave.delay(Q, Q, reach=0), headwave.ShapeError, "reach=0: expected 1 or more")
    refused(lambda: headwave.delay(Q, Q, reach="a"), headwave.FormatError, "reach='a'")
    refused(lambda: headwave.open(3), headwave.FormatError, "open: path is of type int; expected a path")
    refused(lambda: headwave.open("a\0b"), headwave.FormatError, "NUL")
    refused(lambda: headwave.account(MODEL, ids=IDS, only=["measured_offset"]), headwave.FormatError, "account")


@pytest.mark.parametrize("given, error, words", [
    (dict(length=-3), headwave.ShapeError, "length=-3"),
    (dict(length="a"), headwave.FormatError, "length='a'"),
    (dict(reach=0), headwave.ShapeError, "reach=0"),
    (dict(draws=1), headwave.ShapeError, "draws=1: expected 3 to 100000"),
    (dict(level=3), headwave.ShapeError, "level=3"),
    (dict(seed=-1), headwave.ShapeError, "seed=-1"),
    (dict(threads=-1), headwave.ShapeError, "threads=-1"),
    (dict(progress=3), headwave.FormatError, "progress is of type int"),
])
def test_of_an_atlas(given, error, words):
    refused(lambda: headwave.atlas(MODEL, **given), error, words)


@pytest.mark.parametrize("given, error, words", [
    (dict(documents=0), headwave.ShapeError, "documents=0: expected 1 or more"),
    (dict(documents=1.5), headwave.FormatError, "documents=1.5"),
    (dict(documents="3"), headwave.FormatError, "documents='3'"),
    (dict(documents=True), headwave.FormatError, "documents=True"),
    (dict(documents=HUGE), headwave.ShapeError, "documents"),
    (dict(length=0), headwave.ShapeError, "length=0"),
    (dict(seed=-1), headwave.ShapeError, "seed=-1"),
    (dict(seed=2**64), headwave.ShapeError, "seed="),
    (dict(threads=2000), headwave.ShapeError, "threads=2000: expected 0 to 1024"),
    (dict(reach="5"), headwave.FormatError, "the option reach is '5'"),
    (dict(reach=5.5), headwave.FormatError, "the option reach is 5.5"),
    (dict(reach=True), headwave.FormatError, "the option reach is True"),
    (dict(reach=HUGE), headwave.FormatError, "the option reach is"),
    (dict(reach=Q), headwave.FormatError, "the option reach is of type ndarray"),
    (dict(level=float("nan")), headwave.ShapeError, "level is nan"),
    (dict(only=3), headwave.FormatError, "only=3: expected a list of names"),
    (dict(only=[3]), headwave.FormatError, "only"),
    (dict(only=["measured_ofset"]), headwave.ShapeError, "did you mean 'measured_offset'"),
    (dict(raech=3), TypeError, "no argument 'raech'; did you mean 'reach'"),
    (dict(nonsense=3), TypeError, r"no argument 'nonsense'; help\(headwave.run\) lists them"),
    (dict(interventions=["word-only"]), headwave.FormatError, "intervention word-only: .* did you mean 'words-only'"),
    (dict(interventions=3), headwave.FormatError, "interventions=3"),
    (dict(interventions=["shuffled-words"], shuffles=0), headwave.ShapeError, "shuffles=0"),
    (dict(progress=3), headwave.FormatError, "progress is of type int"),
    (dict(map=3), headwave.FormatError, "map is of type int; expected a path"),
    (dict(special_tokens=False), headwave.FormatError, "special_tokens does not apply to ids: ids get no special tokens"),
    (dict(shuffles=3), headwave.FormatError, "shuffles applies to interventions=.'shuffled-words'. only"),
    (dict(allow_unknown=True), headwave.FormatError, "allow_unknown applies to text only"),
    (dict(layer=0), headwave.FormatError, "layer applies to states only"),
    (dict(heads=4), headwave.FormatError, "heads applies to states only; a model says how many heads there are"),
])
def test_of_a_job(given, error, words):
    refused(lambda: headwave.run(MODEL, ids=IDS, **given), error, words)


@pytest.mark.parametrize("ids", [IDS[None], 3, -IDS, IDS + 2**40, IDS.astype("u8") + 2**63, ["a", "b"], [[1, 2], 3], [[1.5, 2], [3, 4]],
                                 [[3, None]], [[], [3, 4]], [[3], [4]], [{"source": [1, 2]}], IDS * 1.5, {}, pytest])
def test_of_ids(ids):
    refused(lambda: headwave.run(MODEL, ids=ids), headwave.Error, "ids")


@pytest.mark.parametrize("given, error, words", [
    (dict(model=3), headwave.FormatError, "model is of type int; expected a path"),
    (dict(text=3), headwave.FormatError, "text is of type int"),
    (dict(text=b"abc"), headwave.FormatError, "text is of type bytes"),
    (dict(text="wikitext-2/tst.txt"), headwave.FormatError, "'wikitext-2/tst.txt' looks like the name of a file, but there is no such file.*pathlib"),
    (dict(text="my texts/tst.txt"), headwave.FormatError, "looks like the name of a file"),
    (dict(text="tst.md"), headwave.FormatError, "looks like the name of a file"),
    (dict(text="half \ud800"), headwave.FormatError, "surrogate"),
    (dict(random_tokens=0), headwave.ShapeError, "random_tokens=0"),
    (dict(random_tokens="a"), headwave.FormatError, "random_tokens='a'"),
    (dict(random_tokens=2**40), headwave.ShapeError, "random_tokens"),
    (dict(random_tokens=400), headwave.ShapeError, "400 random tokens .* 24 positions"),
])
def test_of_a_source(given, error, words):
    source = {} if given.keys() & {"text", "random_tokens"} else {"ids": IDS}
    refused(lambda: headwave.run(**{"model": MODEL, **source, **given}), error, words)


@pytest.mark.parametrize("states, given, error, words", [
    ({1: Q}, {}, headwave.FormatError, "the name of an array is of type int"),
    ({"hidden_states": None}, {}, headwave.FormatError, "'hidden_states': holds object"),
    ({"hidden_states": Q.astype(complex)}, {}, headwave.FormatError, "complex128"),
    ({"queries/layer_0": Q, "keys/layer_0": Q}, {}, headwave.ShapeError, "num_heads.* give heads=N"),
    ({"queries/layer_0": Q, "keys/layer_0": Q[:, :10], "num_heads": 2}, {}, headwave.Error, "keys/layer_0"),
    ({"queries/layer_0": Q * np.nan, "keys/layer_0": Q, "num_heads": 2}, {}, headwave.Error, "NaN"),
    ({"queries/layer_0": Q, "keys/layer_0": Q}, dict(heads=3), headwave.ShapeError, "3 heads"),
    ({"queries/layer_0": Q, "keys/layer_0": Q}, dict(heads="2"), headwave.FormatError, "heads='2'"),
    (Q, dict(axes="token,width"), headwave.FormatError, "axes says the axes of dataset; give that too"),
    ({"x": Q}, dict(dataset="x", axes="some,other"), headwave.FormatError, "axes='some,other'"),
    (Q, {}, headwave.FormatError, "give model=DIR"),
    ("nothing.h5", {}, headwave.IoError, "nothing.h5"),
])
def test_of_states(states, given, error, words):
    refused(lambda: headwave.run(states=states, **given), error, words)


def test_an_array_that_claims_more_than_there_is_costs_nothing():
    claimed = np.lib.stride_tricks.as_strided(np.ones(1, "i8"), (2**40,), (0,))  # 8 TB, of 8 bytes
    with pytest.raises((headwave.Error, MemoryError)):
        headwave.attend(claimed, claimed)


@pytest.mark.parametrize("call, words", [
    (lambda: headwave.run("nowhere", txt="a"), "run: there is no argument 'txt'; did you mean 'text'?"),
    (lambda: headwave.account("nowhere", text="a b", lenght=9), "account: there is no argument 'lenght'; did you mean 'length'?"),
    (lambda: headwave.attend(Q, Q, maks="causal"), "attend: there is no argument 'maks'; did you mean 'mask'?"),
    (lambda: headwave.watch(None, nul=True), "watch: there is no argument 'nul'; did you mean 'null'?"),
    (lambda: headwave.open("nowhere", xyz=1), "open: there is no argument 'xyz'; help(headwave.open) lists them"),
])
def test_arguments_of_unknown_names_are_refused_with_the_nearest(call, words):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value) == words


def test_dir_shows_what_is_public():
    assert set(dir(headwave)) == {*headwave.__all__, "__version__"}
