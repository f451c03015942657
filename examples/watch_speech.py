"""Sums where the encoder of a Whisper model looks while it reads speech.

    python watch_speech.py MODEL PROFILES.h5 CLIP.wav [CLIP.wav ...]

MODEL is a folder of transformers, or a name on the Hub. The first 30 seconds of each clip are a document of 1,500 places, 20 ms each.
`headwave run --profiles PROFILES.h5` then says where heads look, and why. It needs 8 clips or more to say so in bits.
"""

import sys
import wave

import numpy as np
import torch
from transformers import WhisperFeatureExtractor, WhisperModel

import headwave

RATE = 16000   # of the samples that Whisper reads, in Hz


def samples(path):
    """Reads 16-bit mono speech and resamples it. Frequencies above those of the new rate are removed."""
    with wave.open(path) as file:
        sound, rate = np.frombuffer(file.readframes(file.getnframes()), np.int16) / 2**15, file.getframerate()
    length = round(len(sound) * RATE / rate)
    return np.fft.irfft(np.fft.rfft(sound)[: length // 2 + 1], length) * (length / len(sound))


def main(model, profiles, clips):
    encoder = WhisperModel.from_pretrained(model, dtype=torch.float32).encoder.eval()
    features = WhisperFeatureExtractor.from_pretrained(model)
    with headwave.watch(encoder, deal=True) as watch, torch.inference_mode():
        for clip in clips:
            encoder(features(samples(clip), sampling_rate=RATE, return_tensors="pt").input_features)
    watch.result().save(profiles)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
