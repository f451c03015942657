"""Profiles of attention, summed inside the forward pass of a model of PyTorch (docs/profiles.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ..arguments import unwrapped, whole
from ..errors import FormatError

if TYPE_CHECKING:
    from .watching import Watch


def watch(model: Any, *, exact: int = 128, blocks: int = 16, rows: int | None = None, first: int = 1, tokenizer: Any = None,
          special: Iterable[int] = (), kernel: str = "auto", seed: int = 1, deal: bool = False,
          room: float = 2.0, queries: bool = False, null: bool = False, every: int | None = None, to: Any = None) -> "Watch":
    """Sums up where a model's heads look while the model runs, as it is: on its device, in its dtype, with its own attention.

    Example:
        >>> with headwave.watch(model) as w:
        ...     for batch in batches:
        ...         model(**batch)
        >>> w.result().save("profiles.h5")

    The model's own attention function computes its outputs, unchanged to the bit. Beside it, tiles of weights are computed again from the
    same queries and keys and summed by offset; no matrix of queries by keys is made. Every call holds whole documents, one in each row of
    the batch; padding is left out, packed sequences are taken apart; a call with a cache goes on with the documents of the call before.

    Args:
        model: a model of transformers, or a module or a wrapper (nnsight, DataParallel) that holds one; in eval() if it drops attention weights
        exact: largest |offset| with a column of its own, in tokens; four bins per doubling beyond
        blocks: sums that are kept apart for intervals: document n counts in block n % blocks
        rows: query rows sampled of a document, by position; None: all, or 256 with every=
        first: tokens at the beginning of a document whose pairs are counted apart
        tokenizer, special: special tokens, whose pairs are counted apart too; the tokenizer also gives words their texts
        kernel: "torch", "triton" or "auto": Triton's where it is installed and the device is a GPU
        seed: of the sampled rows
        deal: keep queries and keys of some documents, of which a run makes the account of every head (docs/account.md), and what
            null=True sums. They are of the length of the first document
        room: GiB of memory that these may take. Where more documents pass, some are kept, evenly spread
        queries: sum queries before rotary positions too, for export("kvpress") and export("triattention"): means, covariances and
            mean moduli, heads times d_head squared numbers in each layer
        null: sum also what `headwave run --profiles` reads: traces of whole documents and their null, from the same tiles of weights
        every: record a training run in place of summing: measures of every head in forward passes 0, every, 2 every, ... in train()
        to: where every= writes: a path (JSON lines), a SummaryWriter of TensorBoard, or a run of W&B. In torch.distributed rank 0
            writes, and others may give None

    Raises:
        FormatError: a layer computes attention in a way that cannot be followed; the message names it
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
        raise FormatError("watch: every= records a training run, and keeps no sums for deal=True, queries=True or null=True; omit these, or omit every=")
    if (kernel, blocks, room) != ("auto", 16, 2.0):
        raise FormatError("watch: kernel=, blocks= and room= have no effect with every=, which keeps no sums; omit these")
    return TrainingWatch(unwrapped(model), whole(every, "every", 1), to, exact, 256 if rows is None else rows, first, tokenizer, special, seed)
