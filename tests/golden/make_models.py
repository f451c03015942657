"""Tiny random BERT and RoBERTa checkpoints and what transformers computes with them.

    python make_models.py OUT_DIR

Writes OUT_DIR/{bert,roberta}/{config.json, model.safetensors, expected.safetensors}. Configurations are made here, weights
are drawn from a seeded generator, nothing is downloaded. Made with torch 2.13.0 (CPU), transformers 5.23.0, safetensors 0.8.0.

expected.safetensors, for an input of 7 tokens ("short"), one as long as the positions allow ("full"), and the short one padded
to the full length in a batch with it ("padded"; only the 7 valid rows are kept):
  {case}.ids (T)  {case}.hidden_states (layers + 1, T, d_model)  {case}.attentions (layers, heads, T, T)
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

LAYERS, HEADS, WIDTH, WIDE, WORDS, POSITIONS = 2, 4, 32, 48, 90, 40


def config_of(family):
    common = dict(
        vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=WIDE,
        attn_implementation="eager",
    )
    if family == "bert":
        return transformers.BertConfig(max_position_embeddings=POSITIONS, layer_norm_eps=1e-12, **common)
    return transformers.RobertaConfig(
        max_position_embeddings=POSITIONS + 2, pad_token_id=1, type_vocab_size=1, layer_norm_eps=1e-5, **common)


def model_of(family, seed):
    config = config_of(family)
    cls = transformers.BertModel if family == "bert" else transformers.RobertaModel
    model = cls(config, add_pooling_layer=False).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in sorted(model.named_parameters()):
            noise = torch.randn(tensor.shape, generator=generator)
            # Weights large enough that attention is far from uniform; norms near one.
            tensor.copy_(1 + 0.2 * noise if "LayerNorm.weight" in name else 0.3 * noise)
    return model


def outputs(model, ids, mask):
    with torch.no_grad():
        out = model(input_ids=ids, attention_mask=mask, output_hidden_states=True, output_attentions=True)
    return torch.stack(out.hidden_states, 1), torch.stack(out.attentions, 1)


def main(folder):
    for family, seed in (("bert", 1), ("roberta", 2)):
        out = pathlib.Path(folder) / family
        out.mkdir(parents=True, exist_ok=True)
        model = model_of(family, seed)
        generator = torch.Generator().manual_seed(seed + 100)
        full = torch.randint(5, WORDS, (1, POSITIONS), generator=generator)
        short = full[:, 10:17]
        pad = model.config.pad_token_id
        batch = torch.cat([torch.nn.functional.pad(short, (0, POSITIONS - 7), value=pad), full])
        mask = torch.ones_like(batch)
        mask[0, 7:] = 0
        expected = {}
        for case, (states, weights), count in (
            ("short", outputs(model, short, torch.ones_like(short)), 7),
            ("full", outputs(model, full, torch.ones_like(full)), POSITIONS),
            ("padded", outputs(model, batch, mask), 7),
        ):
            expected[f"{case}.ids"] = (short if count == 7 else full)[0].to(torch.int32)
            expected[f"{case}.hidden_states"] = states[0, :, :count].contiguous()
            expected[f"{case}.attentions"] = weights[0, :, :, :count, :count].contiguous()
        save_file(expected, out / "expected.safetensors")
        # The task models store the encoder under a prefix; one of the two is written so.
        prefix = "" if family == "bert" else "roberta."
        save_file({prefix + k: v.contiguous() for k, v in model.state_dict().items()}, out / "model.safetensors",
                  metadata={"format": "pt"})
        keep = ("model_type vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act "
                "max_position_embeddings type_vocab_size layer_norm_eps pad_token_id").split()
        settings = {key: model.config.to_dict()[key] for key in keep}
        (out / "config.json").write_text(json.dumps(settings, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
