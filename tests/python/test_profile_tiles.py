"""Tiles of attention weights and their sums by offset: headwave.profiles, below headwave.watch."""

import os
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from headwave.profiles.bins import LONGEST, OffsetBins, band_of, row_tiles  # noqa: E402
from headwave.profiles.tiles import APART, LayerSums, Scores, Span, count_rows, count_tiles, diagonals, padded_for, sampled_tiles, weight_tiles  # noqa: E402


def test_bins_cover_every_offset_once():
    bins = OffsetBins(4)
    assert (bins.first[1:] == bins.last[:-1] + 1).all() and bins.first[bins.centre] == bins.last[bins.centre] == 0
    assert list(bins.first[bins.centre:][:9]) == [0, 1, 2, 3, 4, 5, 6, 8, 9]       # ceil(5 * 2^(k/4)): 5, 6, 8, 9, ...
    index = bins.of(-100, 201, torch.device("cpu")).numpy()
    assert all(bins.first[b] <= t <= bins.last[b] for t, b in zip(range(-100, 101), index))


def test_rows_are_cut_into_tiles_of_one_size():
    tiles = row_tiles(3, 700, 100)
    assert tiles[0][0] == 3 and tiles[-1][1] == 700 and all(a[1] == b[0] for a, b in zip(tiles, tiles[1:]))
    assert {z - a for a, z in tiles} <= {99, 100}
    assert [band_of(position) for position in (0, 127, 128, 255, 256, 511, 512)] == [0, 0, 1, 1, 2, 2, 3]


def test_diagonals_by_hand():
    # Rows in reverse: the last query first. Offsets of key 0, 1, 2 from query 1 are -1, 0, 1, from query 0 they are 0, 1, 2.
    padded = padded_for((2, 3), torch.zeros(1))
    padded[:, :3] = torch.tensor([[1.0, 2, 3], [10, 20, 30]])
    assert diagonals(padded).tolist() == [1, 12, 23, 30]


@pytest.mark.parametrize("budget", [1, 1 << 16, 1 << 24])
def test_how_tiles_are_cut_changes_nothing(budget):
    torch.manual_seed(0)
    scores = Scores(torch.randn(2, 4, 150, 8), torch.randn(2, 2, 150, 8), 0.5, 0, True)
    span, bins = Span([0, 1], [0, 1], 0, 150, 0, 150, 0, [0], [0]), OffsetBins(8)
    whole = weight_tiles(scores, span, 0, 150, bins, 1 << 30)
    parts = [weight_tiles(scores, span, a, z, bins, budget) for a, z in ((0, 40), (40, 41), (41, 150))]
    for name in ("weight", "entropy", "kept"):
        torch.testing.assert_close(sum(getattr(part, name) for part in parts), getattr(whole, name), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("causal", "window", "shift", "r0", "r1"), [
    (True, (0, 0), 0, 0, 90), (True, (20, 0), 0, 10, 90), (False, (0, 0), 0, 0, 90), (False, (15, 30), 0, 0, 50), (True, (0, 0), 60, 0, 30),
    (False, (0, 0), 5, 80, 83)])
def test_pairs_are_counted_as_a_mask_shows_them(causal, window, shift, r0, r1):
    bins, keys = OffsetBins(3), 90
    queries = keys - shift
    r1 = min(r1, queries)
    query, key = torch.zeros(1, 1, queries, 2), torch.zeros(1, 1, keys, 2)
    span = Span([0], [0], 0, queries, 0, keys, 0, [0, 7], [0, 7, 40])
    plain = Scores(query, key, 1.0, shift, causal, None, None, window)
    masked = Scores(query, key, 1.0, shift, False, plain.allowed([0], 0, queries, 0, keys).flip(2))
    for name in ("pairs", "rows"):
        torch.testing.assert_close(getattr(count_rows(plain, span, r0, r1, bins), name), getattr(count_tiles(masked, span, r0, r1, bins), name))


def test_pairs_beyond_the_last_bin_are_counted_in_it():
    bins, keys = OffsetBins(3), LONGEST + 2
    scores = Scores(torch.zeros(1, 1, 2, 2), torch.zeros(1, 1, 1, 2).expand(1, 1, keys, 2), 1.0, keys - 2, True)
    pairs = count_rows(scores, Span([0], [0], 0, 2, 0, keys, 0, [1], [0]), 0, 2, bins).pairs[0]
    assert pairs.sum() == 2 * keys - 1 and pairs[APART].sum() == keys + 1 and pairs[:, bins.centre].sum() == 2
    width = bins.last[0] - bins.first[0] + 1   # query 0 has one key beyond the bin, which is apart, and query 1 has two
    assert pairs[:, 0].tolist() == [width, width + 3]


def test_few_rows_are_counted_like_many():
    bins = OffsetBins(3)
    scores = Scores(torch.zeros(1, 1, 4000, 2), torch.zeros(1, 1, 4000, 2), 1.0, 0, True)
    span = Span([0], [0], 0, 4000, 0, 4000, 0, [0], [0])
    few = [count_rows(scores, span, r, r + 8, bins) for r in range(3000, 3400, 8)]     # by rows
    many = count_rows(scores, span, 3000, 3400, bins)                                  # by offsets
    for name in ("pairs", "rows"):
        torch.testing.assert_close(sum(getattr(each, name) for each in few), getattr(many, name))


