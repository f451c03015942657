"""Spectra that fft_test.cpp and position_spectrum_test.cpp expect: numpy's transform, scipy's detrending and peaks.

    python make_spectra.py positions.npy model.safetensors spectra.json

positions.npy is minilm-positions/positions.npy, model.safetensors is gpt2-small-attention/model.safetensors, both of
the shared data. `small` holds its own input. Made with numpy 2.4.6, scipy 1.17.1, safetensors 0.8.0, Python 3.11.
"""

import json
import sys

import numpy as np
from safetensors.numpy import load_file
from scipy.signal import detrend, find_peaks, get_window, peak_prominences


def prepared(x, mean, line, window):
    if mean or line:
        x = detrend(x, axis=0, type="linear" if line else "constant")
    return x * get_window("boxcar" if window == "rectangular" else window, len(x))[:, None]


def band(amplitude):
    return {
        "mean": amplitude.mean(axis=1).tolist(),
        "lower": np.quantile(amplitude, 0.25, axis=1).tolist(),
        "upper": np.quantile(amplitude, 0.75, axis=1).tolist(),
    }


def cumulative_energy(x):
    power = np.sum(np.abs(np.fft.fft(x, axis=0)) ** 2, axis=1)  # both signs of f
    length = len(x)
    by_frequency = [0.0] * (length // 2 + 1)
    for f in range(1, length):
        by_frequency[min(f, length - f)] += power[f]
    return (np.cumsum(by_frequency) / np.sum(by_frequency)).tolist()


def peaks(mean):
    """Peaks at f >= 1 that stand out by a tenth of the highest, the most prominent first; the ends may be peaks."""
    x = np.asarray(mean)[1:]
    padded = np.concatenate([[x.min() - 1], x, [x.min() - 1]])
    where, _ = find_peaks(padded)
    floored = np.concatenate([[x.min()], x, [x.min()]])
    height = peak_prominences(floored, where)[0]
    order = [i for i in np.argsort(-height, kind="stable") if height[i] >= 0.1 * x.max()]
    return {"frequency": [int(where[i]) for i in order], "prominence": [float(height[i]) for i in order]}


def summary(x):
    result = band(np.abs(np.fft.rfft(x, axis=0)))
    return result | {"cumulative_energy": cumulative_energy(x), "peaks": peaks(result["mean"])}


def small(length, columns, generator):
    x = np.round(generator.normal(size=(length, columns)) + np.linspace(0, 3, length)[:, None] + 1, 3)
    cases = []
    for mean, line, window in [(0, 0, "rectangular"), (1, 0, "rectangular"), (0, 1, "rectangular"), (0, 0, "hann"),
                               (0, 1, "hann")]:
        amplitude = np.abs(np.fft.rfft(prepared(x, mean, line, window), axis=0))
        cases.append({"demean": bool(mean), "detrend": bool(line), "window": window} | band(amplitude))
    return {"x": x.tolist(), "cases": cases, "summary": summary(x)}


if __name__ == "__main__":
    positions_path, model_path, output = sys.argv[1:]
    generator = np.random.default_rng(5)
    minilm = np.load(positions_path).astype(np.float64)
    wpe = load_file(model_path)["transformer.wpe.weight"].astype(np.float64)
    dump = {
        "small": [small(24, 5, generator), small(33, 4, generator)],
        "minilm": summary(minilm),
        "gpt2": {"1024": cumulative_energy(wpe), "512": cumulative_energy(wpe[:512]), "peaks": summary(wpe)["peaks"]},
    }
    with open(output, "w") as file:
        json.dump(dump, file)
        file.write("\n")
