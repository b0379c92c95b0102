"""What full_domain loses of Adult by `lm` and `geometric`, beside issue 19: .271 of ours, .236 of ARX.

    DISCREET_DATA=... python bench/adult_loss.py

k = 5, without suppression and with at most 5 %. Judged by ARX's definition, from the written files and the
hierarchies alone, with nothing of discreet: a cell loses the share of all other leaves that its label also stands for,
a suppressed cell 1; a column loses the mean of its cells, the table the geometric mean of its columns, each added to
1, less 1. The issue does not say at which k and suppression its figures were measured.
"""

from __future__ import annotations

import csv
import math
import os
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow.csv import ParseOptions, read_csv, write_csv

import discreet
from full_domain import ADULT

K, SUPPRESSED, SENSITIVE = 5, (0.0, 0.05), "salary-class"
LOSSES = ("lm", "geometric")
TOLD = ".271 of ours then, .236 of ARX"


def leaves(path: Path) -> dict[str, int]:
    """How many values each label of a hierarchy stands for."""
    under = defaultdict(set)
    with path.open(newline="") as file:
        for row in csv.reader(file, delimiter=";"):
            for label in row:
                under[label].add(row[0])
    return {label: len(held) for label, held in under.items()}


def lost(folder: Path, sizes: dict[str, dict[str, int]], labels: dict[tuple[str, str], int], rows: int) -> float:
    shown, total = pq.read_table(folder / "generalized.parquet"), 0.0
    for name, held in sizes.items():
        every, column = max(held.values()), shown[name].to_pylist()
        cells = sum((labels.get((name, label), 1) - 1) / (every - 1) for label in column) + rows - len(column)
        total += math.log1p(cells / rows)
    return math.expm1(total / len(sizes))


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", discreet.errors.DiscreetWarning)
    table = read_csv(folder / "adult.csv.gz", parse_options=ParseOptions(delimiter=";")).select([*ADULT, SENSITIVE])
    places = {name: folder / f"adult_hierarchy_{name}.csv" for name in ADULT}
    sizes = {name: leaves(path) for name, path in places.items()}
    print(f"Adult, {len(table):,} rows, {len(ADULT)} quasi-identifiers, k = {K}; ARX's loss; issue 19: {TOLD}")
    with tempfile.TemporaryDirectory() as place:
        write_csv(table, Path(place) / "adult.csv")
        for suppression in SUPPRESSED:
            for loss in LOSSES:
                policy = discreet.Policy(
                    quasi=list(ADULT),
                    sensitive=SENSITIVE,
                    publication="generalization",
                    partition="full_domain",
                    guarantee={"k": K},
                    hierarchies={name: str(path) for name, path in places.items()},
                    options={"loss": loss, "suppression": suppression},
                )
                to = Path(place) / f"{loss}-{suppression}"
                made = discreet.publish(Path(place) / "adult.csv", policy, to=to)
                explained = pq.read_table(to / "labels.parquet").to_pylist()
                labels = defaultdict(int)
                for row in explained:
                    labels[row["column"], row["label"]] += 1
                found = lost(to, sizes, labels, len(table))
                about = f"{made.promise.groups:,} groups, {made.suppressed:,} suppressed"
                print(
                    f"  {loss:10} at most {suppression:4.0%} suppressed: {found:.4f}; {about}",
                    flush=True,
                )


if __name__ == "__main__":
    if "DISCREET_DATA" not in os.environ:
        raise SystemExit("set DISCREET_DATA to the folder with the real tables")
    main(Path(os.environ["DISCREET_DATA"]) / "adult-hierarchies" / "arx")
