"""Results of jobs: arrays with names, axes and units, as in the result file (docs/result-file.md)."""

from __future__ import annotations

import base64
import html
import io
import os
import pathlib
from typing import Any, Iterator, Mapping, Sequence

from . import _core
from .arguments import missing, names, path as as_path, real, text
from .errors import FormatError, IoError, ShapeError
from .fields import Group, groups_of
from .profiles.result import are_profiles, open_profiles


class Result(Mapping[str, Group]):
    """The result of a job. It contains a group of arrays for each analysis.

    `result["measured_offset"].offset.sel(layer=3, head=4)` is an xarray array whose numbers stay in the memory of C++. A notebook shows
    the table of heads.
    """

    __eq__, __hash__ = object.__eq__, object.__hash__   # by identity: arrays are not compared

    def __deepcopy__(self, memo: Any) -> "Result":
        """Copies the result and its groups. Arrays are read-only, so the copy shares them."""
        return Result(self._found)

    def __init__(self, found: Any) -> None:
        self._found = found
        self._groups: dict[str, Any] | None = None

    @property
    def computed_by(self) -> str:
        """Which of two computed the attention: the "program", or a PyTorch model under headwave.watch ("watch")."""
        return "watch" if "watched" in self.provenance else "program"

    @property
    def title(self) -> str:
        """A line that describes the result."""
        return self._found.title

    @property
    def provenance(self) -> dict[str, Any]:
        """Says where the result comes from: inputs with their SHA-256, options, seed, versions and time."""
        return self._found.provenance

    @property
    def tree(self) -> Any:
        """The whole result as an xarray.DataTree: a group for each analysis, and the provenance as attributes of `provenance`."""
        import xarray

        groups = {"/" + name: of for name, of in self._made().items()}
        groups["/"] = xarray.Dataset(attrs={"title": self.title})
        groups["/provenance"] = xarray.Dataset(attrs=self.provenance)
        return xarray.DataTree.from_dict(groups)

    def __getitem__(self, name: str) -> Group:
        """Gives a group, "measured_offset", or one array of a group, "measured_offset/offset"."""
        group, _, quantity = name.strip("/").partition("/")
        if group not in self._made():
            raise KeyError(missing(group, self._made()))
        if quantity and quantity not in self._made()[group]:
            raise KeyError(f"{group}: {missing(quantity, self._made()[group])}")
        return self._made()[group][quantity] if quantity else self._made()[group]

    def _ipython_key_completions_(self) -> list[str]:
        return [*self, *(f"{name}/{quantity}" for name, group in self._made().items() for quantity in group)]

    def to_dataframe(self) -> Any:
        """Makes a pandas.DataFrame with a row for each head, as `headwave export --heads` does (docs/result-file.md).

        All results have the same columns, so `pandas.concat` joins the rows of several models. Missing values are NaN.

        Raises:
            ShapeError: the result has no measured or predicted offsets of heads.
        """
        import pandas

        rows = pandas.read_csv(io.StringIO(self._found.head_rows()))
        if rows.empty:
            raise ShapeError("to_dataframe: the result has no measured or predicted offsets of heads, which the rows describe")
        return rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def save(self, path: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Writes the result file. Like the program, it writes the whole file or no file.

        Raises:
            IoError: the file exists and `overwrite` is False, or the file cannot be written.
        """
        self._found.save(as_path(path, "save"), bool(overwrite))

    def figures(self) -> list[str]:
        """Lists the names of the figures that can be drawn from this result."""
        return self._found.figures()

    def figure(self, name: str, *, heads: Sequence[str] = (), format: str = "svg", width: float | str = 0.0) -> "Figure":
        """Draws a figure as the program does. gnuplot must be installed.

        Args:
            name: one of figures(), such as "offset_profile"
            heads: heads to show in figures of single heads, such as "L0H2" or "strongest:6"; by default the strongest of the table
            format: "svg", "png" or "pdf"
            width: 2 to 7 inches; "column": 3.4; "page": 7; 0: the width that the figure needs

        Raises:
            FormatError: there is no such figure; ShapeError: the result lacks what the figure shows; IoError: gnuplot is missing.
        """
        chosen = names(heads, "heads")
        name, format = text(name, "name"), text(format, "format")
        return Figure(name, format, self._found.figure(name, chosen, format, _inches(width)))

    def report(self) -> "Page":
        """Makes the page that explores the result. A notebook shows it in a frame.

        Example:
            >>> result.report().save("report.html")
        """
        return Page(self._found.report())

    def __repr__(self) -> str:
        return f"{self.title}\n{', '.join(self._made())}"

    def __str__(self) -> str:
        found = self._found.answer().rstrip()
        return f"{self.title}\n{found}" if found else repr(self)

    def _repr_html_(self) -> str:
        """Shows the printed text, and the offset profiles if gnuplot is installed."""
        return f"<pre>{html.escape(str(self))}</pre>{self._picture()}"

    def _picture(self) -> str:
        """Draws the offset profiles as an HTML image. Empty if they cannot be drawn."""
        shown = "offset_profile"
        if shown not in self.figures():
            return ""
        try:
            drawn = self.figure(shown, format="png", width="page")  # a quarter of the size of svg
        except IoError:  # gnuplot is missing
            return ""
        return f'<img alt="{shown}" style="max-width:100%" src="data:image/png;base64,{base64.b64encode(drawn.data).decode()}">'

    def _made(self) -> dict[str, Any]:
        if self._groups is None:
            self._groups = groups_of(self._found.fields())
        return self._groups


class Figure:
    """A drawn figure. A notebook shows it."""

    def __init__(self, name: str, format: str, data: bytes) -> None:
        self.name, self.format, self.data = name, format, data

    def save(self, path: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Writes the figure to a file.

        Raises:
            IoError: the file exists and `overwrite` is False; FormatError: the ending of `path` names another format.
        """
        ending = pathlib.Path(path).suffix.lower().removeprefix(".")
        if ending != self.format and ending in ("svg", "png", "pdf"):
            raise FormatError(f"{path}: the figure is drawn as {self.format}, not {ending}; draw it by figure('{self.name}', format='{ending}')")
        _write_file(path, self.data, overwrite)

    def _repr_svg_(self) -> str | None:
        return self.data.decode() if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None


class Page:
    """An HTML page. A notebook shows it in a frame."""

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Writes the page to a file.

        Raises:
            IoError: the file exists and `overwrite` is False.
        """
        _write_file(path, self.text.encode(), overwrite)

    def _repr_html_(self) -> str:
        return f'<iframe style="width:100%;height:48em;border:0" srcdoc="{html.escape(self.text)}"></iframe>'


def _write_file(path: str | os.PathLike, content: bytes, overwrite: bool) -> None:
    try:
        with open(path, "wb" if overwrite else "xb") as file:
            file.write(content)
    except FileExistsError:
        raise IoError(f"{os.fspath(path)}: is already there; choose another name, or replace it with overwrite=True") from None


def open_result(path: str | os.PathLike) -> Any:
    """Opens a Result from a file that save() or the program wrote, or from the folder of a run. Opens Profiles from a file of profiles.

    Example:
        >>> result = headwave.open("result")
        >>> result["measured_offset"].offset

    Raises:
        IoError, FormatError: the file cannot be read, or is neither a complete result nor profiles.
    """
    place = pathlib.Path(as_path(path, "open: path"))
    if place.is_dir():
        kinds = [str(place / kind) for kind in ("self", "causal", "cross") if (place / kind / "results.h5").exists()]
        if kinds and not (place / "results.h5").exists():
            raise IoError(f"{place}: holds a result for each kind of attention; open one of {', '.join(kinds)}")
        place /= "results.h5"
    try:
        return Result(_core.open_result(str(place)))
    except FormatError:
        if are_profiles(str(place)):
            return open_profiles(str(place))
        raise


def _inches(width: Any) -> float:
    return _core.figure_width(text(width, "width")) if isinstance(width, str) else real(width, "width")
