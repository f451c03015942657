"""A small tokenizer of Marian's kind, with the ids that SentencePiece and vocab.json give together.

    python make_marian_tokenizer.py SHARED_DATA trained/marian

SHARED_DATA is the folder with text. Made with Python 3.11, sentencepiece 0.2.3 and transformers 5.23.0 (MarianTokenizer, whose ids
these are). source.spm is trained on WikiText-2, target.spm on tinyshakespeare. vocab.json numbers the pieces of both in an order
of its own; some of the source's pieces it lacks, and it has two words that only what is unknown to SentencePiece can be: a
character, and a run of characters.
"""

import io
import json
import pathlib
import random
import sys

import sentencepiece
from transformers import MarianTokenizer

shared, out = map(pathlib.Path, sys.argv[1:3])
out.mkdir(parents=True, exist_ok=True)
HARD = json.loads((pathlib.Path(__file__).parent / "tokenizers.json").read_text())["texts"]


def trained(path, lines, pieces):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=pieces, minloglevel=2, bos_id=-1, pad_id=-1, unk_id=1, eos_id=0,
        normalization_rule_name="identity", character_coverage=0.999)
    path.write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def lines_of(path):
    return [line.strip() for line in path.read_text(encoding="utf-8").split("\n") if line.strip()][:2000]


source = trained(out / "source.spm", lines_of(shared / "text/wikitext-2/valid.txt"), 300)
target = trained(out / "target.spm", lines_of(shared / "text/tinyshakespeare/input.txt"), 250)
names = sorted(set(source + target) - {"</s>", "<unk>"})
order = random.Random(5)
names = [name for name in names if len(name) < 2 or order.random() > 0.05] + [">>fr<<", "\u4e2d", "\u2211\u222b"]
order.shuffle(names)
numbers = {name: i for i, name in enumerate(["</s>", "<unk>", *names, "<pad>"])}
(out / "vocab.json").write_text(json.dumps(numbers, ensure_ascii=False) + "\n", encoding="utf-8")
(out / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer", "separate_vocabs": False}) + "\n")

tokenizer = MarianTokenizer(str(out / "source.spm"), str(out / "target.spm"), str(out / "vocab.json"))
texts = [text for text in HARD if "\0" not in text and "<" not in text] + [
    ">>fr<< Hello there", ">>xx<<Hello", "a >>fr<< b", "\u4e2d", "x\u4e2dy", "\u2211\u222b", "\u2211 \u222b", "Hello\u2211\u222bthere", "  two  blanks ",
    "He said: no.", "</s>", "a </s> b"]
made = {"texts": texts,
        "source": [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts],
        "target": [tokenizer(text_target=text, add_special_tokens=False)["input_ids"] for text in texts]}
(out / "ids.json").write_text(json.dumps(made) + "\n")
