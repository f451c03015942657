"""The peer of wave_weights.cpp in numpy: singular pairs and phases of a head from its weights.

    python bench/peer_numpy.py [--heads N] [--repeats N] [--full-repeats N] [--threads N]

full: as published, a full SVD of W_Q W_K^T (d_model x d_model), and the eigenvalues of R = U_Q^T U_K (d_model x
      d_model). The time with its eigenvectors, which phase spectra need, is printed separately.
thin: as in headwave, QR of W_Q and of W_K, SVD of the d_head x d_head core, eigenvalues and eigenvectors of
      M = U_Q^T U_K; with and without the condition number of the eigenvectors, which headwave computes, too.

Weights are random, as in wave_weights.cpp, with d_model 768 and d_head 64. Prints milliseconds per head, the median over
repeats: `cpu` is the processor time of this process, `wall` the elapsed time. On a busy machine only `cpu` can be
compared. The thin chain is a fifth faster after the full one, because it reuses its memory: run both for the peer's
best. Written for numpy 2.4.6 (its wheel's OpenBLAS 0.3.31) and Python 3.11; numpy 1.20 or later will do.
"""

import argparse
import os
import statistics
import time

parser = argparse.ArgumentParser(description="milliseconds per head of the weights-only chain in numpy")
parser.add_argument("--heads", type=int, default=12, help="different heads, taken in turn (default 12)")
parser.add_argument("--repeats", type=int, default=200, help="of the thin chain (default 200)")
parser.add_argument("--full-repeats", type=int, default=5, help="of the full chain (default 5); 0: leave it out")
parser.add_argument("--threads", type=int, default=1, help="that numpy's BLAS and LAPACK may use (default 1)")
arguments = parser.parse_args()
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(arguments.threads)  # read when numpy is imported

import numpy as np  # noqa: E402

D_MODEL, D_HEAD = 768, 64


def drawn_heads(count):
    random = np.random.default_rng(1)
    return [random.standard_normal((2, D_MODEL, D_HEAD)) / np.sqrt(D_MODEL) for _ in range(count)]


def full_rotation(w_query, w_key):
    u_query, _, u_key_t = np.linalg.svd(w_query @ w_key.T)
    return u_query.T @ u_key_t.T


def full_values(w_query, w_key):
    return np.linalg.eigvals(full_rotation(w_query, w_key))


def full_vectors(w_query, w_key):
    return np.linalg.eig(full_rotation(w_query, w_key))


def thin(w_query, w_key):
    q_query, r_query = np.linalg.qr(w_query)
    q_key, r_key = np.linalg.qr(w_key)
    u, _, v_t = np.linalg.svd(r_query @ r_key.T)
    u_query, u_key = q_query @ u, q_key @ v_t.T
    return np.linalg.eig(u_query.T @ u_key)


def thin_condition(w_query, w_key):
    return np.linalg.cond(thin(w_query, w_key)[1])


def measured(name, chain, heads, repeats):
    chain(*heads[0])  # the first call pays for what later ones find ready
    cpu, wall = [], []
    for i in range(repeats):
        head = heads[i % len(heads)]
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        chain(*head)
        cpu.append(1e3 * (time.process_time() - cpu_start))
        wall.append(1e3 * (time.perf_counter() - wall_start))
    medians = statistics.median(cpu), statistics.median(wall)
    print(f"{name:44} cpu {medians[0]:9.3f} ms   wall {medians[1]:9.3f} ms   {repeats} repeats")


def main():
    heads = drawn_heads(arguments.heads)
    print(f"numpy {np.__version__}, threads: {arguments.threads}, d_model {D_MODEL}, d_head {D_HEAD}")
    if arguments.full_repeats > 0:
        measured("full: SVD, eigenvalues of R", full_values, heads, arguments.full_repeats)
        measured("full: SVD, eigenvectors of R too", full_vectors, heads, arguments.full_repeats)
    measured("thin: QR, SVD, eigenvectors of M", thin, heads, arguments.repeats)
    measured("thin: the same and their condition number", thin_condition, heads, arguments.repeats)


if __name__ == "__main__":
    main()
