"""Profiles of attention, summed inside the forward pass of a PyTorch model (docs/profiles.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ..arguments import unwrapped, whole
from ..errors import FormatError

if TYPE_CHECKING:
    from .watching import Watch


def watch(model: Any, *, exact: int = 128, blocks: int = 16, rows: int | None = None, first: int = 1, tokenizer: Any = None,
          special: Iterable[int] = (), kernel: str = "auto", seed: int = 1, deal: bool = False,
          room: float = 2.0, queries: bool = False, null: bool = False, every: int | None = None, to: Any = None) -> "Watch":
    """Sums where the heads of a model look while the model runs unchanged: on its device, in its dtype, with its own attention.

    Example:
        >>> with headwave.watch(model) as w:
        ...     for batch in batches:
        ...         model(**batch)
        >>> w.result().save("profiles.h5")

    The model's own attention function computes its outputs, which stay equal to the bit. Tiles of weights are computed again from the same
    queries and keys, and summed by offset; no matrix of queries by keys is stored. Every call must hold whole documents, one in each row of
    the batch. Padding is omitted, packed sequences are separate documents, and a call with a cache continues the documents of the call before.

    Args:
        model: a model of transformers, or a module or a wrapper (nnsight, DataParallel) that holds one; in eval() if it drops attention weights
        exact: largest |offset| that has a bin of its own, in tokens; beyond it there are four bins per doubling
        blocks: number of separate sums, for intervals: document n counts in block n % blocks
        rows: number of query rows sampled from a document, by position; None: all, or 256 with every=
        first: number of first tokens of a document whose pairs are counted apart
        tokenizer, special: give the special tokens, whose pairs are counted apart too; the tokenizer also gives the texts of words
        kernel: "torch", "triton", or "auto": triton if it is installed and the device is a GPU
        seed: of the sampled rows
        deal: do as null=True, and also keep queries and keys of documents that are as long as the first one, from which a run
            makes the account of every head (docs/account.md)
        room: GiB of memory for these queries and keys. If more documents pass, evenly spread ones are kept
        queries: also sum queries before rotary positions, for export("kvpress") and export("triattention"): means, covariances and
            mean moduli, about heads times d_head squared numbers in each layer
        null: also sum what `headwave run --profiles` reads, traces of whole documents and their null, from the same tiles of weights
        every: record a training run instead: measures of every head in forward passes 0, every, 2 every, ... in train()
        to: where every= writes: a path (JSON lines), a SummaryWriter of TensorBoard, or a run of W&B. In torch.distributed rank 0
            writes, and other ranks may give None

    Raises:
        FormatError: a layer computes attention in a way that watch cannot follow; the message names the layer
    """
    try:
        from .training import TrainingWatch
        from .watching import Watch
    except ImportError as error:
        raise FormatError("watch: needs PyTorch; pip install torch transformers") from error
    if every is None and to is None:
        return Watch(unwrapped(model), exact, blocks, rows, first, tokenizer, special, kernel, seed, deal, room, queries, null)
    if every is None:
        raise FormatError("watch: to= needs every=; for example every=100, to='run.jsonl'")
    if deal or queries or null:
        raise FormatError("watch: every= records a training run and keeps no sums, which deal=True, queries=True and null=True need; omit "
                          "these, or omit every=")
    if (kernel, blocks, room) != ("auto", 16, 2.0):
        raise FormatError("watch: kernel=, blocks= and room= have no effect with every=, which keeps no sums; omit these")
    return TrainingWatch(unwrapped(model), whole(every, "every", 1), to, exact, 256 if rows is None else rows, first, tokenizer, special, seed)
