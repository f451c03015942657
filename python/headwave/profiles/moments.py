"""Mean and covariance of queries before rotary positions, which calibrate caches that are pruned (docs/profiles.md)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from .tiles import Span

LABELS = ("tokens", "mean", "cov")


@dataclasses.dataclass
class Moments:
    """Moments of the queries of one layer, of arrays or tensors alike.

        mean = 1/N sum q,    cov = 1/(N - 1) sum (q - mean)^T (q - mean)                              (1)

    Args:
        tokens: N
        mean: (H, d)
        cov: (H, d, d)
    """

    tokens: float
    mean: Any
    cov: Any

    def __add__(self, other: "Moments") -> "Moments":
        """The moments of both samples together.

        Source: Chan, Golub and LeVeque 1979, Stanford STAN-CS-79-773, equation (2.1).
        """
        if not self.tokens or not other.tokens:
            return self if self.tokens else other
        tokens = self.tokens + other.tokens
        share, between = other.tokens / tokens, other.mean - self.mean
        spread = self.cov * (self.tokens - 1) + other.cov * (other.tokens - 1)
        spread = spread + between[..., :, None] * between[..., None, :] * (self.tokens * share)
        return Moments(tokens, self.mean + between * share, spread / max(tokens - 1, 1))


def moments(before: "torch.Tensor", spans: "list[Span]") -> Moments | None:
    """Moments of the queries of a call that are not counted apart; None: there is no such query.

    Args:
        before: (B, H, T, d) queries before rotary positions
    """
    import torch   # files of profiles are read without it

    wide = torch.float32 if before.device.type == "mps" else torch.float64
    parts = []
    for span in spans:
        apart = set(span.apart_queries)
        regular = [i for i in range(span.q0, span.q1) if i not in apart]
        if regular:
            parts.append(before[span.rows][:, :, regular].transpose(0, 1).flatten(1, 2))  # (H, n, d)
    if not parts:
        return None
    queries = torch.cat(parts, 1).to(torch.promote_types(before.dtype, torch.float32))
    tokens, mean = queries.shape[1], queries.mean(1, keepdim=True)
    content = queries - mean
    mean = mean.to(wide) + content.mean(1, keepdim=True, dtype=wide)  # less what rounding left in it
    return Moments(float(tokens), mean[:, 0], (content.transpose(1, 2) @ content).to(wide) / max(tokens - 1, 1))