def test_cells_are_sampled_in_every_stratum():
    cells = sampled_tiles(0, 5000, 0, 1024, np.random.default_rng(1), 64)
    assert sum(factor * (z - a) for a, z, factor in cells) == pytest.approx(5000)
    assert all(band_of(a) == band_of(z - 1) for a, z, _ in cells) and {band_of(a) for a, _, _ in cells} == set(range(7))
    assert 900 < sum(z - a for a, z, _ in cells) < 1400


def test_rows_that_stand_for_others_count_as_many_times():
    scores, bins = Scores(torch.randn(1, 2, 20, 4), torch.randn(1, 2, 20, 4), 1.0, 0, True), OffsetBins(4)
    sums = LayerSums(1, 2, bins, torch.device("cpu"))
    for (r0, r1), factor in (((0, 8), 1.0), ((8, 20), 2.0)):
        for added in (weight_tiles(scores, Span([0], [0], 0, 20, 0, 20), r0, r1, bins, 1 << 20), count_rows(scores, Span([0], [0], 0, 20, 0, 20), r0, r1, bins)):
            sums.add(added, torch.tensor([0]), factor)
    assert float(sums.rows) == 8 + 2 * 12
    assert sums.kept.tolist()[0] == pytest.approx([32, 32]) and sums.weight.sum((0, 1, 3)).tolist() == pytest.approx([32, 32])


INTERPRETED = """
import sys, dataclasses, torch
from headwave.profiles import triton_tiles as kernels
from headwave.profiles.bins import OffsetBins, row_tiles
from headwave.profiles.tiles import LayerSums, Scores, Span, weight_tiles
torch.manual_seed(0)
torch.set_num_threads(1)
kernels.SQUARE, kernels.ROWS, kernels.COLUMNS = 16, 16, 16
bins = OffsetBins(2)

def require_same(scores, span, cells=None):
    kernel, blocks = kernels.Kernel(always=True), torch.arange(len(span.rows))
    assert kernel.takes(scores, span)
    size = (len(span.rows), scores.query.shape[1], bins, torch.device("cpu"))
    ours, theirs = LayerSums(*size), LayerSums(*size)
    for added, factor in kernel.sums(scores, span, bins, cells):
        ours.add(added, blocks, factor)
    for a, z, factor in cells or [(*rows, 1.0) for rows in row_tiles(span.q0, span.q1, 128)]:
        if (added := weight_tiles(scores, span, a, z, bins, 1 << 26)) is not None:
            theirs.add(added, blocks, factor)
    rows = span.q1 - span.q0
    for name in ("weight", "kept", "entropy"):
        torch.testing.assert_close(getattr(ours, name) / rows, getattr(theirs, name) / rows, rtol=1e-5, atol=1e-5, msg=name)

def scores_of(batch, heads, kv_heads, queries, keys, size=2.0, **more):
    return Scores(torch.randn(batch, heads, queries, 16) * size, torch.randn(batch, kv_heads, keys, 16), 0.25, **more)

far, near = Span([0], [0], 0, 240, 0, 240, 0, [0], [0]), Span([0, 2], [0, 1], 5, 60, 5, 60, 0, [5, 6], [5, 6])
case = sys.argv[1]
if case == "far": require_same(scores_of(1, 1, 1, 240, 240, causal=True), far)
if case == "overflow": require_same(scores_of(1, 1, 1, 240, 240, size=100.0, causal=True), far)
if case == "both ways": require_same(scores_of(3, 1, 1, 60, 60), near)
if case == "window": require_same(scores_of(3, 2, 1, 60, 60, causal=True, window=(20, 0)), near)
if case == "cap and sinks": require_same(scores_of(3, 2, 1, 60, 60, causal=True, soft_cap=3.0, sinks=torch.randn(2)), near)
if case == "sampled": require_same(scores_of(3, 2, 1, 60, 60, causal=True), near, [(5, 16, 2.0), (32, 48, 1.5)])
if case == "sampled both ways": require_same(scores_of(3, 2, 1, 60, 60), near, [(5, 16, 2.0), (32, 48, 1.5)])
if case == "mask": require_same(scores_of(3, 2, 1, 60, 60, mask=torch.rand(3, 1, 60, 60) < 0.3), Span([0, 1], [0, 1], 0, 60, 0, 60))
if case == "cache": require_same(scores_of(3, 2, 1, 3, 60, shift=57), Span([0, 1], [0, 1], 0, 3, 0, 60, 0, [], [0]))
"""


@pytest.mark.parametrize("case", ["far", "overflow", "both ways", "window", "cap and sinks", "sampled", "sampled both ways", "mask", "cache"])
def test_the_kernels_sum_what_tiles_do(case, tmp_path):
    """By Triton's interpreter, where Triton is installed; on a GPU the same code is compiled."""
    pytest.importorskip("triton", reason="Triton is not installed")
    program = tmp_path / "interpreted.py"
    program.write_text(INTERPRETED)
    done = subprocess.run([sys.executable, program, case], capture_output=True, text=True, env={**os.environ, "TRITON_INTERPRET": "1"})
    if "only 0-dimensional arrays can be converted" in done.stderr:
        pytest.skip("Triton's interpreter does not work with this numpy")
    assert done.returncode == 0, done.stderr[-2000:]
