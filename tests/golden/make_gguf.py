"""Small GGUF files, written with the package gguf, and what transformers and gguf make of the same numbers.

    python make_gguf.py gguf [--check]

Writes, into the folder that is named first:
  NAME.gguf, NAME.safetensors    a tiny random model of each architecture in float32, converted as llama.cpp's
                                 convert_hf_to_gguf.py does: its names (gguf.get_tensor_name_map), queries and keys permuted
                                 for neighbouring rotary channels, 1 added to Gemma's norms, GPT-2's weights transposed; and
                                 what transformers computes with the model before: `ids` (T), `attentions` (layers, heads,
                                 T, T), `states` (T, d_model), after the last norm, and `query`, the first layer's
                                 projection of queries where it is a tensor of its own
  quantised.gguf, .safetensors   a tensor of every type that is read, of random blocks with tame scales, and its numbers by
                                 gguf.quants.dequantize; `odd.TYPE` holds blocks of random bytes where they are finite
  vocabulary-NAME.gguf           the vocabularies of golden/trained as GGUF files hold them; ids.json there has their ids

--check reads the models back through transformers itself, where it knows the architecture, and compares every tensor.
Nothing is downloaded. Made with gguf 0.19.0, torch 2.13.0 (CPU), transformers 5.24.0, sentencepiece 0.2.3.
"""

import json
import pathlib
import sys
import tempfile

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
WORDS, T = 24, 13
SIZES = dict(vocab_size=WORDS, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
             max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2)
LLAMA = dict(SIZES, num_key_value_heads=1, head_dim=6, rms_norm_eps=1e-3, attn_implementation="eager")
PERMUTED = ("llama", "granite", "smollm3")


def rope(theta, **scaling):
    return dict(rope_parameters=dict(dict(rope_type="default"), rope_theta=theta, **scaling))


def models():
    """By name: the architecture, the model, and what is written beside the keys that all have."""
    t = transformers
    two_bases = {"full_attention": dict(rope_type="linear", factor=8.0, rope_theta=700.0),
                 "sliding_attention": dict(rope_type="default", rope_theta=10000.0)}
    llama3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=16)
    return {
        "llama": ("llama", t.LlamaForCausalLM, t.LlamaConfig(**LLAMA, **rope(500.0), tie_word_embeddings=False)),
        "llama-tied": ("llama", t.LlamaForCausalLM, t.LlamaConfig(**LLAMA, **rope(500.0), tie_word_embeddings=True)),
        "llama-biased": ("llama", t.LlamaForCausalLM, t.LlamaConfig(**LLAMA, **rope(500.0), attention_bias=True)),
        "llama-3": ("llama", t.LlamaForCausalLM, t.LlamaConfig(**dict(LLAMA, head_dim=8), rope_parameters=dict(llama3, rope_theta=100.0))),
        "llama-yarn": ("llama", t.LlamaForCausalLM, t.LlamaConfig(**dict(LLAMA, head_dim=8), **rope(100.0) | dict(rope_parameters=dict(
            rope_type="yarn", factor=4.0, original_max_position_embeddings=8, rope_theta=100.0)))),
        "mistral": ("llama", t.MistralForCausalLM, t.MistralConfig(**LLAMA, **rope(500.0), sliding_window=5)),
        "qwen2": ("qwen2", t.Qwen2ForCausalLM, t.Qwen2Config(**{k: v for k, v in LLAMA.items() if k != "head_dim"}, **rope(500.0))),
        "qwen3": ("qwen3", t.Qwen3ForCausalLM, t.Qwen3Config(**LLAMA, **rope(500.0))),
        "gemma": ("gemma", t.GemmaForCausalLM, t.GemmaConfig(**LLAMA, **rope(500.0))),
        "gemma2": ("gemma2", t.Gemma2ForCausalLM, t.Gemma2Config(**LLAMA, **rope(500.0), query_pre_attn_scalar=6, sliding_window=5,
                                                                 attn_logit_softcapping=0.7, final_logit_softcapping=3.0)),
        "gemma3": ("gemma3", t.Gemma3ForCausalLM, t.Gemma3TextConfig(**dict(LLAMA, num_hidden_layers=7), rope_parameters=two_bases,
                                                                      query_pre_attn_scalar=6, sliding_window=5)),
        "phi3": ("phi3", t.Phi3ForCausalLM, t.Phi3Config(**{k: v for k, v in LLAMA.items() if k != "head_dim"}, **rope(500.0),
                                                         sliding_window=5)),
        "olmo2": ("olmo2", t.Olmo2ForCausalLM, t.Olmo2Config(**{k: v for k, v in LLAMA.items() if k != "head_dim"}, **rope(500.0))),
        "granite": ("granite", t.GraniteForCausalLM, t.GraniteConfig(
            **{k: v for k, v in LLAMA.items() if k != "head_dim"}, **rope(500.0), embedding_multiplier=3.0, residual_multiplier=0.5,
            attention_multiplier=0.75, logits_scaling=2.0)),
        "smollm3": ("smollm3", t.SmolLM3ForCausalLM, t.SmolLM3Config(
            **{k: v for k, v in dict(LLAMA, num_hidden_layers=4).items() if k != "head_dim"}, **rope(500.0))),
        "gpt2": ("gpt2", t.GPT2LMHeadModel, t.GPT2Config(vocab_size=WORDS, n_embd=8, n_layer=2, n_head=2, n_positions=20,
                                                         layer_norm_epsilon=1e-3, attn_implementation="eager")),
        "bert": ("bert", t.BertModel, t.BertConfig(**SIZES, type_vocab_size=2, layer_norm_eps=1e-3, attn_implementation="eager")),
    }


