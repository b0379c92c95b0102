"""Compile every kernel once, before tests run side by side: two processes would each compile the same.

Publishes, asks, audits and grows a small table in every way there is. If no file with a kernel has changed since, there is nothing to do.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import lane  # where compiled kernels are kept: before anything imports Numba
from discreet import Policy, Vault, attack, audit, publish
from discreet.errors import DiscreetError, PolicyError
from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS
from discreet.table.people import people

SOURCE = Path(__file__).parent.parent / "src"
ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "salary", "drop": "rest"}
SEES_SPACE = {name for name, partition in PARTITIONS.items() if partition.sees == "space"}
GUARANTEES = ({"l": 2}, {"k": 2, "e": 1000})


def state() -> str:
    """The files with kernels, as Numba knows them: by name, time and size."""
    found = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        if re.search("@nb.njit|@kernel", path.read_text(encoding="utf-8")):
            found.update(f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}\n".encode())
    return found.hexdigest()


def policies() -> Iterator[Policy]:
    """Every partition with counts and with ranges, and every publication."""
    for publication, partition in [
        *(("anatomy", name) for name in PARTITIONS),
        *((name, "auto") for name in PUBLICATIONS),
    ]:
        for guarantee in GUARANTEES:
            try:
                ordered = ["sex"] if partition in SEES_SPACE else ROLES["quasi"]
                yield Policy(
                    **ROLES, ordered=ordered, publication=publication, partition=partition, guarantee=guarantee
                )
            except PolicyError:
                continue
    for partition in ("deal", "local"):
        yield Policy(**{**ROLES, "quasi": ["age"]}, person="name", partition=partition, guarantee={"l": 2})


def warm(folder: Path) -> None:
    table = people(200, seed=1)
    for number, policy in enumerate(policies()):
        try:
            with publish(table, policy, to=folder / f"{number}", seed=1) as release:
                release.ask("SELECT AVG(salary), MIN(salary), COUNT(*) FROM microdata WHERE age > 50")
        except DiscreetError:
            continue


def grow(folder: Path) -> None:
    """A vault of each kind, and what its releases tell together."""
    table = people(400, seed=2)
    for growth in ("settle", "insert"):
        policy = Policy(**ROLES, publication="generalization", guarantee={"l": 10}, options={"growth": growth})
        with Vault.create(folder / growth, policy) as vault:
            for at in range(2):
                vault.append(table.slice(200 * at, 200))
                vault.release(folder / f"{growth} {at}")
        audit([folder / f"{growth} {at}" for at in range(2)])
    policy = Policy(**ROLES, publication="anatomy", guarantee={"l": 2})
    shown = [publish(table, policy, to=folder / f"shown {at}", seed=at) for at in range(2)]
    audit(shown, same_people=True)
    attack(shown[0], truth=table)
    for publication in ("full_permutation", "generalization"):
        policy = Policy(**ROLES, publication=publication, guarantee={"l": 2})
        attack(publish(table, policy, to=folder / publication, seed=1), "population", truth=table)


if __name__ == "__main__":
    stamp = Path(lane.COMPILED) / "warm"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != state():
        warnings.simplefilter("ignore")
        lane.compiled()
        with tempfile.TemporaryDirectory(prefix="discreet-") as place:
            warm(Path(place))
            grow(Path(place))
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(state(), encoding="utf-8")
