"""States as people have them: each gives, to the bit, what the same numbers give in the program's own formats."""

import shutil

import numpy as np
import pytest

import headwave
from conftest import MODELS
from test_jobs import same

T, WIDTH = 40, 16


def states():
    """Queries and keys of three documents in two layers, with what lies beside them."""
    rng = np.random.default_rng(1)
    arrays = {f"{word}/layer_{layer}": rng.standard_normal((3, T, WIDTH)).astype("f4") for layer in range(2) for word in ("queries", "keys")}
    beside = {"tokens": np.array([[f"t{i}" for i in range(T)]] * 3), "ids": rng.integers(0, 99, (3, T))}
    return arrays | beside


NUMBERS = {"num_heads": 2, "causal": 1}
ONLY = ["measured_offset", "attention_map"]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The result of the same states in a folder of .npy files, which the program reads."""
    folder = tmp_path_factory.mktemp("npy")
    for name, of in (states() | NUMBERS).items():
        np.save(folder / f"{name.replace('/', '_')}.npy", of)
    return headwave.run(states=folder, only=ONLY)


def of_states(given):
    return headwave.run(states=given, only=ONLY)


def written_zarr(zarr, where, **given):
    group = zarr.open_group(str(where), mode="w", **given)
    for name, of in states().items():
        group.create_array(name, shape=of.shape, dtype=str if of.dtype.kind == "U" else of.dtype, chunks=(1, *of.shape[1:]))
        group[name][...] = of.astype(object) if of.dtype.kind == "U" else of
    group.attrs.update(NUMBERS)
    return group


@pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification")
@pytest.mark.parametrize("version", [2, 3])
def test_a_store_of_zarr_is_read_document_by_document(tmp_path, expected, version):
    zarr = pytest.importorskip("zarr")
    group = written_zarr(zarr, tmp_path / "states.zarr", zarr_format=version)
    same(of_states(group), expected)


@pytest.mark.parametrize("filters", [dict(compression="lzf"), dict(compression="lzf", shuffle=True)])
def test_an_hdf5_file_is_read_whatever_packed_it(tmp_path, expected, filters):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "states.h5", "w") as file:
        for name, of in states().items():
            file.create_dataset(name, data=of.astype(object) if of.dtype.kind == "U" else of, dtype=h5py.string_dtype() if of.dtype.kind == "U" else None,
                                **({} if of.dtype.kind == "U" else filters | {"chunks": (1, *of.shape[1:])}))
        file.attrs.update(NUMBERS)
    with pytest.raises(headwave.FormatError, match="expected no filter but shuffle, gzip and fletcher32"):
        of_states(tmp_path / "states.h5")
    with h5py.File(tmp_path / "states.h5") as file:
        same(of_states(file), expected)


class Counted:
    """An array of a file that notes what is read of it."""

    chunks = (1, T, T)

    def __init__(self, array):
        self.array, self.most = array, 0

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)

    def __getitem__(self, place):
        read = self.array[place]
        self.most = max(self.most, read.size)
        return read


def test_no_more_than_a_document_is_read_at_a_time(expected):
    arrays = {name: of if of.ndim < 3 else Counted(of) for name, of in states().items()} | NUMBERS
    same(of_states(arrays), expected)
    assert {of.most for of in arrays.values() if isinstance(of, Counted)} == {T * WIDTH}
    attention = Counted(np.full((5, 2, T, T), 1 / T, "f4"))
    headwave.run(states={"attentions/layer_0": attention}, only=["measured_offset"])
    assert attention.most == 2 * T * T


@pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification")
def test_an_array_of_zarr_is_taken(tmp_path):
    zarr = pytest.importorskip("zarr")
    weights = np.random.default_rng(1).random((2, 3, 2, 20, 20)).astype("f4")
    weights /= weights.sum(-1, keepdims=True)
    store = zarr.create_array(str(tmp_path / "attentions.zarr"), data=weights, chunks=(1, 1, 2, 20, 20))
    np.savez(tmp_path / "states.npz", attentions=weights)
    theirs = headwave.run(states=tmp_path / "states.npz", only=["measured_offset"])
    same(headwave.run(states={"attentions": store}, only=["measured_offset"]), theirs)
    shutil.rmtree(tmp_path / "attentions.zarr" / "c" / "1")   # chunks that are missing are zeros
    with pytest.raises(headwave.Error, match="attentions"):
        headwave.run(states={"attentions": store}, only=["measured_offset"])


def test_half_precision_and_integers_are_those_of_npy(tmp_path):
    rng = np.random.default_rng(1)
    for number, dtype in enumerate(("f2", "f8", ">f4", "i2")):
        array = (100 * rng.standard_normal((3, 20, 24))).astype(dtype)
        np.savez(tmp_path / f"{number}.npz", hidden_states=array)
        lazily = Counted(array)
        given = dict(any_states=True, only=["measured_offset"])
        same(headwave.run(MODELS / "bert-mlm", states={"hidden_states": lazily}, **given),
             headwave.run(MODELS / "bert-mlm", states=tmp_path / f"{number}.npz", **given))


def test_what_no_library_can_read_is_refused_in_one_line():
    class Broken(Counted):
        def __getitem__(self, place):
            raise OSError("chunk 3 is damaged\nand more")

    with pytest.raises(headwave.IoError, match="'keys/layer_0': cannot be read: chunk 3 is damaged$"):
        of_states({name: of if name != "keys/layer_0" else Broken(of) for name, of in states().items()} | NUMBERS)
    with pytest.raises(headwave.FormatError, match="'hidden_states': holds complex64"):
        headwave.run(MODELS / "bert-mlm", states=Counted(np.zeros((2, 4, 24), "c8")))
    with pytest.raises(headwave.ShapeError, match="there is nothing in it"):
        headwave.run(MODELS / "bert-mlm", states=Counted(np.zeros((0, 4, 24), "f4")))
