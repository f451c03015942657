"""Times whole jobs of headwave and PyTorch in turn, over the same documents with the same number of threads.

    python bench/whole_jobs.py --headwave build/release/headwave --model DIR --text FILE
                               [--documents 100] [--length 512] [--rounds 5] [--threads 2] [--jobs traces,pass,default] [--sweep 12]
                               [--parallel-documents N]

traces   offset traces of every head and their clusters: `headwave run --only head_cluster`. The peer takes the attention
         of one document at a time from transformers (eager, output_attentions=True), the means of its diagonals up to
         10 tokens, and scikit-learn's KMeans (k = 6) over heads and documents. headwave tries every k from 2 to 12 and
         resamples; with --sweep 2 it tries 2 and 6.
pass     the model alone: the peer with PyTorch's sdpa attention, which returns no weights. headwave has no such job, so
         `--only measured_offset`, which is the pass and the traces, takes its place.
default  headwave's default analyses, which have no peer, against the peer of `traces`.

Each run is a separate process. Prints medians of elapsed time, processor time and peak memory, which include the start
of Python, and the median of the rounds' ratios. Documents are the text's ids by the model's own tokenizer, cut at the
length, without special tokens on both sides. Needs torch, transformers and scikit-learn. --random-roberta DIR makes a
model of random weights as large as roberta-base, with ids for --ids, since it has no vocabulary.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PEER = r"""
import json, sys
import torch
job, model_path, ids_path, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
torch.set_num_threads(threads)
from transformers import AutoModel
documents = json.load(open(ids_path))
eager = job == "traces"
model = AutoModel.from_pretrained(model_path, attn_implementation="eager" if eager else "sdpa").eval()
traces = []
with torch.no_grad():
    for ids in documents:
        result = model(torch.tensor([ids]), output_attentions=eager)
        if not eager:
            continue
        for layer in result.attentions:
            weights = layer[0]
            traces.append(torch.stack([torch.diagonal(weights, t, 1, 2).mean(1) for t in range(-10, 11)], 1))
if eager:
    from sklearn.cluster import KMeans
    KMeans(6, n_init=10, random_state=1).fit(torch.cat(traces).numpy())
"""


def run(command, environment=None):
    """Elapsed seconds, processor seconds, and peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    problem = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[:3]} failed: {problem.decode()[-2000:]}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


IDS = r"""
import json, sys
from transformers import AutoTokenizer
text = open(sys.argv[2], encoding="utf-8").read()
json.dump(AutoTokenizer.from_pretrained(sys.argv[1])(text, add_special_tokens=False)["input_ids"], sys.stdout)
"""


def documents_of(options, folder):
    """Writes ids to a file. Imports nothing large, since its memory would count for every process that is started."""
    ids = folder / "ids.json"
    if options.ids:
        documents = json.loads(options.ids.read_text())
    else:
        every = json.loads(subprocess.run([sys.executable, "-c", IDS, options.model, options.text], check=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
        documents = [every[i:i + options.length] for i in range(0, len(every), options.length)]
    documents = [d for d in documents if len(d) == options.length][:options.documents]
    ids.write_text(json.dumps(documents))
    return ids, len(documents)


def random_roberta(folder, length, documents):
    import torch
    from transformers import RobertaConfig, RobertaModel
    torch.manual_seed(1)
    config = RobertaConfig(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5)
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    ids = torch.randint(5, 50000, (documents, length)).tolist()
    (folder / "ids.json").write_text(json.dumps(ids))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headwave", type=pathlib.Path, default=pathlib.Path("build/release/headwave"))
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--ids", type=pathlib.Path)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sweep", type=int, default=12)
    parser.add_argument("--parallel-documents", help="layers are read one by one, that many documents side by side")
    parser.add_argument("--jobs", default="traces,pass,default")
    parser.add_argument("--random-roberta", type=pathlib.Path, metavar="DIR", help="make that model and its ids, and end")
    options = parser.parse_args()
    if options.random_roberta:
        random_roberta(options.random_roberta, options.length, options.documents)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        ids, count = documents_of(options, folder)
        threads = str(options.threads)
        peer_environment = os.environ | {"OMP_NUM_THREADS": threads, "HF_HUB_OFFLINE": "1"}

        def ours(*more):
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            layers = ["--weights", "layers", "--parallel-documents", options.parallel_documents] if options.parallel_documents else []
            return run([options.headwave, "run", "--model", options.model, "--ids", ids, "--documents", str(count),
                        "--threads", threads, "--sweep", str(options.sweep), "--no-figures", "--out", out, *layers, *more])

        def peer(job):
            return run([sys.executable, "-c", PEER, job, options.model, ids, threads], peer_environment)

        sides = {"traces": (lambda: ours("--only", "head_cluster"), lambda: peer("traces")),
                 "pass": (lambda: ours("--only", "measured_offset"), lambda: peer("pass")),
                 "default": (ours, lambda: peer("traces"))}
        print(f"{count} documents of {options.length} tokens, {threads} threads, {options.rounds} rounds in turn")
        for job in options.jobs.split(","):
            rounds = [(sides[job][0](), sides[job][1]()) for _ in range(options.rounds)]
            for side, name in enumerate(("headwave", "peer")):
                wall, processor, memory = (statistics.median(r[side][i] for r in rounds) for i in range(3))
                print(f"{job:8} {name:9} {wall:8.2f} s   {processor:8.2f} s of processors   {memory:7.0f} MB")
            for i, what in enumerate(("by the clock", "of processors", "of memory")):
                ratio = statistics.median(theirs[i] / mine[i] for mine, theirs in rounds)
                print(f"{job:8} peer / headwave {ratio:6.2f} {what}")


if __name__ == "__main__":
    main()
