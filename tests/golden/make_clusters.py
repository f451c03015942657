"""What k_means_test.cpp and cluster_quality_test.cpp expect: scikit-learn's k-means and its quality.

    python make_clusters.py clusters.json

The 360 vectors imitate offset traces over -10 .. 10: 8 documents x 45 heads that look left, right, at the next word on
either side, everywhere, or widely to the left. Made with scikit-learn 1.9.1, numpy 2.4.6, Python 3.11.
"""

import json
import sys

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

KINDS = [(-3, 3.0, 40), (-1, 0.6, 150), (3, 2.5, 35), (1, 0.7, 120), (0, 30.0, 10), (-6, 5.0, 25)]


def vectors(generator):
    offsets = np.arange(-10, 11)
    heads = []
    for _ in range(45):
        centre, width, height = KINDS[generator.integers(len(KINDS))]
        centre = centre + generator.normal(0, 0.3)
        width = width * generator.uniform(0.7, 1.4)
        height = height * generator.uniform(0.6, 1.5)
        heads.append(height * np.exp(-0.5 * ((offsets - centre) / width) ** 2))
    documents = []
    for _ in range(8):
        scale = generator.normal(1, 0.1, size=(45, 21))
        documents.append(np.stack(heads) * scale + generator.normal(0, 2, size=(45, 21)))
    return np.round(np.concatenate(documents), 3)


if __name__ == "__main__":
    x = vectors(np.random.default_rng(17))
    runs = []
    for k in range(2, 9):
        found = KMeans(n_clusters=k, n_init=50, tol=0, random_state=0, algorithm="lloyd").fit(x)
        inertia = float(np.sum((x - found.cluster_centers_[found.labels_]) ** 2))
        silhouette = float(silhouette_score(x, found.labels_))
        runs.append({"clusters": k, "inertia": inertia, "silhouette": silhouette, "labels": found.labels_.tolist()})
    agreement = [[adjusted_rand_score(a["labels"], b["labels"]) for b in runs] for a in runs]
    with open(sys.argv[1], "w") as file:
        json.dump({"points": x.tolist(), "runs": runs, "adjusted_rand": agreement}, file)
        file.write("\n")
