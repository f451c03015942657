"""Small vocabularies of every kind in use, trained on WikiText-2, with the ids that the packages which made them give.

    python make_trained_tokenizers.py SHARED_DATA trained

SHARED_DATA is the folder with text. Made with Python 3.11, tokenizers 0.23.3, sentencepiece 0.2.3 and protobuf. Training
shuffles nothing and is seeded nowhere, so another version may give another vocabulary; the ids then change with it.

Writes trained/NAME/tokenizer.json and trained/ids.json: `texts`, the page of
hard cases (those of tokenizers.json, and more); and by the name of each kind `cases`, its ids (no special tokens added), and
`lines`, the ids of WikiText-2's test set line by line as make_tokenizers.py counts and hashes them.
"""

import io
import json
import pathlib
import sys

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
PIECES = 500
TEXT = "text/wikitext-2/wiki.test.raw"
MARK = "\u2581"

MORE = [
    "\uff21\uff22\uff43\uff11\uff12 \uff76\uff9e\uff77\uff9e", "\r\n", "a\r\n\r\nb\r\n", "\r\r\n\n", "e\u0301\r\ne\u0301",
    "\u0600123 \u06dd4", "\u1112\u1161\u11ab\u1100\u1161", "\ud55c\u0301", "a\u0323\u0302 \u1ead",
    "\u0915\u094d\u0937\u093f \u0928\u093f", "\u0e01\u0e33\u0e19\u0e49", "\U0001f1e9\U0001f1ea\U0001f1eb",
    "\U0001f469\u200d\U0001f4bb\U0001f3fd", "\u2764\u200d\U0001f525", "\u202eabc\u202c \u2066x\u2069",
    "\u061c\u05d0\u200f\u05d1", " a", " \u3000a ", "a  b   c    d     e", "\t\ta\t b \t", "x\u0000y", "\u0000", "\u0001a",
    "\ufeffa b", "\u200ba", "\u2581a \u2581 b\u2581", "\u2581", "\u2581\u2581 \u2581", "a\u2581b",
    "<extra_id_0> a<extra_id_9>b <extra_id_3>", "a </s> b", "</s>", "  </s>  ", "<unk>x<unk> y", "a<unk>", "<0x41><0x0A>",
    "<|begin_of_text|>Hi<|eot_id|> there <|im_start|>user\nx<|im_end|>\n", "Storys Story  Story story", "[BOS] [@BOS@] <2mass>",
    "\n\n\n \n\n  \n", "12345678 1234 99.5% \u0661\u0662\u0663\u0664 \u4e09\u5341 \u00bd\u00bc",
    "don't DON'T I'LL we'Re \u017ft '\u017fe '\u017f' \u212aelvin", "@-@ing ,ing  ing", "``quoted'' ``",
    "\u00c0\u00c9\u0130 \u1e9e \u03a3\u03c2", "\u00ad soft\u00adhyphen", "\ufdfa \u33a5 \u2121 \ufb03",
    "\u1100\u1161\u11a8\u11a9", "a\u0300\u0301\u0302\u0303\u0304 b", "\u0344 \u0374 \u037e \u0387", "\U0001d15e \U0001d160",
    "\u2f00\u2fd5 \u2e80 \uf900", "\u00b4\u0384\u1fbd \u2017", "\u2028\u2029\u0085", "/path/to//file\r\n//",
    "#!/bin/sh\n\techo \"$X\" && exit\n", "\u4e2d\u6587abc\u4e2d123\u6587\u3002\u201c\u5f15\u53f7\u201d",
    "\u3042\u30a2\u30fc\u3005\u4e9c", "\ufffd\ufffd", "\U0010fffd\ue000", "q\u0307\u0323", "\u1e9b\u0323", "\u0958\u0959",
    "\u00df\u017f\ufb05\ufb06 's'\ufb05", "A" * 300 + " " + "\u4e2d" * 200, " " * 300, "\n" * 100 + " " * 33, "\u0308 \u0308a",
    "(hello) [world] {x} <y>", "...\u2026..\u2026", "x.y.z... ?!", "\ud7a3\uac00\ud7a4",
]

# Code points of a text and what becomes of them, where the rules of SentencePiece itself would take 240 kB.
RULES = ("2126\t3a9\n65 301\te9\nfb01\t66 69\nff21\t41\n9\t20\na\t20\nd\t20\nd a\t20\n200b\t\nfeff\t\n1\t\na0\t20\n3000\t20\n"
         "2026\t2e 2e 2e\n1112 1161 11ab\td55c\n61 323 302\t1ead\n")

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + CONTRACTIONS
         + r"?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + CONTRACTIONS
         + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"]
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"


