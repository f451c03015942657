"""Takes from a result what HeadVis' page shows of every head: measures, profiles over offsets, and words."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..errors import FormatError

# Measures: the column in to_dataframe(), and the Field that describes it.
_MEASURES = {
    "offset": "measured_offset/offset", "weight": "measured_offset/weight", "bits": "attention_bits/bits",
    **dict.fromkeys(("sink", "position", "word", "match"), "attention_bits/part"),
    "follows": "attention_bits/follow", "kept": "attention_bits/kept", "strength": "head_account/strength",
    **dict.fromkeys(("by_position", "by_own_token", "by_context"), "head_account/part"),
    "predicted_offset": "position_atlas/predicted_offset",
}
_SAID = ("kind", "profile")   # columns that are words

# Profiles: label, Field, entry of its first axis.
_PROFILES = {
    "measured_profile": ("Mean weight by offset: measured", "head_account/measured_profile", ""),
    "dealt_profile": ("Mean weight by offset: by position alone", "head_account/dealt_profile", "position"),
    "null_weight": ("Mean weight by offset: queries shuffled", "offset_trace/null_weight", "without_sink"),
}

# Words: label, Fields of their tokens, Field of their weight.
_TABLES = {
    "drawing_words": ("Words that draw attention", ("attention_words/word_id",), "attention_words/ratio"),
    "matched_words": ("Words it finds (query > key)", ("matched_content/pair_query_id", "matched_content/pair_key_id"), "matched_content/pair_excess"),
    "raised_words": ("Words it raises", ("head_writes/raised_id",), "head_writes/raised_logit"),
}


class Findings:
    """Fields of a result in the form that HeadVis' page needs. Fields that the result lacks are omitted.

    Attributes:
        measures: values (heads) of each measure, by name
        about: description of each measure with its unit, by name
        plots, tables: entries of config.json for plots and for tables
    """

    def __init__(self, result: Any, heads: list[tuple[int, int]], decode: Callable[[int], str]) -> None:
        """
        Args:
            heads: (number of the layer in the model, head)
            decode: function that gives the text of a token id

        Raises:
            FormatError: the result lacks one of the heads
        """
        rows = result.to_dataframe().set_index(["layer", "index"])
        if absent := [f"L{layer}H{head}" for layer, head in heads if (layer, head) not in rows.index]:
            raise FormatError(f"export: result= has no head {absent[0]}, which the profiles have; expected a result of the same model")
        rows = rows.loc[heads]
        self._result, self._decode = result, decode
        self.measures = {name: rows[name].to_numpy(float) for name in _MEASURES if rows[name].notna().any()}
        self.about = {name: self._says(_MEASURES[name]) for name in self.measures}
        self._words = {head: {name: of for name, of in zip(_SAID, words) if isinstance(of, str)}
                       for head, words in zip(heads, rows[list(_SAID)].itertuples(index=False))}
        self._profiles = {key: of for key, of in _PROFILES.items() if self._has(of[1])}
        self._tables = {key: of for key, of in _TABLES.items() if self._has(of[2])}
        self.plots = [{"key": key, "label": label, "description": self._says(field)} for key, (label, field, _) in self._profiles.items()]
        self.tables = [{"key": key, "label": label, "description": self._says(field)} for key, (label, _, field) in self._tables.items()]

    def of(self, layer: int, head: int) -> tuple[dict[str, Any], dict[str, str]]:
        """Gives the plots and tables of a head, and the words in its statistics."""
        found: dict[str, Any] = {key: self._profile(layer, head, field, entry) for key, (_, field, entry) in self._profiles.items()}
        for key, (_, fields, weights) in self._tables.items():
            ids, values = zip(*(self._at(field, layer, head).values for field in fields)), self._at(weights, layer, head).values
            found[key] = [{"token": " > ".join(self._decode(int(token)) for token in tokens), "weight": round(float(value), 6)}
                          for tokens, value in zip(ids, values) if not np.isnan(value)]
        return found, self._words[layer, head]

    def _profile(self, layer: int, head: int, field: str, entry: str) -> dict[str, list[float]]:
        """Gives the mean weights at the offsets where they are defined. The page draws each value at the first edge of its bin."""
        array = self._at(field, layer, head, entry)
        offsets, values = array.coords[array.dims[0]].values.tolist(), array.values
        there = np.flatnonzero(~np.isnan(values)).tolist()
        edges = [offsets[i] for i in there]
        return {"bin_edges": edges + [edges[-1] + 1] if edges else [0], "bin_values": [round(float(values[i]), 6) for i in there]}

    def _has(self, field: str) -> bool:
        group, _, quantity = field.partition("/")
        return group in self._result and quantity in self._result[group]

    def _says(self, field: str) -> str:
        about = self._result[field].attrs
        return about["long_name"] + ("" if about["units"] == "1" else f", in {about['units']}s")

    def _at(self, field: str, layer: int, head: int, entry: str = "") -> Any:
        array = self._result[field]
        return (array.sel({array.dims[0]: entry}) if entry else array).sel(layer=layer, head=head)
