"""What a release must be that Spark made of rows: every one once, verified, and nothing beside it; and small cells."""

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.partition import cells
from discreet.publication import made_on_spark

QUASI = ["age", "sex", "education"]
POLICY = {"quasi": QUASI, "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
FIRST = {"anatomy": "qit", "permutation": "permuted", "generalization": "generalized"}


def shown(release, name):
    return pa.concat_tables([pq.read_table(path) for path in release.files(name)])


def check_whole(release, rows):
    """Every row is there once, and the values of all rows are; groups are numbered without a gap."""
    found = shown(release, FIRST[release.promise.publication])
    if release.promise.publication != "generalization":
        rows_of = [tuple(row.values()) for row in found.select(QUASI).to_pylist()]
        assert Counter(rows_of) == Counter(tuple(row.values()) for row in rows.select(QUASI).to_pylist())
    if release.promise.publication == "anatomy":
        held = shown(release, "st")
        values = Counter()
        for value, times in zip(held["salary"].to_pylist(), held["count"].to_pylist(), strict=True):
            values[value] += times
    else:
        values = Counter(found["salary"].to_pylist())
    assert values == Counter(rows["salary"].to_pylist())
    assert release.promise.rows == rows.num_rows
    assert release.verify().ok


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def make_small(patch):
    """Let cells and blocks have a few hundred rows, and a task write a few parts."""
    patch.setattr(cells, "SIZE", 400)
    patch.setattr(made_on_spark, "SIZE", 400)
    patch.setattr(made_on_spark, "SMALL", 1_000)
