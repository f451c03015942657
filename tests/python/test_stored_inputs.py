"""States, ids and weights as people have them: each gives, to the bit, what the same numbers give in the program's own formats."""

import json
import pathlib
import pickle
import shutil
import sys

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
    for given in (tmp_path / "states.zarr", str(tmp_path / "states.zarr"), group):
        found = of_states(given)
        same(found, expected)
    assert of_states(tmp_path / "states.zarr").provenance["source_file"] == str(tmp_path / "states.zarr")


@pytest.mark.parametrize("filters", [dict(compression="lzf"), dict(compression="gzip", scaleoffset=None), dict(compression="lzf", shuffle=True)])
def test_an_hdf5_file_is_read_whatever_packed_it(tmp_path, expected, filters):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "states.h5", "w") as file:
        for name, of in states().items():
            file.create_dataset(name, data=of.astype(object) if of.dtype.kind == "U" else of, dtype=h5py.string_dtype() if of.dtype.kind == "U" else None,
                                **({} if of.dtype.kind == "U" else filters | {"chunks": (1, *of.shape[1:])}))
        file.attrs.update(NUMBERS)
    found = of_states(tmp_path / "states.h5")
    same(found, expected)
    assert found.provenance["source_sha256"].endswith("  states.h5")
    with h5py.File(tmp_path / "states.h5") as file:
        same(of_states(file), expected)


def test_a_filter_that_is_not_installed_is_named(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "states.h5", "w") as file:
        file.create_dataset("hidden_states", data=np.ones((2, 8, 24), "f4"), compression="lzf", chunks=(1, 8, 24))
    monkeypatch.setattr(h5py.h5z, "filter_avail", lambda number: number != 32000)
    with pytest.raises(headwave.FormatError, match="states.h5: packed by HDF5's filter 32000, which h5py lacks here; pip install hdf5plugin"):
        headwave.run(MODELS / "bert-mlm", states=tmp_path / "states.h5", any_states=True)


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
def test_an_array_of_zarr_is_known_by_the_name_of_its_store(tmp_path):
    zarr = pytest.importorskip("zarr")
    weights = np.random.default_rng(1).random((2, 3, 2, 20, 20)).astype("f4")
    weights /= weights.sum(-1, keepdims=True)
    store = zarr.create_array(str(tmp_path / "attentions.zarr"), data=weights, chunks=(1, 1, 2, 20, 20))
    np.savez(tmp_path / "states.npz", attentions=weights)
    theirs = headwave.run(states=tmp_path / "states.npz", only=["measured_offset"])
    same(headwave.run(states=tmp_path / "attentions.zarr", only=["measured_offset"]), theirs)
    same(headwave.run(states={"attentions": store}, only=["measured_offset"]), theirs)
    shutil.rmtree(tmp_path / "attentions.zarr" / "c" / "1")   # chunks that are missing are zeros
    with pytest.raises(headwave.Error, match="attentions"):
        headwave.run(states=tmp_path / "attentions.zarr", only=["measured_offset"])


def test_half_precision_and_integers_are_those_of_npy(tmp_path):
    rng = np.random.default_rng(1)
    for number, dtype in enumerate(("f2", "f8", ">f4", "i2")):
        array = (100 * rng.standard_normal((3, 20, 24))).astype(dtype)
        np.savez(tmp_path / f"{number}.npz", hidden_states=array)
        lazily = Counted(array)
        given = dict(any_states=True, only=["measured_offset"])
        same(headwave.run(MODELS / "bert-mlm", states={"hidden_states": lazily}, **given),
             headwave.run(MODELS / "bert-mlm", states=tmp_path / f"{number}.npz", **given))


def test_what_no_library_can_read_is_refused_in_one_line(tmp_path, monkeypatch):
    class Broken(Counted):
        def __getitem__(self, place):
            raise OSError("chunk 3 is damaged\nand more")

    with pytest.raises(headwave.IoError, match="'keys/layer_0': cannot be read: chunk 3 is damaged$"):
        of_states({name: of if name != "keys/layer_0" else Broken(of) for name, of in states().items()} | NUMBERS)
    with pytest.raises(headwave.FormatError, match="'hidden_states': holds complex64"):
        headwave.run(MODELS / "bert-mlm", states=Counted(np.zeros((2, 4, 24), "c8")))
    with pytest.raises(headwave.ShapeError, match="there is nothing in it"):
        headwave.run(MODELS / "bert-mlm", states=Counted(np.zeros((0, 4, 24), "f4")))
    (tmp_path / "states.zarr").mkdir()
    (tmp_path / "states.zarr" / "zarr.json").write_text("{")
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(headwave.FormatError, match="pip install zarr"):
        of_states(tmp_path / "states.zarr")


