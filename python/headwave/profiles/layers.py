"""One watched layer and its sums."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from ..errors import FormatError
from .tiles import LayerSums, Scores


@dataclasses.dataclass
class Layer:
    """One module that computes attention, and its sums.

    Args:
        path: path of the module in the model
        times: number of the module's call in one pass, from 1; above 1 if layers share a module
        cross: whether the keys are of another sequence
    """

    path: str
    times: int
    cross: bool
    implementation: str
    module: str
    sums: LayerSums
    documents: Any
    heads: int
    kv_heads: int
    width: int
    scale: float
    soft_cap: float
    sinks: bool
    window: int
    dtype: str
    rope_type: str
    kept: Any = None
    moments: Any = None
    traces: Any = None

    @classmethod
    def of(cls, path: str, times: int, cross: bool, implementation: str, module: str, scores: Scores, given: dict[str, Any], sums: LayerSums,
           documents: Any) -> "Layer":
        window = given.get("sliding_window")
        return cls(path, times, cross, implementation, module, sums, documents, scores.query.shape[1], scores.key.shape[1], scores.query.shape[3],
                   scores.scale, float(scores.soft_cap or given.get("softcap") or 0), scores.sinks is not None or given.get("s_aux") is not None,
                   int(window) if isinstance(window, int) else 0,
                   str(scores.query.dtype).removeprefix("torch."), _rope_type(given["module"]))

    def see(self, scores: Scores, given: dict[str, Any]) -> None:
        """Refuses a call whose numbers of heads differ from those of earlier calls."""
        if scores.query.shape[1] != self.heads or scores.key.shape[1] != self.kv_heads:
            raise FormatError(f"watch: {self.path} has {scores.query.shape[1]} heads and {scores.key.shape[1]} key heads in this call, but "
                              f"{self.heads} and {self.kv_heads} in the calls before; expected the same numbers")

    @property
    def pattern(self) -> str:
        """The module's path with "{layer}" in place of the layer's number."""
        return re.sub(r"(?<=\.)\d+(?=\.|$)", "{layer}", self.path)


def _rope_type(module: Any) -> str:
    """Gives the type of rotary scaling in a module's config; "default" if the config names none."""
    said = getattr(getattr(module, "config", None), "rope_parameters", None)
    said = said.get("rope_type") if isinstance(said, dict) else None
    return said if isinstance(said, str) else "default"
