"""Releases whose rows came to their groups by chance alone, and the estimate by design written again from scratch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet
from discreet import Policy, read
from discreet.publication.publish import publish_groups
from discreet.release import Release


def people(rows: int, seed: int, *, related: bool = True) -> pa.Table:
    """Rows whose salary follows from schooling, or from nothing."""
    rng = np.random.default_rng(seed)
    school, sex, age = rng.integers(0, 8, rows), rng.choice(["f", "m"], rows), rng.integers(18, 90, rows)
    salary = np.clip((8 + related * (2 * school + 2 * (sex == "m")) + rng.normal(0, 4, rows)).round(), 0, 24)
    ages = pa.array(age, mask=rng.random(rows) < 0.05)
    return pa.table({"age": ages, "sex": sex, "school": school, "salary": (1000 * salary).astype(int)})


def dealt(
    table: pa.Table, groups: Sequence[int] | np.ndarray, to: Path, *, publication: str = "anatomy", **stated: object
) -> Release:
    """The release of a table in these groups, its manifest stating that they were dealt, unless told otherwise."""
    quasi = [name for name in table.column_names if name != "salary"]
    policy = Policy(
        quasi=quasi,
        sensitive="salary",
        guarantee={"k": 2},
        partition="deal",
        publication=publication,
        missing_sensitive="value",
    )
    with closing(read(table)) as private:
        release = publish_groups(private, policy, private.codes("salary"), np.asarray(groups, np.int32), to=to)
    path = release.path / "datapackage.json"
    manifest = json.loads(path.read_text())
    manifest["discreet"] |= {"randomness": "dealt", "estimator": "design", **stated}
    path.write_text(json.dumps(manifest))
    return discreet.open_release(release.path)


def shuffled(rows: int, size: int, seed: int) -> np.ndarray:
    """Groups of nearly `size` rows each, by chance alone."""
    groups = np.arange(rows) % (rows // size)
    return np.random.default_rng(seed).permutation(groups)


def regression(values: np.ndarray, groups: np.ndarray, amounts: np.ndarray) -> dict[int, float]:
    """Of every value the mean amount of the rows that hold it: least squares over groups, weighted by 1 / size."""
    kinds, codes = np.unique(values, return_inverse=True)
    counts = np.zeros((groups.max() + 1, kinds.size))
    np.add.at(counts, (groups, codes), 1)
    total = np.bincount(groups, amounts)
    root = np.sqrt(counts.sum(axis=1))
    means = np.linalg.lstsq(counts / root[:, None], total / root, rcond=None)[0]
    return dict(zip(kinds.tolist(), means.tolist(), strict=True))
