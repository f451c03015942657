"""Documents for a model of PyTorch: texts cut as the program cuts them, ids as they are, and what tokens are called."""

from __future__ import annotations

from typing import Any, Sequence

from .arrays import listed_ids
from .errors import FormatError, ShapeError


def texts_of(tokenizer: Any, ids: Sequence[int]) -> tuple[list[str], list[int]]:
    """The text of tokens, and 1 where one is special; nothing without a tokenizer."""
    if tokenizer is None:
        return [], []
    special = set(tokenizer.all_special_ids)
    return [str(token) for token in tokenizer.convert_ids_to_tokens(list(ids))], [int(i in special) for i in ids]


def words_of(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Tokens as the program spells them, " the" and "##ing"; none without a tokenizer."""
    if tokenizer is None:
        return []
    tokens = [str(token) for token in tokenizer.convert_ids_to_tokens(list(ids))]
    if any("\u0120" in token for token in tokens):   # of bytes: a space is U+0120
        return [tokenizer.convert_tokens_to_string([token]) for token in tokens]
    return [token.replace("\u2581", " ") for token in tokens]   # of SentencePiece: a space is U+2581


def documents_of(about: Any, module: Any, tokenizer: Any, text: Any, ids: Any, documents: int | None, length: int | None,
                 special_tokens: bool) -> tuple[list[list[int]], int]:
    """Token ids of every document, cut as the program cuts a text; and how many were padding, and are taken off."""
    if ids is not None:
        listed = listed_ids(ids)
        if not isinstance(listed[0], int):
            if documents is not None and documents > len(listed):
                raise ShapeError(f"ids: {len(listed)} documents, but {documents} are requested")
            bare = without_padding(listed[:documents or 100], module, tokenizer)
            return _readable(bare, about), sum(map(len, listed[:len(bare)])) - sum(map(len, bare))
        long, opens, closes = listed, [], []
    else:
        if not callable(tokenizer):
            raise FormatError("run: a text needs the tokenizer of the model: run(model, tokenizer, text=...)")
        long = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        opens, closes = _around(tokenizer) if special_tokens else ([], [])
    most = length or min(512, about.longest or 512)
    room = most - len(opens) - len(closes)
    if room < 1:
        raise ShapeError(f"run: documents of {most} tokens leave no room between special tokens; expected a longer length")
    cut = [long[i:i + room] for i in range(0, len(long) - room + 1, room)]
    if not cut and length is None and long:
        cut = [long]
    if len(cut) < (documents or 1):
        raise FormatError(f"run: {len(long)} tokens give {len(cut)} documents of {most}, {documents or 1} were asked for")
    return _readable([opens + one + closes for one in cut[:documents or 100]], about), 0


def unknown_share(tokenizer: Any, listed: list[list[int]], allow: bool) -> dict[str, float]:
    """The share of unknown tokens among those that stand for text, by its name in results; nothing where there is no such token.

    Raises:
        FormatError: nearly all are unknown, and that is not allowed.
    """
    unknown = getattr(tokenizer, "unk_token_id", None)
    around = set(getattr(tokenizer, "all_special_ids", [])) - {unknown}
    words = [i for ids in listed for i in ids if i not in around]
    if unknown is None or unknown in (getattr(tokenizer, "bos_token_id", None), getattr(tokenizer, "eos_token_id", None)) or not words:
        return {}
    share = words.count(unknown) / len(words)
    if share >= 0.9 and not allow:
        raise FormatError(f"text: {100 * share:.0f} % of its tokens are unknown ({tokenizer.unk_token}), since the model's vocabulary cannot spell "
                          "them; give a text in the language and the spelling that the model was trained on, or allow_unknown=True to take this one")
    return {"unknown_share": share}


def unk_strings(tokenizer: Any, text: str) -> dict[str, int]:
    """How often a text contains "<unk>", by its name in results; nothing if it does not, or the tokenizer reads it as one token."""
    count = text.count("<unk>")
    known = count and "<unk>" in tokenizer.convert_ids_to_tokens(tokenizer("<unk>", add_special_tokens=False)["input_ids"])
    return {"unk_strings": count} if count and not known else {}


def _readable(listed: list[list[int]], about: Any) -> list[list[int]]:
    if not listed or not all(listed):
        raise ShapeError("run: no documents, or one without tokens; expected a token at least in each")
    if about.longest and max(map(len, listed)) > about.longest:
        raise ShapeError(f"run: a document of {max(map(len, listed))} tokens, but the model has {about.longest} positions")
    return listed


def require_known(listed: list[list[int]], module: Any) -> None:
    """Said before the model runs: PyTorch says only that some index is out of range."""
    try:
        table = module.get_input_embeddings() if hasattr(module, "get_input_embeddings") else None
    except NotImplementedError:   # so transformers, of a model of several inputs
        raise FormatError(f"run: {type(module).__name__} does not run on token ids alone; run its text part (such as model.text_model), "
                          "or call the model yourself under headwave.watch") from None
    words = getattr(table, "num_embeddings", None)
    for document, ids in enumerate(listed):
        wrong = min(ids) if min(ids) < 0 else max(ids)
        if wrong < 0 or (words and wrong >= words):
            raise FormatError(f"ids: document {document} holds {wrong}; the model knows the ids from 0" + (f" to {words - 1}" if words else ""))


def without_padding(listed: list[list[int]], module: Any, tokenizer: Any) -> list[list[int]]:
    """Documents without the padding at their end, as the program reads them; an id that pads and closes documents stays once."""
    config = getattr(module, "config", None)
    pad = getattr(tokenizer, "pad_token_id", None)
    pad = pad if pad is not None else getattr(config, "pad_token_id", None)
    if not isinstance(pad, int):
        return listed
    closes = pad in [getattr(of, name, None) for of in (tokenizer, config) for name in ("eos_token_id", "sep_token_id")]

    def bare(ids: list[int]) -> list[int]:
        end = next((i for i in range(len(ids), 0, -1) if ids[i - 1] != pad), 0)
        return ids[:end + 1 if closes else end]
    return [bare(ids) for ids in listed]


def _around(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What a tokenizer puts before and behind a text."""
    bare, dressed = (tokenizer("a", add_special_tokens=with_them)["input_ids"] for with_them in (False, True))
    before = next(i for i in range(len(dressed)) if dressed[i:i + len(bare)] == bare)
    return dressed[:before], dressed[before + len(bare):]
