"""How much a release blurs: metrics computed from the released files alone."""

from __future__ import annotations

import numpy as np

from discreet.audit.files import read_tables
from discreet.release import Release


def rce(release: Release) -> float:
    """Re-construction error: how far the rows rebuilt from the release lie from the real ones.

    Source: Xiao and Tao (VLDB 2006), equation 13. A group of N rows with counts c contributes
    N - sum(c^2) / N; no l-diverse anatomy of n rows has less than n (1 - 1/l) in all. A permutation
    tells no more than the anatomy of the same groups, and has the same error.
    """
    st = read_tables(release).st
    counts = st["n"].to_numpy().astype(np.float64)
    _, group = np.unique(st["grp"].to_numpy(), return_inverse=True)
    sizes = np.bincount(group, weights=counts)
    return float(np.sum(sizes - np.bincount(group, weights=counts * counts) / sizes))