def shards(folder, arrays, metadata):
    """Two safetensors files and their index, as save_pretrained() lays out a large model."""
    from safetensors.numpy import save_file

    names = sorted(arrays)
    where = {name: f"states-{1 + i % 2:05}-of-00002.safetensors" for i, name in enumerate(names)}
    for shard in sorted(set(where.values())):
        save_file({name: arrays[name] for name in names if where[name] == shard}, folder / shard, metadata)
    (folder / "states.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": where}))
    return folder / "states.safetensors.index.json"


def test_shards_of_safetensors_are_read_by_their_index(program, tmp_path):
    pytest.importorskip("safetensors")
    arrays = {name: of for name, of in states().items() if of.dtype.kind != "U"}
    np.savez(tmp_path / "states.npz", **arrays, **NUMBERS)
    theirs = of_states(tmp_path / "states.npz")
    folder = tmp_path / "sharded"
    folder.mkdir()
    index = shards(folder, arrays, {name: str(of) for name, of in NUMBERS.items()})
    same(of_states(folder), theirs)
    same(of_states(index), theirs)
    program("run", "--states", folder, "--only", ",".join(ONLY), "--no-figures", "--out", tmp_path / "out")
    same(headwave.open(tmp_path / "out"), theirs)
    index.write_text(index.read_text().replace('"keys/layer_0"', '"keys/layer_7"'))
    with pytest.raises(headwave.FormatError, match="tensor 'keys/layer_7' is said to be in states-0000.-of-00002.safetensors, which does not hold it"):
        of_states(folder)
    (folder / "states-00002-of-00002.safetensors").unlink()
    with pytest.raises(headwave.IoError, match="states-00002-of-00002.safetensors"):
        of_states(folder)


IDS = np.random.default_rng(2).integers(3, 40, (3, 24)).tolist()


def offsets(ids, **given):
    return headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"], **given)


