"""Releases with a leak in each, made by tampering with files and digests, and who of our auditors finds it.

The table has no relation between quasi-identifiers and values, so that nothing but the leak can be found.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet
from discreet.audit.attacks.attack import Failed, Success
from discreet.errors import DiscreetError
from discreet.publication.publish import publish_groups
from release.forger import Forger

ROWS, L = 1_200, 4
VALUES = np.array([f"value {i:02d}" for i in range(12)])
POLICY = {"quasi": ["age", "place"], "sensitive": "ill", "guarantee": {"l": L}, "partition": "anatomize"}
TOLD = {"name": "folk", "drop": "rest"}


@dataclass(frozen=True)
class Planted:
    """The table, its release with a leak, and others of the same people."""

    table: pa.Table
    release: Path
    others: tuple[Path, ...] = ()


def people(seed: int) -> pa.Table:
    """Everybody looks different, and values have nothing to do with it."""
    chance = np.random.default_rng(seed)
    place = chance.permutation(ROWS).astype(np.int32)
    ages = chance.integers(18, 90, ROWS).astype(np.int32)
    return pa.table({"age": ages, "place": place, "ill": chance.choice(VALUES, ROWS, p=weights())})


def weights() -> np.ndarray:
    rare = 1 / np.arange(4, VALUES.size + 4)
    return rare / rare.sum()


def honest(folder: Path, seed: int, **changes: object) -> Planted:
    """No leak at all."""
    table = people(seed)
    policy = discreet.Policy(**{**POLICY, **TOLD, **changes})
    return Planted(table, discreet.publish(table, policy, to=folder / "honest", seed=seed).path)


def row_order(folder: Path, seed: int) -> Planted:
    """Rows of a group stand in the order of their values."""
    made = honest(folder, seed)
    held = dict(zip(made.table["place"].to_pylist(), made.table["ill"].to_pylist(), strict=True))
    keys = {"qit": ("group",)}
    Forger(made.release, keys).rows(
        "qit", lambda rows: sorted(rows, key=lambda row: (row["group"], held[row["place"]])), sort=False
    )
    return made


def group_number(folder: Path, seed: int) -> Planted:
    """Rows of a value went to groups by age, and not by chance: the number of the group tells who holds which."""
    table = people(seed)
    codes = np.unique(table["ill"].to_pylist(), return_inverse=True)[1]
    order_ = np.lexsort((table["place"].to_numpy(), table["age"].to_numpy(), codes))
    groups = np.empty(ROWS, np.int32)
    groups[order_] = np.arange(ROWS) % (ROWS // L)
    policy = discreet.Policy(**{**POLICY, **TOLD, "partition": "deal"})
    with discreet.read(table) as private:
        publish_groups(private, policy, private.codes("ill"), groups, to=folder / "numbered")
    return Planted(table, folder / "numbered")


def duplicates(folder: Path, seed: int) -> Planted:
    """Everybody is in the table twice, as by a join gone wrong, and in two groups."""
    table = people(seed)
    policy = discreet.Policy(**{**POLICY, **TOLD, "accept": {"repeats": "this is a test"}})
    release = discreet.publish(pa.concat_tables([table, table]), policy, to=folder / "twice", seed=seed).path
    return Planted(table, release)


def frequent(folder: Path, seed: int) -> Planted:
    """One value of one group is counted once more, and another once less."""
    made = honest(folder, seed)

    def change(rows: list[dict]) -> list[dict]:
        group = rows[len(rows) // 2]["group"]
        mine = [row for row in rows if row["group"] == group]
        mine[0]["count"] += mine[-1]["count"]
        return [row for row in rows if row is not mine[-1]]

    Forger(made.release, {"st": ("group", "ill")}).rows("st", change)
    return made


def overlapping(folder: Path, seed: int) -> Planted:
    """The same people are published twice, independently."""
    made = honest(folder, seed)
    policy = discreet.Policy(**{**POLICY, **TOLD})
    again = discreet.publish(made.table, policy, to=folder / "again", seed=seed + 1_000)
    return Planted(made.table, made.release, (again.path,))


def seeded(folder: Path, seed: int) -> Planted:
    """The manifest names the seed that the groups were drawn by."""
    made = honest(folder, seed)
    place = ("discreet", "resources")[seed % 2]

    def change(values: dict) -> None:
        (values[place] if place == "discreet" else values[place][0]).update(seed=seed)

    Forger(made.release).manifest(change)
    return made


# Who must find each; others may, too. A seed is found by the check of the manifest, wherever it stands there.
FINDERS = {
    "row order": "verify: order",
    "group number": "order: rank",
    "duplicates": "composition",
    "too frequent": f"verify: guarantee l = {L}",
    "overlapping": "composition",
    "seed": "verify: `",
}
LEAKS: dict[str, Callable[[Path, int], Planted]] = {
    "row order": row_order,
    "group number": group_number,
    "duplicates": duplicates,
    "too frequent": frequent,
    "overlapping": overlapping,
    "seed": seeded,
}


def finders(planted: Planted) -> Iterator[str]:
    """Who says that something is wrong with a release: `verify`, or an attack that beats what is promised."""
    try:
        report = discreet.verify(planted.release)
        if not report.ok:
            yield f"verify: {report.failures[0].name}"
    except DiscreetError as error:
        yield f"verify: {error.message.rpartition(' at ')[2]}"
        return
    try:
        release = discreet.open_release(planted.release)
        made = discreet.attack(
            release, ["order", "composition"], truth=planted.table, others=planted.others or (release,)
        )
    except DiscreetError:
        return  # nothing more can be asked of it
    for found in made:
        if isinstance(found, Failed):
            yield f"{found.name} {found.kind}"
        elif found.name == "order" and found.attacker.low > found.blind.share:
            yield f"order: {best_of(found)}"
        elif found.name == "composition" and found.attacker.low > 1 / L:
            yield found.name
    if planted.others and not discreet.audit([planted.release, *planted.others]).ok:
        yield "audit"


def best_of(found: Success) -> str:
    """The hypothesis under which the order attack is right most often."""
    rates = found.details["hypotheses"]
    return max(rates, key=lambda name: rates[name].share)


def told(leak: str, who: list[str]) -> bool:
    """Whether a leak was found by whoever must find it."""
    return any(name.startswith(FINDERS[leak]) for name in who)


def found(leak: str, folder: Path, seed: int) -> list[str]:
    """Who finds a planted leak."""
    place = folder / f"{leak}-{seed}".replace(" ", "-")
    place.mkdir(parents=True)
    try:
        return list(finders(LEAKS[leak](place, seed)))
    finally:
        shutil.rmtree(place)
