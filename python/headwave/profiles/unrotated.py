"""Queries before rotary positions, whose moments calibrate caches that are pruned (docs/profiles.md)."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import FormatError
from .moments import Moments
from .tiles import Scores, Span

PAIRED = 0.05  # change of moduli up to which channels i and i + d/2 are turned together; other pairs change them by 0.2


def unrotated(scores: Scores, spans: list[Span], last: tuple[Any, ...] | None, path: str) -> Moments | None:
    """Moments of the queries of a call that are not counted apart; None: there is no such query.

    Args:
        last: what apply_rotary_pos_emb was given and returned for these queries; None: no rotary positions
        path: of the module, for messages

    Raises:
        FormatError: something else is done to the queries after they were turned
    """
    before = _before(scores.query, last, path)
    wide = torch.float32 if scores.query.device.type == "mps" else torch.float64
    parts = []
    for span in spans:
        apart = set(span.apart_queries)
        regular = [i for i in range(span.q0, span.q1) if i not in apart]
        if regular:
            parts.append(before[span.rows][:, :, regular].transpose(0, 1).flatten(1, 2))  # (H, n, d)
    if not parts:
        return None
    queries = torch.cat(parts, 1).to(torch.promote_types(scores.query.dtype, torch.float32))
    tokens, mean = queries.shape[1], queries.mean(1, keepdim=True)
    content = queries - mean
    mean = mean.to(wide) + content.mean(1, keepdim=True, dtype=wide)  # less what rounding left in it
    modulus = _moduli(queries).mean(1, dtype=wide)
    if not _turns_halves(scores.query, before):
        modulus = torch.full_like(modulus, torch.nan)
    return Moments(
        float(tokens), mean[:, 0], (content.transpose(1, 2) @ content).to(wide) / max(tokens - 1, 1), modulus
    )


def _before(query: torch.Tensor, last: tuple[Any, ...] | None, path: str) -> torch.Tensor:
    """The queries before rotary positions; channels that are not turned stay as they are."""
    if last is None:
        return query
    _, args, _, output = last
    given, turned = (
        of[0] if isinstance(of, tuple) and of and isinstance(of[0], torch.Tensor) else query[..., :0]
        for of in (args, output)
    )
    width = given.shape[-1]
    if (
        not width
        or given.shape != turned.shape
        or turned.shape[:-1] != query.shape[:-1]
        or not torch.equal(turned.to(query.dtype), query[..., :width])
    ):
        raise FormatError(
            f"watch: {path} turns queries in a way that watch cannot undo, as queries=True needs; omit queries"
        )
    return torch.cat([given, query[..., width:]], -1)


def _moduli(queries: torch.Tensor) -> torch.Tensor:
    half = queries.shape[-1] // 2
    return torch.hypot(queries[..., :half], queries[..., half : 2 * half])


def _turns_halves(turned: torch.Tensor, before: torch.Tensor) -> bool:
    """Whether turning kept the moduli of the pairs (i, i + d/2), up to one factor; False where nothing was turned."""
    if turned is before:
        return False
    a, b = _moduli(before.float()), _moduli(turned.float())
    factor = (a * b).sum() / (a * a).sum().clamp(min=1e-30)
    return bool((b - factor * a).norm() <= PAIRED * b.norm())
