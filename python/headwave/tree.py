"""xarray's DataTree, with the nearest name in its errors. It is imported where a result has arrays of xarray."""

from __future__ import annotations

from typing import Any

import xarray

from .arguments import missing


class DataTree(xarray.DataTree):
    """A DataTree that says of a misspelled name what may have been meant, as a Result does."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_"):   # Python asks for these
                raise
            raise AttributeError(self._missing(name)) from None

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            if not isinstance(key, str):
                raise
            raise KeyError(self._missing(key)) from None

    def _missing(self, name: str) -> str:
        return missing(name, [*self.children, *self.data_vars])