def sentences(shared):
    lines = (shared / "text/wikitext-2/valid.txt").read_text(encoding="utf-8").split("\n")
    hard = json.loads((HERE / "tokenizers.json").read_text())["texts"]
    hard = [text for text in hard if text.strip() and "\0" not in text][:48]
    return [line.strip() for line in lines if line.strip()][:3000] + 3 * hard


def trained(train, rule, tsv=None, **options):
    """A SentencePiece model, as a message."""
    out = io.BytesIO()
    rules = {"normalization_rule_tsv": str(tsv)} if tsv else {"normalization_rule_name": rule}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(train), model_writer=out, minloglevel=2, **rules, **options)
    message = sentencepiece_model_pb2.ModelProto()
    message.ParseFromString(out.getvalue())
    return message


def unigram(message, unknown, before=(), skipped=0, after=(), byte_fallback=False):
    pieces = [(piece, 0.0) for piece in before] + [(p.piece, p.score) for p in message.pieces[skipped:]]
    return Tokenizer(models.Unigram(pieces + [(piece, 0.0) for piece in after], unknown, byte_fallback))


def merged(message):
    """BPE with the merges that make each piece of two others, the most likely first."""
    ids = {p.piece: i for i, p in enumerate(message.pieces)}
    merges = []
    for p in message.pieces:
        halves = [(p.piece[:i], p.piece[i:], p.score) for i in range(1, len(p.piece))]
        merges += sorted((h for h in halves if h[0] in ids and h[1] in ids), key=lambda h: (ids[h[0]], ids[h[1]]))
    merges = [merge[:2] for merge in sorted(merges, key=lambda m: m[2], reverse=True)]
    return Tokenizer(models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))


