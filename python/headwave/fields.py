"""Fields of C++ as arrays with names, axes and units: of xarray, or of numpy where xarray is not there."""

from __future__ import annotations

import functools
from typing import Any, Sequence

import numpy as np

from .arguments import missing

Group = Any  #: an xarray.Dataset's node in a DataTree; where xarray is not there an ArrayGroup


@functools.cache
def xarray_or_none() -> Any:
    """xarray, or None where it is not there; asked for with the first array, as importing it takes longer than many a job."""
    try:
        import xarray
    except ImportError:
        return None
    return xarray


class LabelledArray(np.ndarray):
    """An array of numpy that knows its axes: what a result holds where xarray is not there."""
    dims: tuple[str, ...] = ()
    coords: dict[str, np.ndarray] = {}
    attrs: dict[str, Any] = {}

    def __array_finalize__(self, source: Any) -> None:
        pass  # what is made of it has other axes


class ArrayGroup(dict):
    """The arrays of one analysis by name, also as attributes: a stand-in where xarray is not there."""
    attrs: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(missing(name, self)) from None


def groups_of(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The Fields of a result by analysis: arrays of xarray where it is there."""
    by_group: dict[str, list[dict[str, Any]]] = {}
    for field in fields:
        by_group.setdefault(field["name"].partition("/")[0], []).append(field)
    make = _dataset if xarray_or_none() is not None else _group
    return {name: make(of) for name, of in by_group.items()}


def at_place(group: Any, place: dict[str, int]) -> Any:
    """The arrays of a group that have all these axes, at a place on them; None where there is no such array."""
    chosen = {name: array for name, array in (group.data_vars if hasattr(group, "data_vars") else group).items()
              if all(axis in array.dims and of in array.coords[axis] for axis, of in place.items())}
    if not chosen:
        return None
    if hasattr(group, "data_vars"):
        return group[list(chosen)].sel(place)
    found = ArrayGroup()
    for name, array in chosen.items():
        at = tuple(int(np.flatnonzero(array.coords[axis] == place[axis])[0]) if axis in place else slice(None) for axis in array.dims)
        one = np.asarray(array)[at].view(LabelledArray) if np.ndim(np.asarray(array)[at]) else np.asarray(array)[at]
        if isinstance(one, LabelledArray):
            one.dims = tuple(axis for axis in array.dims if axis not in place)
            one.coords = {axis: array.coords[axis] for axis in one.dims}
            one.attrs = array.attrs
        found[name] = one
    return found


def _attributes(field: dict[str, Any]) -> dict[str, Any]:
    attributes = {"long_name": field["long_name"], "units": field["units"], **field["attributes"]}
    if field["flag_meanings"]:
        attributes["flag_values"] = np.arange(len(field["flag_meanings"]), dtype=np.uint8)
        attributes["flag_labels"] = field["flag_meanings"]
    return attributes


def _values(of: dict[str, Any], shape: Sequence[int]) -> np.ndarray:
    values = of["values"]  # of C's long long numpy makes a type that zarr does not know; by its name it is int64
    return np.array(values, dtype=object).reshape(shape) if isinstance(values, list) else values.view(values.dtype.str)


def _axis(axis: dict[str, Any]) -> np.ndarray:
    return _values(axis, (len(axis["values"]),))


def _dataset(fields: list[dict[str, Any]]) -> Any:
    xarray = xarray_or_none()
    variables, coordinates = {}, {}
    for field in fields:
        for axis in field["axes"]:
            if axis["name"] not in coordinates:
                about = {"long_name": axis["long_name"], "units": axis["units"]}
                coordinates[axis["name"]] = xarray.Variable((axis["name"],), _axis(axis), about)
        dims = tuple(axis["name"] for axis in field["axes"])
        values = _values(field, [len(axis["values"]) for axis in field["axes"]])
        variables[field["name"].partition("/")[2]] = xarray.Variable(dims, values, _attributes(field))
    return xarray.Dataset(variables, coordinates)


def _group(fields: list[dict[str, Any]]) -> ArrayGroup:
    group = ArrayGroup()
    for field in fields:
        array = _values(field, [len(axis["values"]) for axis in field["axes"]]).view(LabelledArray)
        array.dims = tuple(axis["name"] for axis in field["axes"])
        array.coords = {axis["name"]: _axis(axis) for axis in field["axes"]}
        array.attrs = _attributes(field)
        group[field["name"].partition("/")[2]] = array
    return group