def test_columns_of_arrow_are_ids(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    theirs, two = offsets(IDS), offsets(IDS[:2])
    table = pyarrow.table({"text": ["a", "b", "c"], "input_ids": IDS, "attention_mask": np.ones((3, 24), int).tolist()})
    parquet.write_table(table, tmp_path / "ids.parquet", row_group_size=2)
    feather.write_feather(table, tmp_path / "ids.feather")
    with pyarrow.ipc.new_stream(tmp_path / "ids.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=1)
    for given in (table.column("input_ids"), table.column("input_ids").combine_chunks(), table, tmp_path / "ids.parquet",
                  str(tmp_path / "ids.feather"), tmp_path / "ids.arrow"):
        same(offsets(given), theirs)
        same(offsets(given, documents=2), two)
    with pytest.raises(headwave.Error, match="holds 3 documents, 4 were asked for"):
        offsets(table, documents=4)
    long = [i for one in IDS for i in one]
    same(offsets(pyarrow.array(long), length=24), offsets(long, length=24))
    same(offsets(pyarrow.table({"ids": long}), length=24), offsets(long, length=24))
    with pytest.raises(headwave.FormatError, match="there is no 'input_ids'; .*there are a, b; give the column"):
        offsets(pyarrow.table({"a": IDS, "b": IDS}))
    with pytest.raises(headwave.ShapeError, match="ids"):
        offsets(pyarrow.table({"input_ids": ["a", "b"]}))
    (tmp_path / "no.parquet").write_text("nothing")
    with pytest.raises(headwave.IoError, match="no.parquet: cannot be read as a table"):
        offsets(tmp_path / "no.parquet")
    with pytest.raises(headwave.IoError, match="there is no such file"):
        offsets(tmp_path / "nowhere.parquet")


def test_padding_that_a_table_marks_is_left_out(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    padded = [[0] * 4 + one[:20] for one in IDS]                       # on the left
    table = pyarrow.table({"input_ids": padded, "attention_mask": [[0] * 4 + [1] * 20] * 3})
    same(offsets(table), offsets([one[:20] for one in IDS]))


def test_datasets_are_ids(tmp_path):
    datasets = pytest.importorskip("datasets")
    theirs, two = offsets(IDS), offsets(IDS[:2])
    dataset = datasets.Dataset.from_dict({"input_ids": IDS, "text": ["a", "b", "c"]})
    datasets.disable_progress_bars()
    dataset.save_to_disk(tmp_path / "saved")
    for given in (dataset, dataset["input_ids"], dataset.with_format("numpy"), dataset.with_format("numpy")["input_ids"],
                  dataset.to_iterable_dataset(), tmp_path / "saved"):
        same(offsets(given), theirs)
        same(offsets(given, documents=2), two)
    with pytest.raises(headwave.FormatError, match="give one of them: ids=datasets\\['train'\\]"):
        offsets(datasets.DatasetDict(train=dataset))


def test_series_of_pandas_and_polars_are_ids():
    pandas = pytest.importorskip("pandas")
    same(offsets(pandas.Series(IDS, index=[7, 8, 9])), offsets(IDS))
    same(offsets(pandas.Series(IDS), documents=2), offsets(IDS[:2]))
    polars = pytest.importorskip("polars")
    same(offsets(polars.Series("ids", IDS), documents=2), offsets(IDS[:2]))


def test_columns_go_through_a_model_of_pytorch():
    pyarrow, transformers = pytest.importorskip("pyarrow"), pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(MODELS / "gpt2").eval()
    same(headwave.run(model, ids=pyarrow.table({"input_ids": IDS}), only=["measured_offset"]), headwave.run(model, ids=IDS, only=["measured_offset"]))


@pytest.fixture()
def pickled(tmp_path):
    """A model whose weights are a pickle of PyTorch, as one file or two."""
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    def made(shards):
        folder = tmp_path / f"pickled-{shards}"
        shutil.copytree(MODELS / "bert-mlm", folder, ignore=shutil.ignore_patterns("*.safetensors"))
        weights = list(load_file(MODELS / "bert-mlm" / "model.safetensors").items())
        if shards == 1:
            torch.save(dict(weights), folder / "pytorch_model.bin")
            return folder
        where = {name: f"pytorch_model-0000{1 + i % 2}-of-00002.bin" for i, (name, _) in enumerate(weights)}
        for file in set(where.values()):
            torch.save({name: of for name, of in weights if where[name] == file}, folder / file)
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": where}))
        return folder

    return made


@pytest.mark.parametrize("shards", [1, 2])
def test_a_pickled_model_is_read_as_tensors_alone(pickled, shards):
    folder = pickled(shards)
    with pytest.warns(UserWarning, match="torch.load\\(weights_only=True\\)"):
        ours = headwave.run(folder, ids=IDS)
    same(ours, headwave.run(MODELS / "bert-mlm", ids=IDS))
    name = "pytorch_model.bin" if shards == 1 else "pytorch_model.bin.index.json"
    assert ours.provenance["model"] == str(folder / name)
    same(headwave.atlas(folder, passes=0, draws=5), headwave.atlas(MODELS / "bert-mlm", passes=0, draws=5))
    assert not list(folder.glob("*.safetensors"))
    if shards == 1:
        same(headwave.run(folder / "pytorch_model.bin", ids=IDS), ours)
        assert [one for one in sorted(file.name for file in folder.iterdir())] == ["config.json", "pytorch_model.bin"]


class Runs:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path("run-by-a-pickle"),)


def test_a_pickle_that_would_run_code_is_refused(tmp_path, monkeypatch, pickled):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    folder = pickled(1)
    torch.save({"a": Runs()}, folder / "pytorch_model.bin")
    with pytest.warns(UserWarning), pytest.raises(headwave.FormatError, match="holds more than tensors"):
        headwave.run(folder, ids=IDS)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Runs()}))
    with pytest.warns(UserWarning), pytest.raises(headwave.Error, match="pytorch_model.bin"):
        headwave.run(folder, ids=IDS)
    assert not pathlib.Path("run-by-a-pickle").exists()
    torch.save([1, 2], folder / "pytorch_model.bin")
    with pytest.warns(UserWarning), pytest.raises(headwave.FormatError, match="is no dict of tensors by name"):
        headwave.run(folder, ids=IDS)
    monkeypatch.setitem(sys.modules, "torch", None)
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(headwave.FormatError, match="pip install torch"):
        headwave.run(folder, ids=IDS)


def test_shards_of_a_pickle_are_those_of_its_folder(pickled):
    folder = pickled(2)
    (folder / "pytorch_model-00002-of-00002.bin").unlink()
    with pytest.raises(headwave.IoError, match="pytorch_model-00002-of-00002.bin: there is no such file, but"):
        headwave.run(folder, ids=IDS)
    (folder / "pytorch_model.bin.index.json").write_text('{"weight_map": {"a": "../b.bin"}}')
    with pytest.raises(headwave.FormatError, match="a file in the same folder"):
        headwave.run(folder, ids=IDS)
