"""Mean, covariance and mean modulus of vectors, which can be added: of arrays or tensors alike."""

from __future__ import annotations

import dataclasses
from typing import Any

LABELS = ("tokens", "mean", "cov", "modulus")


@dataclasses.dataclass
class Moments:
    """Moments of the queries of one layer.

        mean = 1/N sum q,    cov = 1/(N - 1) sum (q - mean)^T (q - mean)                              (1)
        modulus_i = 1/N sum sqrt(q_i^2 + q_(i+d/2)^2)                                                 (2)

    Args:
        tokens: N
        mean: (H, d)
        cov: (H, d, d)
        modulus: (H, d/2), NaN where rotary positions do not turn channels i and i + d/2 together
    """

    tokens: float
    mean: Any
    cov: Any
    modulus: Any

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
        return Moments(
            tokens,
            self.mean + between * share,
            spread / max(tokens - 1, 1),
            self.modulus + (other.modulus - self.modulus) * share,
        )
