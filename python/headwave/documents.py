"""Makes documents for a PyTorch model from a text or token ids, as the program does for its own runs, and the texts of tokens."""

from __future__ import annotations

import json
from typing import Any, Sequence

from . import _core
from .arrays import ids_place
from .errors import FormatError, ShapeError


def texts_of(tokenizer: Any, ids: Sequence[int]) -> tuple[list[str], list[int]]:
    """Gives the text of each token, and 1 for each special token or 0 for another. Both lists are empty without a tokenizer."""
    if tokenizer is None:
        return [], []
    special = set(tokenizer.all_special_ids)
    return [str(token) for token in tokenizer.convert_ids_to_tokens(list(ids))], [int(i in special) for i in ids]


def words_of(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Gives the texts of tokens as the program spells them, such as " the" and "##ing". The list is empty without a tokenizer."""
    if tokenizer is None:
        return []
    tokens = [str(token) for token in tokenizer.convert_ids_to_tokens(list(ids))]
    if any("\u0120" in token for token in tokens):   # byte-level BPE writes a space as U+0120
        return [tokenizer.convert_tokens_to_string([token]) for token in tokens]
    return [token.replace("\u2581", " ") for token in tokens]   # SentencePiece writes a space as U+2581


def documents_of(module: Any, longest: int, tokenizer: Any, text: Any, ids: Any, documents: int | None, length: int | None, special_tokens: bool,
                 allow_unknown: bool) -> tuple[list[tuple[str, list[int]]], dict[str, Any]]:
    """Makes distinct documents (name, ids) from a text or from ids, as the program does, and the facts about them for the provenance.

    Args:
        longest: largest number of tokens that the model can read; 0: no limit

    Raises:
        FormatError, ShapeError: there is no document, or the model cannot read a document
    """
    opens, closes, given = [], [], ids
    if ids is None:
        if not callable(tokenizer):
            raise FormatError("run: a text needs the tokenizer of the model: run(model, tokenizer, text=...)")
        given = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        opens, closes = _around(tokenizer) if special_tokens else ([], [])
    positions = longest if length or ids is not None else min(512, longest or 512)
    around = len(opens) + len(closes)
    if ids is None and (length or positions) <= around:
        raise ShapeError(f"run: documents of {length or positions} tokens leave no room for text between {around} special tokens; "
                         f"expected {around + 1} tokens or more")
    config = getattr(module, "config", None)
    pad = next((of.pad_token_id for of in (tokenizer, config) if isinstance(getattr(of, "pad_token_id", None), int)), -1)
    ends = [getattr(of, name, None) for of in (tokenizer, config) for name in ("eos_token_id", "sep_token_id")]
    place = ("text", json.dumps(given)) if ids is None else ids_place(ids)
    found, facts = _core.documents_of_ids(place, documents, length and length - around, positions and positions - around, _words(module), pad,
                                          pad if pad in ends else -1)
    listed = [(name.rpartition(", ")[2], [*opens, *own, *closes]) for name, own in found]
    kept = {name: facts[name] for name in ("padding_removed", "equal_documents") if name in facts}
    if ids is None:
        kept = kept | {"source": "text"} | unknown_share(tokenizer, [own for _, own in listed], allow_unknown) | unk_strings(tokenizer, text)
    return listed, {"source": "token ids"} | kept


def unknown_share(tokenizer: Any, listed: list[list[int]], allow: bool) -> dict[str, float]:
    """Computes the share of unknown tokens in a text, as an entry of the provenance. Empty if the tokenizer has no unknown token.

    Raises:
        FormatError: 90 % of the tokens or more are unknown, and `allow` is False.
    """
    unknown = getattr(tokenizer, "unk_token_id", None)
    around = set(getattr(tokenizer, "all_special_ids", [])) - {unknown}
    words = [i for ids in listed for i in ids if i not in around]
    if unknown is None or unknown in (getattr(tokenizer, "bos_token_id", None), getattr(tokenizer, "eos_token_id", None)) or not words:
        return {}
    share = words.count(unknown) / len(words)
    if share >= 0.9 and not allow:
        raise FormatError(f"text: {100 * share:.0f} % of its tokens are unknown ({tokenizer.unk_token}), since the model's vocabulary cannot spell "
                          "them; give a text in the language and the spelling that the model was trained on, or allow_unknown=True to use this one")
    return {"unknown_share": share}


def unk_strings(tokenizer: Any, text: str) -> dict[str, int]:
    """Counts how often a text contains "<unk>", as an entry of the provenance. Empty if never, or if the tokenizer reads it as one token."""
    count = text.count("<unk>")
    known = count and "<unk>" in tokenizer.convert_ids_to_tokens(tokenizer("<unk>", add_special_tokens=False)["input_ids"])
    return {"unk_strings": count} if count and not known else {}


def _words(module: Any) -> int:
    """Gives the number of tokens in a model's vocabulary; 0 if unknown."""
    try:
        table = module.get_input_embeddings() if hasattr(module, "get_input_embeddings") else None
    except NotImplementedError:   # transformers raises it for models with several inputs
        raise FormatError(f"run: {type(module).__name__} does not run on token ids alone; run its text part (such as model.text_model), "
                          "or call the model yourself under headwave.watch") from None
    return getattr(table, "num_embeddings", 0)


def _around(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Finds the ids that a tokenizer puts before and after a text."""
    bare, dressed = (tokenizer("a", add_special_tokens=with_them)["input_ids"] for with_them in (False, True))
    before = next(i for i in range(len(dressed)) if dressed[i:i + len(bare)] == bare)
    return dressed[:before], dressed[before + len(bare):]
