"""Makes xarray arrays with names, axes and units from Fields of C++. xarray is imported for the first array, because that takes long."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

Group = Any  #: an xarray.Dataset; each of its arrays is an xarray.DataArray


def groups_of(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """Makes one xarray.Dataset for each analysis from the Fields of a result."""
    by_group: dict[str, list[dict[str, Any]]] = {}
    for field in fields:
        by_group.setdefault(field["name"].partition("/")[0], []).append(field)
    return {name: _dataset(of) for name, of in by_group.items()}


def _attributes(field: dict[str, Any]) -> dict[str, Any]:
    attributes = {"long_name": field["long_name"], "units": field["units"], **field["attributes"]}
    if field["flag_meanings"]:
        attributes["flag_values"] = np.arange(len(field["flag_meanings"]), dtype=np.uint8)
        attributes["flag_labels"] = field["flag_meanings"]
    return attributes


def _values(of: dict[str, Any], shape: Sequence[int]) -> np.ndarray:
    values = of["values"]  # zarr does not know numpy's type for long long; the view is int64
    return np.array(values, dtype=object).reshape(shape) if isinstance(values, list) else values.view(values.dtype.str)


def _dataset(fields: list[dict[str, Any]]) -> Any:
    import xarray

    variables, coordinates = {}, {}
    for field in fields:
        for axis in field["axes"]:
            if axis["name"] not in coordinates:
                about = {"long_name": axis["long_name"], "units": axis["units"]}
                coordinates[axis["name"]] = xarray.Variable((axis["name"],), _values(axis, (len(axis["values"]),)), about)
        dims = tuple(axis["name"] for axis in field["axes"])
        values = _values(field, [len(axis["values"]) for axis in field["axes"]])
        variables[field["name"].partition("/")[2]] = xarray.Variable(dims, values, _attributes(field))
    return xarray.Dataset(variables, coordinates)
