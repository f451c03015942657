"""Writes docs/families.md from the goldens of tests/golden/families and what a run of their tests measured.

    HEADWAVE_FAMILIES_LOG=measured.txt build/release/data_tests "*compute*"
    python make_families_page.py measured.txt ../../docs/families.md

A line of measured.txt is a golden's name and three numbers: the largest difference of an attention weight, of a hidden
state and of a logit from what transformers computes, the latter two in units of the rms of what is expected.
"""

import pathlib
import sys

HEAD = """# Families

Model families that headwave knows by `config.json`. Any other checkpoint needs a [map](model-map.md).

| `model_type` | stack |
|---|---|
| bert, roberta, xlm-roberta, camembert, distilbert | encoder, post-norm, learned positions |
| electra, albert | the same with narrower, projected words; ALBERT's layers share their weights |
| deberta, deberta-v2 (also DeBERTa 3) | encoder, post-norm; queries and keys are compared with vectors of relative positions |
| nomic_bert | encoder, post-norm, rotary positions, gated feed-forward |
| modernbert | encoder, pre-norm, rotary positions, local and global layers |
| gpt2 | causal, pre-norm, learned positions |
| bloom | causal, pre-norm, linear biases (ALiBi) |
| openai-gpt | causal, post-norm, learned positions |
| opt | causal, pre- or post-norm, learned positions from row 2 |
| gpt_neo | causal, pre-norm, learned positions, unscaled scores, local layers |
| gptj | causal, attention beside feed-forward, neighbouring channels rotate |
| gpt_neox (Pythia) | causal, attention beside feed-forward or not, part of a head's channels rotates |
| llama, mistral, qwen2, phi3 | causal, pre-norm (RMS), rotary positions, shared key-value heads, gated feed-forward, windows |
| qwen3, olmo2 | the same with norms of queries and keys |
| gemma, gemma2, gemma3_text | the same with norms that multiply by 1 + weight, scaled words, soft caps, local layers |
| granite, smollm3 | the same with multipliers; with layers without rotation |
| t5, mt5 | encoder and decoder, pre-norm (RMS), relative buckets |
| bart, marian | encoder and decoder, post-norm, learned positions or sinusoids |
| vit, deit | [images](inputs.md#images) |
| whisper | [sound](inputs.md#sound) |

Tokenizers: WordPiece, BPE and Unigram, from `tokenizer.json` or SentencePiece's files, Marian's included. Other steps are refused by name; such a model
takes `--ids`.

The same models are read from [GGUF files](gguf.md), quantised too.

Refused by name: quantised safetensors; rotary scalings other than default, linear, dynamic, llama3 and yarn (so Phi-3's longrope); OPT-350m's
projected words; ALBERT with groups of layers; Qwen and SmolLM3 with windows although the switch is off; bidirectional Gemma; DeBERTa with a convolution
(v2 xlarge) or terms other than c2p and p2c; NomicBERT with experts or without a gate; Gemma 3 with images; images of another size than the ViT's.

## Measured
Each family is checked against transformers' eager attention on tiny random checkpoints (`tests/golden/families`), on 7 and on 24 tokens, two images or two
spectra. Tests ask for 1e-5 in attention and 1e-4 of the rms in states and logits. The table holds the largest difference measured. It is made by
`tests/golden/make_families_page.py`.

| checkpoint | attention | states | logits |
|---|---|---|---|
"""


def main(measured, page):
    goldens = pathlib.Path(__file__).parent / "families"
    largest = {}
    for line in pathlib.Path(measured).read_text().splitlines():
        name, *numbers = line.split()
        largest[name] = [max(a, float(b)) for a, b in zip(largest.get(name, [0, 0, 0]), numbers)]
    rows = []
    for folder in sorted(path.parent for path in goldens.glob("*/config.json")):
        weights, states, logits = largest[folder.name]
        said = f"{logits:.1e}" if logits else "none"  # a checkpoint without a head
        rows.append(f"| {folder.name} | {weights:.1e} | {states:.1e} | {said} |")
    pathlib.Path(page).write_text(HEAD + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
