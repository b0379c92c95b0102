"""Every figure of docs/promise.md, each with the words that stand before it there.

    python bench/promise.py [PART …]      parts: census, order, narrow, presence, cuts, small; all if none is named

census    attackers, blind guesses and the ceiling by look on OCC (`attacks.py`, by `anatomize` and `local`)
order     what the order of sorted files links, on the demo's 100,000 people
narrow    the group whose values lie closest, of the same
presence  how many people only one group could hold, of the 10,000 people and the policy of docs/metrics.md
cuts      how many people are certain by fitted cuts, on OCC and SAL (`minimality.py`)
small     the same of small tables, beside all worlds; and how often `compact` is seen through (tests/audit)

Everything is drawn with the seeds that stand here and in the files named, so that figures are the same in every run,
but for models, which other processors round otherwise. DISCREET_DATA names the folder of real tables.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import attacks
import discreet
import minimality
from compose import alike, ceiling
from discreet.audit.attacks.attack import Success
from discreet.cli.demo import QUASI, L
from discreet.table.people import people

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from audit.test_minimality import named_by_mondrian
from audit.test_worlds import right_of_small

SEED, DEMO, PATIENTS = 2006, 100_000, 10_000
METHODS = ("deal", "anatomize", "local")
SMALL = {"rows": 7, "l": 2, "kinds": 3}  # tables whose worlds can all be tried


def census(place: Path) -> None:
    table, _ = attacks.census("OCC", DEMO)
    *quasi, sensitive = table.column_names
    print(attacks.HEAD)
    for method in ("anatomize", "local"):
        *_, last = attacks.attacked("OCC", method, table, place)
    without = last.without.share if last.without else 0.0
    print(
        f"without a release {without:.1%}; on average a person is one of {alike(table, quasi):.1f} who look the same;"
        f" the most by look {ceiling(table, quasi, sensitive):.1%}"
    )


def order(place: Path) -> None:
    table = people(DEMO)
    for partition in METHODS:
        [found] = discreet.attack(_demo(table, partition, place), "order", truth=table)
        if not isinstance(found, Success):
            raise SystemExit(f"{partition}: {found.why}")
        print(f"{partition}: order {found.attacker.share:.1%}, blind {found.blind.share:.1%}")


def narrow(place: Path) -> None:
    table = people(DEMO)
    for partition in METHODS[1:]:
        release = _demo(table, partition, place)
        values = pq.read_table(release.file("st")).group_by(release.promise.group)
        ends = values.aggregate([("salary", "min"), ("salary", "max")])
        widths = pc.subtract(ends["salary_max"], ends["salary_min"])
        least = pc.index(widths, pc.min(widths)).as_py()
        low, high = (ends[f"salary_{end}"][least].as_py() for end in ("min", "max"))
        print(f"{partition}: all salaries of one group lie between {low:,} and {high:,}")


def presence(place: Path) -> None:
    table = people(PATIENTS)
    release = discreet.publish(table, _policy(publication="full_permutation"), to=place / "shuffled", seed=SEED)
    found = discreet.metrics(release, truth=table).presence
    if found is None:
        raise SystemExit("a release by full_permutation has no figures of presence")
    print(f"by {len(QUASI)} quasi-identifiers, only one group could hold {found.lone:,} of {PATIENTS:,} people")


def cuts(_: Path) -> None:
    minimality.census(Path(os.environ["DISCREET_DATA"]) / "census-anatomy", errors=False)


def small(place: Path) -> None:
    found = named_by_mondrian(**SMALL)
    print(
        f"mondrian, tables of {SMALL['rows']} people at l = {SMALL['l']}: the attack names"
        f" {found.named / found.people:.0%}, trying all tables makes {found.certain / found.people:.0%} certain"
    )
    told = right_of_small("compact", 3, place)
    print(f"compact, tables of 60 people: worlds are right of {told.share:.0%}, a blind guess of {told.blind:.0%}")


PARTS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (census, order, narrow, presence, cuts, small)
}


def _policy(**method: str) -> discreet.Policy:
    return discreet.Policy(
        identifiers=["name"], quasi=QUASI, sensitive="salary", drop=["diagnosis"], guarantee={"l": L}, **method
    )


def _demo(table: pa.Table, partition: str, place: Path) -> discreet.Release:
    to = place / partition
    return (
        discreet.open_release(to)
        if to.exists()
        else discreet.publish(table, _policy(partition=partition), to=to, seed=SEED)
    )


@contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_CACHE"] = f"{folder}/cache"
        yield Path(folder)


def main(named: list[str]) -> None:
    if unknown := {*named} - {*PARTS}:
        raise SystemExit(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore", discreet.errors.DiscreetWarning)
    with _place() as place:
        for name in named or PARTS:
            start, own = time.process_time(), place / name
            own.mkdir()
            print(f"# {name}", flush=True)
            PARTS[name](own)
            print(f"({time.process_time() - start:.0f} s of the processors)\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
