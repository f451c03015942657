"""Makes hdf5_sample.h5, hdf5_packed.h5, hdf5_late.h5 and hdf5_hostile.h5: HDF5 files as h5py writes them, and as nobody
should. Makes also result_unfinished.h5, result_newer.h5 and result_no_scales.h5, which are no results.

Usage: python make_hdf5_samples.py FOLDER
Made with h5py 3.16.0 (HDF5 2.0.0), numpy 2.4.6.
"""

import sys
import zlib
from pathlib import Path

import h5py
import numpy as np


def sample(path):
    with h5py.File(path, "w", libver="earliest") as f:
        f.attrs["made_with"] = f"h5py {h5py.__version__}, numpy {np.__version__}, HDF5 {h5py.version.hdf5_version}"
        f.attrs["num_heads"] = np.int32(12)
        f.attrs["rate"] = 0.25
        f.attrs["offsets"] = np.array([-1.5, 0.0, 2.0])
        f.attrs["names"] = ["left", "right"]
        f.attrs["fixed"] = np.bytes_("fixed length")
        f.attrs["big"] = np.uint64(2**63 + 2**11)
        f.attrs["pair"] = np.array((1, 2.0), dtype=[("a", "i4"), ("b", "f8")])
        numbers = f.create_group("numbers")
        values = np.arange(24, dtype="f8").reshape(2, 3, 4) / 4
        for dtype in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<i2", ">i4", "<u8", "i1"):
            numbers.create_dataset(dtype.replace("<", "le_").replace(">", "be_"), data=values.astype(dtype))
        numbers.create_dataset("gzip", data=values, chunks=(1, 2, 3), compression="gzip", shuffle=True, fletcher32=True)
        numbers.create_dataset("lzf", data=values, chunks=(1, 2, 3), compression="lzf")
        numbers.create_dataset("plain_chunks", data=values, chunks=(2, 3, 1))
        numbers.create_dataset("compact_scalar", data=2.5)
        numbers.create_dataset("nothing", data=h5py.Empty("f4"))
        numbers.create_dataset("no_rows", data=np.zeros((0, 3)))
        numbers.create_dataset("unwritten", shape=(5,), dtype="f4", fillvalue=7)
        numbers.create_dataset("too_big", data=np.array([1, 2**63], dtype="u8"))
        numbers.create_dataset("flags", data=np.array([True, False, True]))
        numbers.create_dataset("complex", data=np.array([1 + 2j]))
        texts = f.create_group("texts")
        texts.create_dataset("variable", data=["[CLS]", "Wörter", ""], dtype=h5py.string_dtype())
        texts.create_dataset("fixed", data=np.array([b"ab", b"cde"], dtype="S4"))
        links = f.create_group("links")
        links["again"] = f["numbers"]
        links["cycle"] = f["/"]
        links["soft"] = h5py.SoftLink("/numbers/le_f4")
        links["dangling"] = h5py.SoftLink("/nowhere")
        links["outside"] = h5py.ExternalLink("other.h5", "/x")
        links["soft_outside"] = h5py.SoftLink("/links/outside")
        scaled = f.create_group("scaled")
        data = scaled.create_dataset("data", data=np.zeros((2, 3)))
        scaled["row"] = np.array([10.0, 20.0])
        scaled["row"].make_scale("row")
        data.dims[0].attach_scale(scaled["row"])
    with h5py.File(path, "r+") as f:
        ordered = f.create_group("ordered", track_order=True)
        for name in ("zebra", "ant", "mole"):
            ordered[name] = 1


