"""Token ids from Hugging Face's `tokenizers`, to compare our own with.

    python make_tokenizers.py SHARED_DATA tokenizers.json

SHARED_DATA is the folder with minilm-positions, bpe, stories260K and text. Made with Python 3.11 and tokenizers 0.23.3.

For each vocabulary: `cases`, texts with their ids (no special tokens added, truncation and padding off); and `files`,
for each text file the number of ids and their FNV-1a hash (64 bit, over each id as four little-endian bytes), once of the
whole file as one text, once line by line (split at "\\n"; the id -1 is hashed, not counted, after each line).
"""

import json
import pathlib
import sys

import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers

CASES = [
    "", " ", "   ", "a", "Hello, world!", "Don't we'll I'm they've he'd you're it's DON'T",
    # accents, precomposed and combining, and other marks
    "Caf\u00e9 na\u00efve \u00c5ngstr\u00f6m", "Cafe\u0301 nai\u0308ve A\u030angstro\u0308m", "a\u0323\u0302b o\u0302\u0323", "Z\u0351\u036b\u0343a\u0321lgo",
    "\u0130stanbul I\u0131 \u0131\u0307", "Stra\u00dfe STRASSE \u1e9e", "\ufb01re \ufb02ow e\ufb03cient \ufb05", "\u039f\u0394\u039f\u03a3 \u03c3\u03c2",
    # scripts
    "\u4e2d\u6587\u5b57\u7b26 mixed \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8", "\u3400\u4dbf\uf900\U00020000\U0002a6df\U0002b820\U0002f800", "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab \uac00\uac01",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0645\u064f\u0634\u064e\u0643\u0651\u064e\u0644", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e17\u0e35\u0e48", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0ba4\u0bae\u0bbf\u0bb4\u0bcd",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "\u0420\u0443\u0441\u0441\u043a\u0438\u0439 \u0451\u0439 \u0419", "\u1780\u17b6\u179f\u17b6\u1781\u17d2\u1798\u17c2\u179a",
    # emoji, joiners, beyond the basic plane
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea \u270c\U0001f3fd \u2764\ufe0f", "\U0001d4b3\U0001d4ce \U0001d7d8 \U00010330\U00010331", "\ue000 \U000f0000 \U0010ffff \ufffe",
    # controls, invisible characters, white space
    "a\x00b\x01c\x07d\x1fe\x7ff", "a\ufffdb", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", "a\tb\nc\r\nd\re\x0bf\x0cg", "a\u00a0b\u1680c\u2003d\u2028e\u2029f\u202fg\u205fh\u3000i\u0085j\u180ek",
    "  leading", "trailing  ", "two  blanks   three", "\n\n\n", " \n \n x", "a \t\n b", "tab\t\tend\t",
    # numbers and punctuation
    "\u00bd \u00b2 \u0663 \u2167 \u3007 12,345.67 1e-5 0x1F \u2460", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "\u00a1\u00bf\u00ab\u00bb\u2018\u2019\u201c\u201d\u2026\u2014\u2013\u3001\u3002\u300c\u300d\uff01\uff0c", "$5 \u20ac5 \u00a35 \u00a9 \u00ae \u2122 \u2192 \u221e \u2260", "snake_case CamelCase kebab-case a.b@c.de https://x.y/z?q=1#f",
    "'s 't '\u017f ''s 'LL 'll", "can\u2019t", "\u1734 \u166d \U000111c9 \u1885",
    # long words
    "x" * 100, "x" * 101, "\u00e9" * 100 + " " + "\u00e9" * 101, "ab" * 300, "supercalifragilisticexpialidocious antidisestablishmentarianism", "#" * 40, "##ing ing",
    # added tokens in the text
    "a[MASK]b", "[CLS] hello [SEP]", "[mask] [ MASK ] [UNK][PAD]", "[MASK", "[[MASK]]", "a <mask> b", "  <mask>  b", "a\n<mask>", "x<mask><mask> <mask>", "<s>x</s>", "<pad><unk>", "< mask >", "<MASK>", "<|endoftext|>a<|endoftext|>", "<mask", "\u3000<mask>\u3000",
    "The quick brown fox jumps over the lazy dog.", "In 2004 Boulter landed a role as \" Craig \" in the episode \" Teddy 's Story \" .", "@-@ @,@ @.@ <unk>",
]


def fnv1a(ids, state=0xCBF29CE484222325):
    for token in ids:
        for byte in int(token).to_bytes(4, "little", signed=True):
            state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def ids_of(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


def file_digest(tokenizer, path):
    text = path.read_bytes().decode("utf-8")
    whole = ids_of(tokenizer, text)
    lines = [ids_of(tokenizer, line) for line in text.split("\n")]
    return {
        "whole": {"count": len(whole), "fnv1a": f"{fnv1a(whole):016x}"},
        "lines": {"count": sum(map(len, lines)), "fnv1a": f"{fnv1a(i for line in lines for i in [*line, -1]):016x}"},
    }


def from_json(path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def gpt2(folder):
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "encoder.json"), str(folder / "vocab.bpe")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def main(shared, out):
    shared = pathlib.Path(shared)
    vocabularies = {
        "bert": from_json(shared / "minilm-positions/tokenizer.json"),
        "roberta": from_json(shared / "bpe/roberta/tokenizer.json"),
        "gpt2": gpt2(shared / "bpe/gpt2"),
        "stories260K": from_json(shared / "stories260K/tokenizer.json"),
    }
    dump = {"made_with": f"tokenizers {tokenizers.__version__}", "texts": CASES}
    for name, tokenizer in vocabularies.items():
        dump[name] = {
            "cases": [ids_of(tokenizer, text) for text in CASES],
            "files": {f: file_digest(tokenizer, shared / f) for f in
                      ["text/wikitext-2/test.txt", "text/wikitext-2/wiki.test.raw"]},
        }
    pathlib.Path(out).write_text(json.dumps(dump, separators=(",", ":")) + "\n")


main(*sys.argv[1:])
