"""Writes docs/families.md from the goldens of tests/golden/families and what a run of their tests measured.

    HEADWAVE_FAMILIES_LOG=measured.txt build/release/data_tests "*compute*"
    python make_families_page.py measured.txt ../../docs/families.md

A line of measured.txt is a golden's name and two numbers: the largest difference of an attention weight and of a hidden
state from what transformers computes, the latter in units of the rms of what is expected.
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
| mpnet | encoder, post-norm, learned positions and biases for buckets of distances |
| roformer | encoder, post-norm, neighbouring channels rotate, words may be narrower and projected |
| esm (ESM-2, ESM-1b) | encoder of proteins, pre-norm, rotary or learned positions |
| nomic_bert | encoder, post-norm, rotary positions, gated feed-forward |
| modernbert | encoder, pre-norm, rotary positions, local and global layers |
| gpt2 | causal, pre-norm, learned positions |
| bloom | causal, pre-norm, linear biases (ALiBi) |
| openai-gpt | causal, post-norm, learned positions |
| opt | causal, pre- or post-norm, learned positions from row 2 |
| gpt_neo | causal, pre-norm, learned positions, unscaled scores, local layers |
| gptj | causal, attention beside feed-forward, neighbouring channels rotate |
| gpt_neox (Pythia) | causal, attention beside feed-forward or not, part of a head's channels rotates |
| phi (1, 1.5, 2) | causal, attention beside feed-forward, part of a head's channels rotates |
| falcon | causal, attention beside feed-forward or not, one key head for all queries or for a group |
| llama, mistral, qwen2, phi3 | causal, pre-norm (RMS), rotary positions, shared key-value heads, gated feed-forward, windows |
| starcoder2, stablelm | as llama, with norms that take means away; without a gate; with part of a head's channels rotating |
| cohere, cohere2 (Command R, R7B, A) | as stablelm, attention beside feed-forward, neighbouring channels rotate; with layers without rotation among local ones |
| glm, glm4 | as llama, part of a head's neighbouring channels rotates |
| qwen3, olmo2 | as llama, with norms of queries and keys |
| gemma | as llama, with GELU, norms that multiply by 1 + weight, and word embeddings times sqrt(d_model) |
| gemma2 | as gemma, with soft caps, norms of what attention and feed-forward add, and every other layer local |
| gemma3_text | as gemma2, with norms of queries and keys in place of the soft cap on scores, most layers local, and another rotary base in those |
| olmo3 | as olmo2, three layers of four local; the others stretched to longer texts (yarn) |
| granite, smollm3 | as llama, with multipliers; with layers without rotation |
| mixtral, qwen2_moe (also Qwen1.5-MoE), qwen3_moe, olmoe | as llama, qwen2, qwen3 and olmo2, with experts; Qwen2-MoE's shared expert; dense layers among them |
| gpt_oss | as llama, with biases, experts (MXFP4 as published, or bf16), a sink in every head's softmax, and every other layer local |
| deepseek_v2, deepseek_v3 (also Moonlight) | queries, keys and values from compressed states; a rotary key that all heads share; experts in groups, shared ones, dense first layers |
| llama4_text | as llama, with experts, chunks, norms of queries and keys, and layers without rotation whose queries are scaled by position |
| t5, mt5 | encoder and decoder, pre-norm (RMS), relative buckets |
| bart, marian | encoder and decoder, post-norm, learned positions or sinusoids |

Tokenizers: WordPiece, BPE and Unigram, from `tokenizer.json` or `vocab.txt`. For a SentencePiece model or GPT-2's `vocab.json`,
transformers writes `tokenizer.json` (with the packages sentencepiece and protobuf): `AutoTokenizer.from_pretrained("DIR").save_pretrained("DIR")`. Marian's tokenizer has no such
file, and steps that are not known are refused by name: such models take `--ids`.

A checkpoint that reads images or sounds beside text (`text_config` in its config.json) is opened as its text part, where that is of a family
above: Gemma 3, Mistral 3, Llava. A `text_config` that omits sizes is refused, except Gemma 3's, which is published so. Documents with ESM's mask
token are refused, since it changes how the model scales its words.

Refused by name: quantised weights other than MXFP4 experts (so DeepSeek V3's FP8); OLMoE with clipped queries; documents longer than
Llama 4's chunks, in analyses; rotary scalings other than default, linear, dynamic, llama3, yarn, longrope and proportional; Falcon
with ALiBi; RoFormer with rotated values; OPT-350m's projected words; ALBERT with groups of layers; Qwen and SmolLM3 with windows although the
switch is off; bidirectional Gemma; DeBERTa with a convolution (v2 xlarge) or terms other than c2p and p2c; NomicBERT with experts or without a
gate. Models with gated delta nets (Qwen3-Next, Qwen3.5), and those that read images or sound
alone (ViT, Whisper): [watch](profiles.md) them in Python.

## Models that Neuronpedia lists
30 of the 41 models in [Neuronpedia's list](https://github.com/hijohnnylin/neuronpedia/blob/main/np_model_to_hf.json) are opened by `headwave inspect`, the
others refused with the reason. `tests/golden/check_listed_models.py` checks that. Weights were not at hand: config.json is typed with the published
sizes, as published and as transformers' classes write it, and the checkpoint has the published names and shapes without numbers. Run
`check-model` (below) on the real one.

| opened | read as |
|---|---|
| GPT-2, Pythia 70M | gpt2, gpt_neox |
| Llama 3.1 8B (two), 3.3 70B | llama |
| Gemma 2 2B and 9B (two each), 27B | gemma2 |
| Gemma 3 270M, 1B, 4B, 12B, 27B (two each) | gemma3_text |
| Qwen2.5 1.5B, 7B | qwen2 |
| Qwen3 1.7B, 4B, 8B, 14B, 32B | qwen3 |
| OLMo 3 7B, 32B | olmo3 |
| gpt-oss 20B | gpt_oss |

| refused | because |
|---|---|
| Gemma 4 E2B, E4B, 31B | heads of global layers are wider than those of local ones |
| Qwen3.5 0.8B, 2B, 4B, 9B, 27B; Qwen3.6 27B | most layers are gated delta nets, which have no attention weights |
| DeepSeek V4 Flash | its layers attend to compressed blocks of keys |
| Muse Glimmer 30B | its word embeddings are normalised, and its heads have gates of their own |

## Your own checkpoint
Where the Python package is installed with transformers, a few random tokens show whether headwave computes what transformers computes:

```sh
python -m headwave check-model minilm
```

```
minilm: attention of 72 heads over 24 tokens agrees with transformers 5.24.0; the largest difference of a weight is 1.4e-06, at L1H8
```

## Heads with sinks
A head of gpt-oss has a learned score, its sink, in the denominator of the softmax. The sink is no token and has no value, so the weights of a query sum to
less than 1. `head_types/learned_sink` is the mean of what is missing. Entropies are those of the weights divided by their sum, so that `entropy_share` is 1 if
all keys get the same weight, whatever the sink takes. The baselines of head types and the null of offsets share out what the sink leaves, and the account's
`strength` lowers its baseline by the mass that is missing. All else is said of the weights as they are: mean weights on a token (previous, induction, sink) can
reach 1 only if the sink takes nothing, and `account/uniform_profile`, overlaps and `offset_by_query/uniform_share` compare with uniform attention that has no
sink. The account deals contents with the sink in place. Finished attention whose rows do not sum to 1 is refused as input.

## Measured
Each family is checked against transformers' eager attention on tiny random checkpoints (`tests/golden/families`), on 7 and on 24 tokens. Tests ask for 1e-5 in attention and 1e-4 of the rms in states. The table holds the largest difference measured. It is made by
`tests/golden/make_families_page.py`.

| checkpoint | attention | states |
|---|---|---|
"""


def main(measured, page):
    goldens = pathlib.Path(__file__).parent / "families"
    largest = {}
    for line in pathlib.Path(measured).read_text().splitlines():
        name, *numbers = line.split()
        largest[name] = [max(a, float(b)) for a, b in zip(largest.get(name, [0, 0]), numbers)]
    rows = []
    for folder in sorted(path.parent for path in goldens.glob("*/config.json")):
        weights, states = largest[folder.name]
        rows.append(f"| {folder.name} | {weights:.1e} | {states:.1e} |")
    pathlib.Path(page).write_text(HEAD + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
