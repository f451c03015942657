"""Mean, covariance and mean modulus of queries before rotary positions, for tools that prune caches (docs/profiles.md)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rotary import Unturned
    from .tiles import Span

LABELS = ("tokens", "mean", "cov", "modulus")


@dataclasses.dataclass
class Moments:
    """Moments of the queries of one layer, as arrays or tensors.

        mean = 1/N sum q,    cov = 1/(N - 1) sum (q - mean)^T (q - mean)                              (1)
        modulus_i = 1/N sum sqrt(q_i^2 + q_(i + d/2)^2)                                               (2)

    Args:
        tokens: N
        mean: (H, d)
        cov: (H, d, d)
        modulus: (H, d/2); NaN if rotary positions do not rotate channels i and i + d/2 together
    """

    tokens: float
    mean: Any
    cov: Any
    modulus: Any

    def __add__(self, other: "Moments") -> "Moments":
        """Computes the moments of both samples together.

        Source: Chan, Golub and LeVeque 1979, Stanford STAN-CS-79-773, equation (2.1).
        """
        if not self.tokens or not other.tokens:
            return self if self.tokens else other
        tokens = self.tokens + other.tokens
        share, between = other.tokens / tokens, other.mean - self.mean
        spread = self.cov * (self.tokens - 1) + other.cov * (other.tokens - 1)
        spread = spread + between[..., :, None] * between[..., None, :] * (self.tokens * share)
        return Moments(tokens, self.mean + between * share, spread / max(tokens - 1, 1),
                       self.modulus + (other.modulus - self.modulus) * share)


def moments(before: "Unturned", spans: "list[Span]") -> Moments | None:
    """Computes moments of the regular queries of a call, which are those not counted apart. None if there are no such queries."""
    import torch   # reading files of profiles does not need it

    parts = []
    for span in spans:
        apart = set(span.apart_queries)
        regular = [i for i in range(span.q0, span.q1) if i not in apart]
        if regular:
            parts.append(before.query[span.rows][:, :, regular].transpose(0, 1).flatten(1, 2))  # (H, n, d)
    if not parts:
        return None
    queries = torch.cat(parts, 1).to(torch.promote_types(before.query.dtype, torch.float32))
    tokens, mean = queries.shape[1], queries.mean(1, keepdim=True)
    content = queries - mean
    mean = mean.double() + content.mean(1, keepdim=True, dtype=torch.float64)  # corrects rounding
    half = queries.shape[-1] // 2
    modulus = torch.hypot(queries[..., :half], queries[..., half:2 * half]).mean(1, dtype=torch.float64)
    if not _turns_halves(before):
        modulus = torch.full_like(modulus, torch.nan)
    return Moments(float(tokens), mean[:, 0], (content.transpose(1, 2) @ content).double() / max(tokens - 1, 1), modulus)


def _turns_halves(before: "Unturned") -> bool:
    """Whether rotary positions rotate channel 0 only together with channel d/2, as they do for pairs (i, i + d/2)."""
    batch, _, tokens, width = before.query.shape
    if before.width != width:
        return False
    unit = before.query.new_zeros(batch, 1, tokens, width)
    unit[..., 0] = 1
    touched = before.turn(unit).flatten(0, 2).any(0)
    touched[[0, width // 2]] = False
    return not bool(touched.any())
