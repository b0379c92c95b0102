"""A census-like table, seeded: seven quasi-identifiers and a salary that are as frequent, and as related, as in SAL.

A Gaussian copula: eight normal numbers with the correlations that the normal scores of the real columns have, each cut
where its column's values end. How often values occur is told in parts of ten thousand, at least one; codes are from 0.
What the copula does not have is how columns go together other than by rising or falling with each other. No row of
the real table is in here.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pyarrow as pa

# fmt: off
FREQUENCIES = {
    "age": (
        1, 3, 17, 41, 67, 88, 111, 127, 140, 161, 164, 187, 205, 224, 229, 222, 227, 231, 244, 262, 267, 269,
        273, 275, 285, 270, 277, 270, 265, 269, 254, 247, 245, 236, 231, 230, 229, 227, 175, 175, 174, 174,
        152, 139, 135, 127, 124, 113, 109, 94, 84, 73, 66, 62, 58, 50, 46, 41, 36, 32, 30, 26, 22, 19, 17, 14,
        12, 10, 9, 8, 6, 5, 4, 3, 1, 6,
    ),
    "gender": (
        6874, 3126,
    ),
    "education": (
        79, 45, 350, 197, 251, 258, 331, 2889, 2399, 713, 1616, 605, 164, 104,
    ),
    "marital": (
        5587, 153, 321, 1618, 471, 1851,
    ),
    "race": (
        7921, 1062, 87, 75, 27, 204, 429, 185, 12,
    ),
    "workclass": (
        811, 331, 7205, 394, 494, 731, 34,
    ),
    "country": (
        8772, 37, 342, 79, 39, 89, 76, 1, 1, 1, 1, 2, 39, 2, 8, 1, 1, 5, 2, 1, 1, 8, 20, 1, 10, 4, 2, 2, 3,
        44, 4, 18, 5, 10, 1, 1, 1, 81, 18, 30, 1, 5, 3, 6, 2, 52, 1, 5, 35, 2, 53, 13, 1, 1, 1, 3, 5, 2, 1, 4,
        1, 1, 2, 4, 1, 1, 37, 4, 3,
    ),
    "salary": (
        349, 152, 191, 239, 256, 321, 357, 375, 337, 367, 449, 360, 484, 350, 337, 482, 344, 372, 281, 255,
        385, 246, 256, 166, 179, 286, 162, 164, 110, 98, 194, 101, 123, 66, 64, 112, 68, 85, 45, 41, 86, 40,
        53, 31, 28, 54, 27, 31, 21, 20,
    ),
}
CORRELATIONS = (
    (1.00, -0.05, -0.04, -0.21, -0.11, -0.04, -0.04, 0.12),
    (-0.05, 1.00, 0.03, 0.44, 0.08, 0.10, -0.04, -0.25),
    (-0.04, 0.03, 1.00, 0.02, -0.13, 0.12, -0.06, 0.36),
    (-0.21, 0.44, 0.02, 1.00, 0.08, 0.05, -0.04, -0.22),
    (-0.11, 0.08, -0.13, 0.08, 1.00, 0.05, 0.37, -0.15),
    (-0.04, 0.10, 0.12, 0.05, 0.05, 1.00, -0.04, 0.07),
    (-0.04, -0.04, -0.06, -0.04, 0.37, -0.04, 1.00, -0.06),
    (0.12, -0.25, 0.36, -0.22, -0.15, 0.07, -0.06, 1.00),
)
# fmt: on
QUASI, SENSITIVE = tuple(FREQUENCIES)[:-1], tuple(FREQUENCIES)[-1]


def people(rows: int, seed: int = 2006) -> pa.Table:
    """So many people; the same for the same seed."""
    chance, root = np.random.default_rng(seed), np.linalg.cholesky(np.array(CORRELATIONS))
    normal = root @ chance.normal(size=(len(FREQUENCIES), rows))
    columns = {}
    for numbers, (name, frequencies) in zip(normal, FREQUENCIES.items(), strict=True):
        upto = np.cumsum(frequencies)[:-1] / sum(frequencies)
        columns[name] = np.searchsorted([NormalDist().inv_cdf(share) for share in upto], numbers).astype(np.int32)
    return pa.table(columns)
