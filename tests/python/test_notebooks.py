"""The notebooks of docs/ are run anew: what they claim must hold, and their numbers be those that were kept."""

import json
import os
import pathlib
import re

import pytest

from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
for needed in ("ipykernel", "matplotlib", "xarray", "pandas"):
    pytest.importorskip(needed)

TEXT = ROOT.parent / "shared" / "data" / "text" / "wikitext-2" / "wiki.test.raw"


def ran(name, claims, folder, monkeypatch):
    """A notebook as it was kept and as it runs now, and what expressions over its names come to in the end."""
    kept = nbformat.read(ROOT / "docs" / name, as_version=4)
    book = nbformat.read(ROOT / "docs" / name, as_version=4)
    listed = ", ".join(f"{claim!r}: {of}" for claim, of in claims.items())
    book.cells.append(nbformat.v4.new_code_cell(f"import json; print(json.dumps({{{listed}}}, default=float))"))
    monkeypatch.chdir(folder)
    nbclient.NotebookClient(book, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return kept, book, json.loads(book.cells.pop().outputs[0].text)


def numbers(book):
    """Every number that the notebook shows as text."""
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            found += [float(number) for number in re.findall(r"[-+]?\d+\.?\d*", re.sub(r"0x[0-9a-f]+", "", text))]
    return found


def words(book):
    """What the notebook shows as text, without its numbers and blanks."""
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            found += re.sub(r"0x[0-9a-f]+|[-+]?\d+\.?\d*|-{2,}", " ", text).split()
    return found


def shows_pictures(book):
    return sum("image/png" in output.get("data", {}) for cell in book.cells for output in cell.get("outputs", []))


@pytest.mark.parametrize("name", ["which-heads-look-where.ipynb", "my-own-model.ipynb"])
def test_what_is_kept_is_small_and_of_no_machine(name):
    file = ROOT / "docs" / name
    assert file.stat().st_size < 400_000
    assert not re.search(r"/(home|root|tmp|work|usr)/", file.read_text())
    book = nbformat.read(file, as_version=4)
    assert shows_pictures(book) >= 2
    assert all(cell.outputs or "print" not in cell.source for cell in book.cells if cell.cell_type == "code")


def test_which_heads_look_where(tmp_path, monkeypatch):
    if not os.environ.get("HEADWAVE_MINILM") or not TEXT.exists():
        pytest.skip("HEADWAVE_MINILM names no folder with MiniLM, or there is no WikiText-2")
    monkeypatch.setenv("HEADWAVE_TEXT", str(TEXT))
    monkeypatch.setenv("HEADWAVE_MINILM", str(pathlib.Path(os.environ["HEADWAVE_MINILM"]).resolve()))
    kept, book, found = ran("which-heads-look-where.ipynb", {
        "offsets": "[measured.offset.sel(layer=l, head=h).item() for l, h in [(0, 2), (1, 8), (2, 10)]]",
        "verdicts": "[str(bits['bits_part'].values[int(largest.sel(layer=l, head=h))]) for l, h in [(0, 2), (1, 8), (1, 1)]]",
        "moved": "evidence.moved.item()",
        "last": "[str(bits['bits_part'].values[int(of)]) for of in largest.sel(layer=5)]",
        "torch": "'torch' in __import__('sys').modules",
    }, tmp_path, monkeypatch)
    assert found["offsets"] == [-1, 1, -4] and found["moved"] > 0.95
    assert found["verdicts"] == ["position", "position", "match"]
    assert found["last"].count("word") >= 8
    assert not found["torch"]
    before, after = numbers(kept), numbers(book)
    assert len(before) == len(after) > 50
    assert before == pytest.approx(after, rel=1e-3, abs=2e-3)
    assert shows_pictures(book) == shows_pictures(kept)


def test_my_own_model(tmp_path, monkeypatch):
    for needed in ("torch", "transformers"):
        pytest.importorskip(needed)
    kept, book, found = ran("my-own-model.ipynb", {
        "shares": "[shares[0], shares[-1]]",
        "first": "float(max(traces[0].sel(offset=[-3, -5]).max(), 0))",
        "last": "[[float(traces[-1].sel(head=h, offset=o)) for o in (-3, -4, -5)] for h in range(4)]",
        "predicted": "[result['head_account'].measured_offset.values.ravel().tolist(), "
                     "result['head_account'].dealt_offset.sel(term='position').values.ravel().tolist()]",
        "position": "result['head_account'].part.sel(cause='position').values.ravel().tolist()",
        "difference": "difference",
        "delay": "delay.offset.item()",
    }, tmp_path, monkeypatch)
    # Another machine's arithmetic trains another model; what is said of it must hold of that too.
    assert found["shares"][0] < 0.1 and found["shares"][1] > 0.95
    assert found["first"] < 0.1
    assert all(min(three, five) > 0.15 and four < 0.05 for three, four, five in found["last"])
    assert set(found["predicted"][0]) == {-3, -5} and found["predicted"][0] == found["predicted"][1]
    assert min(found["position"]) > 0.3
    assert found["difference"] < 1e-5 and abs(found["delay"] - 5) < 1e-6
    assert len(numbers(kept)) > 30 and shows_pictures(book) == shows_pictures(kept)
    before, after = numbers(kept), numbers(book)
    if before[:2] == after[:2]:  # the same model came out of the training: what is said of it must be what was kept
        assert words(kept) == words(book) and len(before) == len(after)
        assert before == pytest.approx(after, rel=0.05, abs=0.05)
    # What the account finds is shown, not told again.
    assert not any(re.search(r"\d+ ?%", cell.source) for cell in kept.cells if cell.cell_type == "markdown")
