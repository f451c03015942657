"""Profiles of attention that are summed inside the forward pass of a PyTorch model (docs/profiles.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ..arguments import unwrapped, whole
from ..errors import FormatError

if TYPE_CHECKING:
    from .watching import Watch


def watch(model: Any, *, exact: int = 128, blocks: int = 16, rows: int | None = None, first: int = 1, tokenizer: Any = None,
          special: Iterable[int] = (), kernel: str = "auto", seed: int = 1, deal: bool = False,
          room: float = 2.0, queries: bool = False, null: bool = False, every: int | None = None, to: Any = None) -> "Watch":
    """Sums where the heads of a model look while the model runs. The model keeps its device, its dtype and its own attention.

    Example:
        >>> with headwave.watch(model) as w:
        ...     for batch in batches:
        ...         model(**batch)
        >>> w.result().save("profiles.h5")

    The model's outputs stay equal to the bit. Attention weights are computed a second time from the same queries and keys, tile by tile, and
    summed by offset. No matrix of queries by keys is stored. Every call must contain whole documents, one in each row of the batch. Padding
    is omitted, packed sequences are separate documents, and a call with a cache continues the documents of the call before.

    Args:
        model: a model of transformers, or a module or a wrapper (nnsight, DataParallel) that contains such a model. A model with attention
            dropout must be in eval() mode
        exact: largest |offset| that has a bin of its own, in tokens; beyond `exact` there are four bins per doubling
        blocks: number of blocks of documents that are summed separately, for intervals; document n belongs to block n % blocks
        rows: number of queries that are sampled from each document, by position; None: all queries, or 256 with every=
        first: number of first tokens of a document; query-key pairs with one of these tokens are counted apart
        tokenizer: gives the special tokens, whose pairs are counted apart too, and the texts of tokens
        special: further ids of special tokens
        kernel: "torch"; "triton"; or "auto": "triton" if Triton is installed and the device is a GPU, else "torch"
        seed: seed of the sampled queries
        deal: do the same as null=True, and also keep queries and keys of documents that are as long as the first one. A run makes the
            account of every head from them (docs/account.md)
        room: memory for the queries and keys that deal=True keeps, in GiB. If this is too little for all documents, evenly spread
            documents are kept
        queries: also sum means, covariances and mean moduli of queries before rotary positions, for export("kvpress") and
            export("triattention"). These are about heads x d_head^2 numbers in each layer
        null: also sum what `headwave run --profiles` needs: the traces of whole documents and their null
        every: record a training run instead: measures of every head in the forward passes 0, every, 2 every, ... in train() mode
        to: where every= writes: a path (JSON lines), a SummaryWriter of TensorBoard, or a run of W&B. With torch.distributed, rank 0
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
