"""Two figures that mislead unless something is said beside them: print both, and what is said.

    python bench/told.py

The error of two-way tables where l is close to the largest that six values allow, and where it is smaller; and the
estimate of a rare country that shares a label with a frequent one.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet
from discreet.comparison import sweep


def diseases(rows: int = 6_000) -> pa.Table:
    """Six diseases, each held by 1 in 6 people, that go with age."""
    chance = np.random.default_rng(0)
    age = np.sort(chance.integers(20, 80, rows))
    ill = pa.array([f"d{i}" for i in range(6)]).take(pa.array(np.arange(rows) * 6 // rows))
    return pa.table({"age": age, "sex": pa.array(["f", "m"]).take(pa.array(chance.integers(0, 2, rows))), "ill": ill})


def countries() -> pa.Table:
    """27,000 people of one country and 30 of another, who are shown under one label."""
    place = ["here"] * 27_000 + ["there"] * 30
    return pa.table({"country": place, "wage": np.arange(len(place)) % 50})


def main() -> None:
    warnings.simplefilter("ignore")
    policy = discreet.Policy(quasi=["age", "sex"], sensitive="ill", guarantee={"l": 5})
    found = sweep(diseases(), policy, "l", [2, 3, 5], methods=["anatomy/local"], queries=60, seed=1, attack=False)
    for step, l in zip(found.steps, found.thresholds, strict=True):
        print(f"l = {l} of 6: median error {step.outcomes[0].error:.1%}")
    print(*found.remarks(), sep="\n")
    label = discreet.Policy(
        quasi=["country"],
        sensitive="wage",
        guarantee={"k": 100},
        publication="generalization",
        partition="full_domain",
        hierarchies={"country": {"tree": {"anywhere": ["here", "there"]}}},
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        discreet.publish(countries(), label, to=Path(folder) / "release", seed=1) as release,
    ):
        answer = release.ask("SELECT COUNT(*) FROM microdata WHERE country = 'there'")
        print(f"truth 30; {answer.rows()[0]}", *answer.notes, sep="\n")


if __name__ == "__main__":
    main()