def made(kind, config, seed):
    """The model with every parameter drawn anew: defaults of one and zero would hide what is added or left out."""
    torch.manual_seed(seed)
    model = kind(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            norm = "norm" in name.lower() or ".ln_" in name
            parameter.copy_(torch.randn_like(parameter) * (0.3 if norm else 0.6) + (0.8 if norm and "gemma" not in config.model_type else 0))
    return model


def permuted(weight, heads):
    """Rows of a head's channels m and m + r/2 side by side, as convert_hf_to_gguf.py stores them."""
    half = weight.shape[0] // heads // 2
    return np.ascontiguousarray(weight.reshape(heads, 2, half, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape))


def llama3_factors(config):
    """What the frequency of each pair of channels is divided by: Llama 3's rule."""
    said = config.rope_parameters
    width = config.head_dim
    frequency = said["rope_theta"] ** -(np.arange(0, width, 2) / width)
    turns = said["original_max_position_embeddings"] * frequency / (2 * np.pi)
    u = np.clip((turns - said["low_freq_factor"]) / (said["high_freq_factor"] - said["low_freq_factor"]), 0, 1)
    return (1 / ((1 - u) / said["factor"] + u)).astype(np.float32)


def write_model(path, architecture, model, convert=lambda name, tensor: (tensor, None), vocabulary=lambda writer: None):
    """A model as convert_hf_to_gguf.py writes it.

    Args:
        convert: a tensor's bytes and its type, after everything else; (floats, None): as it is
        vocabulary: adds a tokenizer
    """
    config = model.config
    writer = gguf.GGUFWriter(path, architecture)
    get = lambda *names: next((getattr(config, name) for name in names if getattr(config, name, None) is not None), None)
    layers, heads, width = get("num_hidden_layers", "n_layer"), get("num_attention_heads", "n_head"), get("hidden_size", "n_embd")
    writer.add_vocab_size(WORDS)
    writer.add_context_length(get("max_position_embeddings", "n_positions"))
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(get("intermediate_size", "n_inner") or 4 * width)
    writer.add_head_count(heads)
    kv = get("num_key_value_heads")
    if kv:
        writer.add_head_count_kv(kv)
    if get("rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    else:
        writer.add_layer_norm_eps(get("layer_norm_eps", "layer_norm_epsilon"))
    if get("head_dim") and architecture != "phi3":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    rotary = get("rope_parameters")
    if rotary:
        full = rotary.get("full_attention", rotary)
        writer.add_rope_freq_base(full["rope_theta"])
        writer.add_rope_dimension_count(get("head_dim") or width // heads)
        if full["rope_type"] in ("linear", "yarn"):
            writer.add_rope_scaling_type(gguf.RopeScalingType(full["rope_type"]))
            writer.add_rope_scaling_factor(full["factor"])
        if full["rope_type"] == "yarn":
            writer.add_rope_scaling_orig_ctx_len(full["original_max_position_embeddings"])
    if get("sliding_window") and architecture != "qwen2" and architecture != "qwen3":
        writer.add_sliding_window(config.sliding_window)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if architecture == "granite":
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if architecture == "bert":
        writer.add_causal_attention(False)
    vocabulary(writer)

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[architecture.upper()], layers)
    tied = get("tie_word_embeddings") in (None, True)
    if rotary and rotary.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(config))
    for name, tensor in model.state_dict().items():
        if (name == "lm_head.weight" and tied) or name.startswith("pooler") or name.endswith(("position_ids", ".attn.bias", ".attn.masked_bias")):
            continue
        values = tensor.float().numpy()
        called = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if called is None:
            raise ValueError(f"{architecture} has no name for {name}")
        if architecture in PERMUTED and ("attn_q." in called or "attn_k." in called):
            values = permuted(values, heads if "attn_q." in called else kv)
        if architecture.startswith("gemma") and called.endswith("norm.weight"):
            values = values + 1
        if architecture == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            values = np.ascontiguousarray(values.T)
        stored, kind = convert(called, values)
        writer.add_tensor(called, stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def expected(model):
    ids = np.random.default_rng(5).integers(3, WORDS, T)
    with torch.no_grad():
        out = model(torch.tensor(ids)[None], output_attentions=True, output_hidden_states=True)
    tensors = {"ids": ids.astype(np.int32), "attentions": torch.cat(out.attentions).numpy(), "states": out.hidden_states[-1][0].numpy()}
    if "logits" in out:
        tensors["logits"] = out.logits[0].numpy()
    for name, tensor in model.state_dict().items():
        if name.endswith(("layers.0.self_attn.q_proj.weight", "layer.0.attention.self.query.weight")):
            tensors["query"] = tensor.numpy()
    return {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}


def check(path, model):
    """Reads a file through transformers and compares every tensor of its own with the model's."""
    try:
        again = type(model).from_pretrained(str(path.parent), gguf_file=path.name, config=model.config)
    except (ValueError, KeyError, NotImplementedError, RuntimeError, AssertionError) as error:
        return f"transformers does not read it: {str(error).splitlines()[0][:80]}"
    theirs = again.state_dict()
    apart = {name: float((theirs[name] - tensor).abs().max()) if theirs[name].shape == tensor.shape else float("inf")
             for name, tensor in model.state_dict().items() if name in theirs}
    worst = max(apart, key=apart.get)
    return f"{len(apart)} of {len(model.state_dict())} tensors, at most {apart[worst]:.1e} apart ({worst})"


TYPES = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.MXFP4, Type.F16, Type.BF16]
SCALES = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2],
          Type.Q6_K: [208], Type.MXFP4: [], Type.F16: [], Type.BF16: []}


