"""Offset bins, which are the columns of a watched model's sums, and query bands, from which queries are sampled."""

from __future__ import annotations

import math

import numpy as np
import torch

BINS_PER_DOUBLING = 4
LONGEST = 2 ** 20     # tokens: the last bin ends before it
FIRST_BAND = 128      # queries in the first band
BANDS = 14            # [0, 128), [128, 256), [256, 512), ...; the last one has no end


class OffsetBins:
    """Bins of offsets t = key - query, in tokens, ascending. Each offset with |t| <= exact has its own bin; beyond, bins are logarithmic.

    Logarithmic bins begin at |t| = ceil((exact + 1) 2^(k/4)), k = 0, 1, ..., as in the program's own bins, up to 2^20 tokens.
    Offsets farther away count in the outermost bins.

    Args:
        exact: largest |t| that has a bin of its own
    """

    def __init__(self, exact: int) -> None:
        starts = list(range(exact + 1))
        k = 0
        while (start := math.ceil((exact + 1) * 2 ** (k / BINS_PER_DOUBLING))) < LONGEST:
            if start > starts[-1]:
                starts.append(start)
            k += 1
        self.exact = exact
        self.starts = np.array(starts, np.int64)              # smallest |t| of each bin; the same on both sides
        ends = np.append(self.starts[1:], LONGEST) - 1
        self.first = np.concatenate([-ends[:0:-1], self.starts])   # (bins) smallest offset
        self.last = np.concatenate([-self.starts[:0:-1], ends])    # (bins) largest offset
        self.count = len(self.first)
        self.centre = len(self.starts) - 1                    # the bin of t = 0
        self._of: dict[tuple[int, int, torch.device], torch.Tensor] = {}

    def of(self, first: int, count: int, device: torch.device) -> torch.Tensor:
        """Gives the bins of the offsets first .. first + count - 1."""
        at = (first, count, device)
        if at not in self._of:
            if len(self._of) > 4096:
                self._of.clear()
            self._of[at] = torch.from_numpy(self.of_each(np.arange(first, first + count))).to(device)
        return self._of[at]

    def of_each(self, offsets: np.ndarray) -> np.ndarray:
        """The bin of each offset."""
        return self.centre + np.sign(offsets) * (np.searchsorted(self.starts, np.abs(offsets), side="right") - 1)


def band_of(position: int) -> int:
    """Gives the band of a query at this position of its document."""
    return 0 if position < FIRST_BAND else min(BANDS - 1, (position // FIRST_BAND).bit_length())


def row_tiles(first: int, end: int, most: int) -> list[tuple[int, int]]:
    """Cuts query rows first .. end - 1 into tiles of about equal size, with at most `most` rows each."""
    count = -(-(end - first) // most)
    return [(first + n * (end - first) // count, first + (n + 1) * (end - first) // count) for n in range(count)]