def byte_level(train, splits, normalizer=None, whole_words=False, special=()):
    tokenizer = Tokenizer(models.BPE(ignore_merges=whole_words))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(split), "isolated") for split in splits]
        + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(train, trainers.BpeTrainer(
        vocab_size=PIECES + 100, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens(list(special))
    return tokenizer


def all_kinds(train, tsv):
    """Tokenizers by name."""
    metaspace, n = pre_tokenizers.Metaspace, normalizers
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace(prepend_scheme="always")])
    blanks = n.Replace(Regex(" {2,}"), " ")

    message = trained(train, "nmt_nfkc", model_type="unigram", vocab_size=PIECES, pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
                            character_coverage=0.9995)
    extra = [f"<extra_id_{i}>" for i in range(9, -1, -1)]
    t5 = unigram(message, 2, after=extra)
    t5.normalizer = n.Sequence([n.Precompiled(message.normalizer_spec.precompiled_charsmap), n.Strip(False, True),
                                n.Replace(Regex(" {2,}"), MARK)])
    t5.pre_tokenizer, t5.decoder = metaspace(prepend_scheme="always"), decoders.Metaspace()
    t5.add_special_tokens(["<pad>", "</s>", "<unk>", *extra])
    t5.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    yield "t5", t5

    message = trained(train, None, tsv, model_type="unigram", vocab_size=PIECES, character_coverage=0.9995)
    charsmap = message.normalizer_spec.precompiled_charsmap
    xlmr = unigram(message, 3, ["<s>", "<pad>", "</s>", "<unk>"], 3, ["<mask>"])
    xlmr.normalizer, xlmr.pre_tokenizer, xlmr.decoder = n.Precompiled(charsmap), words, decoders.Metaspace()
    xlmr.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)])
    xlmr.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                        special_tokens=[("<s>", 0), ("</s>", 2)])
    yield "xlmr", xlmr

    message = trained(train, "identity", model_type="unigram", vocab_size=PIECES, pad_id=0, unk_id=1, bos_id=-1, eos_id=-1,
                            control_symbols="[CLS],[SEP],[MASK]", user_defined_symbols='(,),",-,.,\u2013,\u00a3,\u20ac')
    albert = unigram(message, 1)
    albert.normalizer = n.Sequence([n.Replace("``", '"'), n.Replace("''", '"'), n.NFKD(), n.StripAccents(), n.Lowercase(),
                                    n.Precompiled(charsmap), blanks])
    albert.pre_tokenizer, albert.decoder = metaspace(prepend_scheme="always"), decoders.Metaspace()
    albert.add_special_tokens(["<pad>", "<unk>", "[CLS]", "[SEP]",
                               AddedToken("[MASK]", lstrip=True, normalized=False, special=True)])
    yield "albert", albert

    deberta = unigram(message, 1)
    deberta.normalizer = n.Sequence([n.Strip(), n.Precompiled(charsmap), blanks])
    deberta.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Punctuation("isolated"), metaspace(prepend_scheme="always")])
    deberta.decoder = decoders.Metaspace()
    deberta.add_special_tokens(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    deberta.add_tokens([AddedToken("Story", single_word=True, rstrip=True)])
    yield "deberta", deberta

    message = trained(train, "identity", model_type="unigram", vocab_size=PIECES + 256, byte_fallback=True,
                            character_coverage=0.98, add_dummy_prefix=False, remove_extra_whitespaces=False, split_digits=True,
                            user_defined_symbols="@-@,ing ,\n")
    spelled = unigram(message, 0, byte_fallback=True)
    spelled.normalizer = n.Replace(" ", MARK)
    spelled.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    yield "bytes", spelled

    message = trained(train, "identity", model_type="bpe", vocab_size=PIECES + 256, byte_fallback=True,
                            character_coverage=0.98, remove_extra_whitespaces=False, split_digits=True,
                            allow_whitespace_only_pieces=True)
    llama2 = merged(message)
    llama2.pre_tokenizer = metaspace(prepend_scheme="first", split=False)
    llama2.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    llama2.add_special_tokens(["<unk>", "<s>", "</s>"])
    yield "llama2", llama2

    message = trained(train, "identity", model_type="bpe", vocab_size=PIECES + 276, byte_fallback=True, pad_id=0, eos_id=1,
                            bos_id=2, unk_id=3, character_coverage=0.98, remove_extra_whitespaces=False, add_dummy_prefix=False,
                            split_digits=True, allow_whitespace_only_pieces=True,
                            user_defined_symbols=f"<mask>,<2mass>,[@BOS@],\n,\n\n,{2 * MARK},{3 * MARK},<table>,</table>")
    gemma = merged(message)
    gemma.normalizer, gemma.pre_tokenizer = n.Replace(" ", MARK), pre_tokenizers.Split(" ", "merged_with_previous")
    gemma.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    gemma.add_special_tokens(["<pad>", "</s>", "<s>", "<unk>"])
    gemma.add_tokens([AddedToken(token, normalized=False) for token in ["<mask>", "\n", "\n\n", 2 * MARK]])
    yield "gemma", gemma

    llama3 = byte_level(train, [LLAMA3], None, True, ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"])
    begin = [("<|begin_of_text|>", llama3.token_to_id("<|begin_of_text|>"))]
    llama3.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A $B", special_tokens=begin)])
    yield "llama3", llama3
    yield "qwen2", byte_level(train, [QWEN2], n.NFC(), special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    yield "gpt4o", byte_level(train, [GPT4O], special=["<|endoftext|>"])
    yield "deepseek", byte_level(train, DEEPSEEK)
    yield "bloom", byte_level(train, [BLOOM], special=["<s>", "</s>", "<pad>"])


def digest(ids):
    state, count = 0xCBF29CE484222325, 0
    for token in ids:
        count += token >= 0
        for byte in int(token).to_bytes(4, "little", signed=True):
            state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return {"count": count, "fnv1a": f"{state:016x}"}


def main(shared, out):
    shared, out = pathlib.Path(shared), pathlib.Path(out)
    out.mkdir(exist_ok=True)
    tsv = out / "rules.tsv"
    tsv.write_text(RULES)
    texts = json.loads((HERE / "tokenizers.json").read_text())["texts"] + MORE
    text = (shared / TEXT).read_bytes().decode("utf-8")
    kinds = {}
    for name, kind in all_kinds(sentences(shared), tsv):
        (out / name).mkdir(exist_ok=True)
        whole = json.loads(kind.to_str())
        (out / name / "tokenizer.json").write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n")
        ids_of = lambda one, kind=kind: kind.encode(one, add_special_tokens=False).ids
        kinds[name] = {
            "cases": [ids_of(one) for one in texts],
            "lines": digest(i for line in text.split("\n") for i in [*ids_of(line), -1]),
        }
    tsv.unlink()
    made_with = f"tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__}"
    (out / "ids.json").write_text(json.dumps({"made_with": made_with, "texts": texts, **kinds}, separators=(",", ":")) + "\n")


main(*sys.argv[1:])