def packed(path):
    """Chunks that do not divide the shape: entry [i, j, k] of every dataset is (21 i + 3 j + k) / 4, where it was written."""
    values = np.arange(105, dtype="f8").reshape(5, 7, 3) / 4
    with h5py.File(path, "w", libver="earliest") as f:
        for name, filters in {
            "plain": {},
            "gzip": dict(compression="gzip"),
            "shuffle": dict(compression="gzip", shuffle=True),
            "checked": dict(compression="gzip", shuffle=True, fletcher32=True),
        }.items():
            group = f.create_group(name)
            for dtype in ("<f2", "<f4", ">f4", "<f8", "<i2", ">i4", "<i8"):
                as_stored = (4 * values if dtype[1] == "i" else values).astype(dtype)
                group.create_dataset(
                    dtype.replace("<", "le_").replace(">", "be_"), data=as_stored, chunks=(2, 3, 2), **filters
                )
        holes = f.create_dataset(
            "holes", values.shape, "<f4", chunks=(2, 3, 2), fillvalue=7, compression="gzip", shuffle=True
        )
        holes[:2] = values[:2]
        plain = f.create_dataset("one_chunk_plain", data=values.astype("<f4"), chunks=(2, 3, 2), compression="gzip")
        plain.id.write_direct_chunk((0, 0, 0), values[:2, :3, :2].astype("<f4").tobytes(), filter_mask=1)


def late(path):
    """The same numbers behind 512 bytes of something else."""
    values = np.arange(105, dtype="f8").reshape(5, 7, 3) / 4
    with h5py.File(path, "w", libver="earliest", userblock_size=512) as f:
        f["one_piece"] = values
        f.create_dataset("chunks", data=values, chunks=(2, 3, 2))
        f.create_dataset("gzip", data=values, chunks=(2, 3, 2), compression="gzip", shuffle=True)
    with open(path, "r+b") as f:
        f.write(b"something else")


def hostile(path):
    with h5py.File(path, "w") as f:
        chunk = (100_000,)
        short = f.create_dataset("short_chunk", chunk, "f8", chunks=chunk, compression="gzip")
        short.id.write_direct_chunk((0,), zlib.compress(b"abcdefgh" * 4))
        bomb = f.create_dataset("bomb", chunk, "f8", chunks=chunk, compression="gzip")
        bomb.id.write_direct_chunk((0,), zlib.compress(b"\0" * 20_000_000))
        plain = f.create_dataset("short_plain_chunk", chunk, "f8", chunks=chunk)
        plain.id.write_direct_chunk((0,), b"12345678")
        garbage = f.create_dataset("garbage_chunk", chunk, "f8", chunks=chunk, compression="gzip")
        garbage.id.write_direct_chunk((0,), b"\xff" * 100)
        f.create_dataset("promise", shape=(10**6, 10**6), dtype="f8")
        f.create_dataset("promise_in_chunks", shape=(10**7,), dtype="f8", chunks=(10**3,), compression="gzip")
        f.create_dataset("more_than_everything", shape=(2**40, 2**40), dtype="f8", chunks=(1, 1))
        f.create_dataset("many_chunks", shape=(2_000_000,), dtype="u1", chunks=(1,))
        f.create_dataset("elsewhere", shape=(4,), dtype="f4", external=[("other.bin", 0, h5py.h5f.UNLIMITED)])
        layout = h5py.VirtualLayout(shape=(4,), dtype="f4")
        layout[:] = h5py.VirtualSource("other.h5", "x", shape=(4,))
        f.create_virtual_dataset("virtual", layout)
        deep = f
        for _ in range(70):
            deep = deep.create_group("g")


def results(folder):
    """Result files that read_result must refuse: unfinished, of a later schema, without dimension scales."""
    for name, version, complete in (("unfinished", 1, None), ("newer", 1000, 1), ("no_scales", 1, 1)):
        with h5py.File(folder / f"result_{name}.h5", "w") as f:
            f.attrs["source"] = "headwave 9.9"
            f.attrs["schema_version"] = np.int64(version)
            f.attrs["fields"] = ["a/x"]
            f["a/x"] = np.zeros(3)
            f.create_group("provenance")
            if complete is not None:
                f.attrs["complete"] = np.int64(complete)


folder = Path(sys.argv[1])
sample(folder / "hdf5_sample.h5")
packed(folder / "hdf5_packed.h5")
late(folder / "hdf5_late.h5")
hostile(folder / "hdf5_hostile.h5")
results(folder)