def blocks(kind, rows, tame, random):
    """Random bytes; where they are tame, float16 scales of a usual size, and otherwise any finite ones."""
    entries, size = gguf.GGML_QUANT_SIZES[kind]
    packed = random.integers(0, 256, (rows, 256 // entries, size), dtype=np.uint8)
    if kind in (Type.F16, Type.BF16):
        values = random.normal(size=(rows, 256)).astype(np.float32)
        return gguf.quants.quantize(values, kind).view(np.uint8)
    for at in SCALES[kind]:
        scale = random.normal(scale=0.01, size=packed.shape[:2]).astype(np.float16) if tame else random.choice(
            np.array([0, -0.0, 6e-8, -3e-5, 1, -65504, 0.3], np.float16), packed.shape[:2])
        packed[..., at : at + 2] = scale[..., None].view(np.uint8)
    if kind == Type.MXFP4:
        packed[..., 0] = random.integers(110, 130, packed.shape[:2]) if tame else random.choice(np.array([0, 1, 2, 3, 127, 200, 254], np.uint8), packed.shape[:2])
    return packed.reshape(rows, -1)


def write_quantised(folder):
    random = np.random.default_rng(11)
    writer = gguf.GGUFWriter(folder / "quantised.gguf", "numbers")
    writer.add_custom_alignment(64)
    numbers = {}
    for kind in TYPES:
        for name, tame in ((kind.name, True), (f"odd.{kind.name}", False)):
            packed = blocks(kind, 2 if tame else 1, tame, random)
            writer.add_tensor(name, packed, raw_dtype=kind)
            numbers[name] = gguf.quants.dequantize(packed, kind).astype(np.float32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    save_file(numbers, folder / "quantised.safetensors")


def byte_level(pre, name):
    """A tokenizer.json of byte-level BPE as convert_hf_to_gguf.py writes it."""
    said = json.loads((HERE / "trained" / name / "tokenizer.json").read_text(encoding="utf-8"))

    def add(writer):
        pieces = dict(said["model"]["vocab"])
        added = {one["content"]: one for one in said["added_tokens"]}
        pieces |= {content: one["id"] for content, one in added.items()}
        by_id = {number: piece for piece, number in pieces.items()}
        tokens, kinds = [], []
        for number in range(max(by_id) + 1):
            piece = by_id.get(number, f"[PAD{number}]")
            special = added.get(piece)
            tokens.append(piece)
            kinds.append(gguf.TokenType.UNUSED if number not in by_id else gguf.TokenType.NORMAL if special is None
                         else gguf.TokenType.CONTROL if special["special"] else gguf.TokenType.USER_DEFINED)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(tokens)
        writer.add_token_types(kinds)
        writer.add_token_merges([one if isinstance(one, str) else " ".join(one) for one in said["model"]["merges"]])
        for content, key in (("<|begin_of_text|>", "bos"), ("<|end_of_text|>", "eos"), ("<|endoftext|>", "eos")):
            if content in pieces:
                getattr(writer, f"add_{key}_token_id")(pieces[content])

    return add


def sentencepiece(name, prefix):
    """A SentencePiece model, and the tokens that its tokenizer.json adds, as convert_hf_to_gguf.py writes them."""
    def add(writer):
        from sentencepiece import SentencePieceProcessor

        model = SentencePieceProcessor(model_file=str(HERE / "trained" / f"{name}_model" / "tokenizer.model"))
        said = json.loads((HERE / "trained" / name / "tokenizer.json").read_text(encoding="utf-8"))
        added = {one["id"]: one for one in said["added_tokens"]}
        count = model.vocab_size()
        kind = lambda i: (gguf.TokenType.UNKNOWN if model.IsUnknown(i) else gguf.TokenType.CONTROL if model.IsControl(i)
                          else gguf.TokenType.UNUSED if model.IsUnused(i) else gguf.TokenType.BYTE if model.IsByte(i) else gguf.TokenType.NORMAL)
        writer.add_tokenizer_model("llama")
        writer.add_tokenizer_pre("default")
        users = {i for i, one in added.items() if not one["special"]}
        writer.add_token_list([(model.IdToPiece(i).replace("\u2581", " ") if i in users else model.IdToPiece(i)).encode() for i in range(count)])
        writer.add_token_scores([-1000.0 if i in users else model.GetScore(i) for i in range(count)])
        writer.add_token_types([gguf.TokenType.USER_DEFINED if i in users else kind(i) for i in range(count)])
        writer.add_bos_token_id(model.bos_id())
        writer.add_eos_token_id(model.eos_id())
        writer.add_unk_token_id(model.unk_id())
        writer.add_add_space_prefix(prefix)

    return add


def word_piece(folder):
    """BERT's vocab.txt as convert_hf_to_gguf.py writes it."""
    def add(writer):
        mark = lambda token: token if token[:1] == "[" and token[-1:] == "]" else token[2:] if token.startswith("##") else "\u2581" + token
        writer.add_tokenizer_model("bert")
        writer.add_token_list([mark(line).encode() for line in (folder / "vocab.txt").read_text(encoding="utf-8").split("\n") if line])

    return add


def write_vocabulary(path, add):
    writer = gguf.GGUFWriter(path, "vocabulary")
    add(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main(folder, checks):
    folder.mkdir(exist_ok=True)
    for number, (name, (architecture, kind, config)) in enumerate(models().items()):
        model = made(kind, config, 100 + number)
        # Read back from its directory, so that the configuration is what a user's would be.
        with tempfile.TemporaryDirectory() as saved:
            model.save_pretrained(saved)
            model = kind.from_pretrained(saved, attn_implementation="eager").eval()
        write_model(folder / f"{name}.gguf", architecture, model)
        save_file(expected(model), folder / f"{name}.safetensors")
        print(name, check(folder / f"{name}.gguf", model) if checks else "")
    write_quantised(folder)
    for name, add in (("llama3", byte_level("llama-bpe", "llama3")), ("qwen2", byte_level("qwen2", "qwen2")),
                      ("llama2", sentencepiece("llama2", True)), ("gemma", sentencepiece("gemma", False))):
        write_vocabulary(folder / f"vocabulary-{name}.gguf", add)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), "--check" in sys.argv[2:])
