import copy
import shutil

import numpy as np
import pytest

import headwave
from conftest import MODELS, ROOT
from test_jobs import same


@pytest.fixture(scope="module")
def result(ids):
    return headwave.run(MODELS / "bert-mlm", ids=ids)


def test_the_package_says_which_release_it_is_of():
    assert headwave.__version__ == (ROOT / "VERSION").read_text().strip()


def test_a_result_is_saved_and_opened_again(result, tmp_path):
    result.save(tmp_path / "results.h5")
    again = headwave.open(tmp_path / "results.h5")
    same(result, again)
    assert again.provenance == result.provenance and again.title == result.title
    with pytest.raises(headwave.IoError, match="overwrite=True"):
        result.save(tmp_path / "results.h5")
    result.save(tmp_path / "results.h5", overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["results.h5"]


def test_a_result_is_copied(result):
    for copied in (copy.copy(result), copy.deepcopy(result), copy.deepcopy({"found": result})["found"]):
        same(copied, result)
    copied = copy.deepcopy(result)
    copied["measured_offset"]["mine"] = copied["measured_offset"].offset
    assert "mine" not in result["measured_offset"]


def test_what_is_no_result_is_refused(tmp_path, result):
    (tmp_path / "text.h5").write_text("no")
    with pytest.raises(headwave.FormatError):
        headwave.open(tmp_path / "text.h5")
    with pytest.raises(headwave.IoError):
        headwave.open(tmp_path / "none.h5")
    with pytest.raises(headwave.IoError):
        result.save(tmp_path / "no" / "folder" / "results.h5")
    with pytest.raises(KeyError, match="measured_offset"):
        result["nothing"]


def test_arrays_are_read_only_and_outlive_their_result(ids):
    array = np.asarray(headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])["measured_offset/weight"])
    copy = array.copy()
    headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])
    assert np.array_equal(array, copy) and not array.flags.writeable and not array.flags.owndata


def test_it_is_a_tree_of_the_file(result, tmp_path):
    import xarray

    assert isinstance(result.tree, xarray.DataTree)
    offset = result["measured_offset"].offset
    assert offset.dims == ("pairs", "layer", "head") and offset.units == "token"
    assert offset.sel(pairs="all", layer=1, head=2).shape == ()
    assert result.tree["provenance"].attrs["model_family"] == "bert"
    pytest.importorskip("h5netcdf")
    result.save(tmp_path / "results.h5")
    with xarray.open_datatree(tmp_path / "results.h5", engine="h5netcdf") as stored:
        for group in result:
            for name, array in result[group].data_vars.items():
                file = stored[group][name]
                assert file.dims == array.dims and file.attrs["long_name"] == array.attrs["long_name"]
                assert set(array.coords) == set(file.coords)
                if array.dtype.kind == "f":
                    assert np.array_equal(file, array, equal_nan=True)


def test_a_tree_is_written_to_zarr(result, tmp_path):
    pytest.importorskip("zarr")
    import xarray

    for group in result:
        for name, array in result[group].variables.items():
            assert array.dtype.kind == "O" or array.dtype.char == np.dtype(array.dtype.str).char, f"{group}/{name}"
    result.tree.to_zarr(tmp_path / "result.zarr", consolidated=False)
    with xarray.open_datatree(tmp_path / "result.zarr", engine="zarr", consolidated=False) as stored:
        for group in result:
            for name, array in result[group].data_vars.items():
                assert array.dtype.kind != "f" or np.array_equal(stored[group][name], array, equal_nan=True)


def test_a_notebook_shows_it(result):
    page = result._repr_html_()
    assert "<pre>" in page and "L0H0" in page and "looks at" in page and "heads look at a preferred offset" in " ".join(page.split())
    assert ('<img alt="offset_profile"' in page) == (shutil.which("gnuplot") is not None)
    assert "L0H0" in str(result) and "measured_offset" in repr(result)
    frame = result.report()._repr_html_()
    assert frame.startswith("<iframe") and "&lt;html" in frame


def test_a_page_replaces_no_file_unasked(result, tmp_path):
    place = tmp_path / "report.html"
    place.write_text("another")
    with pytest.raises(headwave.IoError, match=r"report.html: is already there; choose another name, or replace it with overwrite=True"):
        result.report().save(place)
    assert place.read_text() == "another"
    result.report().save(place, overwrite=True)
    assert "<html" in place.read_text()


def test_figures_are_drawn(result, tmp_path):
    assert "offset_profile" in result.figures()
    try:
        figure = result.figure("offset_profile", heads=["L0H1"])
    except headwave.IoError as error:
        pytest.skip(str(error))
    assert "<svg" in figure._repr_svg_() and figure._repr_png_() is None
    figure.save(tmp_path / "figure.svg")
    with pytest.raises(headwave.IoError, match=r"figure.svg: is already there; choose another name, or replace it with overwrite=True"):
        figure.save(tmp_path / "figure.svg")
    figure.save(tmp_path / "figure.svg", overwrite=True)
    assert result.figure("offset_profile", format="png")._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(headwave.FormatError, match="offset_profile"):
        result.figure("nothing")
    with pytest.raises(headwave.Error):
        result.figure("offset_profile", heads=["L9H9"])


def test_a_result_is_a_mapping_of_its_groups(result):
    assert [name for name, _ in result.items()] == list(result.keys())
    assert result.get("nothing") is None and result.get("measured_offset/weight") is not None
    assert "measured_offset/weight" in result._ipython_key_completions_()
    with pytest.raises(KeyError, match="did you mean 'measured_offset'"):
        result["measured_ofset"]
    with pytest.raises(KeyError, match="measured_offset: .*did you mean 'weight'"):
        result["measured_offset/wieght"]


def test_the_folder_of_a_run_is_opened(result, tmp_path):
    result.save(tmp_path / "results.h5")
    same(result, headwave.open(tmp_path))
    (tmp_path / "results.h5").unlink()
    (tmp_path / "causal").mkdir()
    result.save(tmp_path / "causal" / "results.h5")
    with pytest.raises(headwave.IoError, match="causal"):
        headwave.open(tmp_path)


def test_a_width_is_a_word_too(result):
    with pytest.raises(headwave.FormatError, match="column"):
        result.figure("offset_profile", width="narrow")


def test_a_row_for_each_head(result, program, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = result.to_dataframe()
    offset = result["measured_offset"].offset.sel(pairs="all").values
    assert len(rows) == offset.size and list(rows["head"][:2]) == ["L0H0", "L0H1"]
    assert np.array_equal(rows["offset"].to_numpy().reshape(offset.shape), offset, equal_nan=True)
    assert rows["layer"].dtype == rows["index"].dtype == rows["documents"].dtype == np.int64
    assert rows["commit"][0] == headwave.commit and rows["documents"][0] == result.provenance["documents"]
    result.save(tmp_path / "results.h5")
    program("export", tmp_path, "--heads", tmp_path / "rows.csv")
    pandas.testing.assert_frame_equal(rows, pandas.read_csv(tmp_path / "rows.csv"), check_exact=True)


def test_rows_of_heads_have_the_same_columns_with_and_without_an_account(result, ids):
    pytest.importorskip("pandas")
    few = headwave.run(MODELS / "bert-mlm", ids=ids, only="measured_offset").to_dataframe()
    assert list(few.columns) == list(result.to_dataframe().columns) and few["bits"].isna().all() and few["bits_low"].isna().all()

