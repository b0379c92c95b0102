"""How often attackers are right on census tables, beside what prototypes reached; and whether they claim nothing.

    python bench/attacks.py [--tables OCC SAL] [--methods anatomize local cluster mondrian] [--rows 100000]
    python bench/attacks.py --others --tables SAL --methods mondrian
    python bench/attacks.py --unrelated 200

OCC and SAL (Xiao and Tao 2006, from the folder that `DISCREET_DATA` names) with all seven quasi-identifiers, l = 10:
the learner and who knows the population's model, in per cent of all people. Both are attacked twice: by how people
look, which several may share (`look`), and with the group of everybody told, as if each person's row had been
recognised (`row`), which is what the prototypes did. With `cluster` rows are fully permuted, with `mondrian`
generalized; `local` makes blind cuts, which leave one cell of such a table, and `fitted` is `local` with fitted ones.
How many people look alike, and the most that anyone can reach who cannot tell them apart, stands below each table.
With --others, who knows the population's model learned it from as many people who are not in the table, and not from
the truth by turns: the same figures show that turns give nobody's neighbours away. OCC has 100,000 people in all.
With --unrelated, so many tables whose values go with nothing are published in several ways, and for every attack it is
counted how often its interval holds the blind guesser's share: at least 94 % of them must. Attacks that look for
people are also made where there is something to find (`leak`), so that the same count can be seen to fail: none may.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from compose import alike, ceiling
from discreet.audit.attacks import ATTACKS, run_attacks
from discreet.audit.attacks.attack import Failed, Given, Success
from discreet.publication.publish import grouped
from discreet.values.random import RandomSource

L, SEED, LEAST = 10, 16, 0.94
TABLES = {"OCC": ("occ100k", "occupation"), "SAL": ("sal500k", "salary_class")}
METHODS: dict[str, dict[str, Any]] = {
    "anatomize": {"partition": "anatomize"},
    "local": {"partition": "local"},
    "fitted": {"partition": "local", "options": {"cuts": "fitted"}},
    "cluster": {"partition": "cluster", "publication": "full_permutation"},
    "mondrian": {"partition": "mondrian", "publication": "generalization", "options": {"cuts": "fitted"}},
}
CALLED = {
    "anatomize": "`anatomize`",
    "local": "`local`",
    "fitted": "`local`, fitted cuts",
    "cluster": "`cluster`, `full_permutation`",
    "mondrian": "`mondrian`, `generalization`",
}
# The prototypes of `local` made fitted cuts.
PROTOTYPES: dict[str, dict[str, tuple[float, float]]] = {  # learner, knows the population; no release, most frequent
    "OCC": {"anatomize": (24, 33), "fitted": (25, 28), "cluster": (19, 27), "mondrian": (12, 16), "": (15.6, 7.6)},
    "SAL": {"anatomize": (13, 16), "fitted": (11, 12), "cluster": (12, 12), "mondrian": (9, 9), "": (6.0, 4.8)},
}
ACCEPTED = dict.fromkeys(("minimality", "looks"), "measured, and not published")


def policy(table: pa.Table, l: int = L, **method: Any) -> discreet.Policy:
    *quasi, sensitive = table.column_names
    return discreet.Policy(quasi=quasi, sensitive=sensitive, guarantee={"l": l}, accept=ACCEPTED, **method)


def census(name: str, rows: int, *, others: bool = False) -> tuple[pa.Table, pa.Table | None]:
    """So many people, and as many others if they are wanted."""
    file, _ = TABLES[name]
    folder = os.environ.get("DISCREET_DATA")
    if folder is None:
        raise SystemExit("set DISCREET_DATA to the folder with the real tables")
    table = pq.read_table(Path(folder) / "census-anatomy" / f"{file}.parquet")
    order = np.random.default_rng(2006).permutation(len(table))
    if rows * (1 + others) > order.size:
        raise SystemExit(f"{name} has {order.size:,} people, which is too few: take fewer with --rows")
    return table.take(np.sort(order[:rows])), table.take(order[rows : 2 * rows]) if others else None


HEAD = (
    "| | `learner` | its surest 1 % | prototype | `population` | its surest 1 % | prototype | blind |\n"
    "|---|---|---|---|---|---|---|---|"
)
KNOWN = {"look": "by look", "row": "row known"}


def attacked(
    name: str, method: str, table: pa.Table, folder: Path, others: pa.Table | None = None
) -> tuple[Success, ...]:
    """Print how often both attackers are right of one release, as lines of a table."""
    rules = policy(table, **METHODS[method])
    release = discreet.publish(table, rules, to=folder / method, seed=SEED)
    told = grouped(discreet.read(table), rules, RandomSource(SEED)).astype(np.int64)
    known = Given.read(release, truth=table, population=others)
    made: list[Success] = []
    for knows, given in (("look", known), ("row", replace(known, groups=told))):
        found = run_attacks(release, given, ["learner", "population"])
        wanted = PROTOTYPES[name].get(method) if knows == "row" else None
        cells = []
        for at, each in enumerate(found):
            if not isinstance(each, Success):
                raise SystemExit(f"{name} {method}, {KNOWN[knows]}: {each.name} {each.kind}, {each.why}")
            cells += [_percent(each.attacker.share), _percent(each.at_recall[0.01].share)]
            cells.append("" if wanted is None else _held(each.attacker.share, wanted[at]))
            made.append(each)
        blind = _percent(made[-1].blind.share)
        print(f"| {CALLED[method]}, {KNOWN[knows]} | {' | '.join(cells)} | {blind} |", flush=True)
    return tuple(made)


def _held(share: float, least: float) -> str:
    """What a prototype reached, and if it is more."""
    return f"{least:g} %" if share >= least / 100 else f"{least:g} %, not reached"


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


FITTED = "anatomy, fitted cuts"
WAYS: Mapping[str, dict[str, Any]] = {
    "anatomy by anatomize": {"partition": "anatomize"},
    FITTED: {"options": {"cuts": "fitted"}},  # of `local`, whose cuts minimality follows and plays
    "generalization": {"publication": "generalization", "options": {"cuts": "fitted"}},
    "anatomy by local": {},
    "full permutation": {"publication": "full_permutation", "partition": "cluster"},
}
FINDERS = ("composition", "linkage", "presence")  # of people, by what they are given: related to nothing only below
LEAK = "leak"  # where there is something to find, so that the interval must not hold the blind guesser


def people(seed: int, rows: int) -> pa.Table:
    """People whose values go with nothing."""
    chance = np.random.default_rng(seed)
    columns = {"age": chance.integers(20, 80, rows), "town": chance.choice([*"abcdef"], rows)}
    return pa.table({**columns, "value": chance.integers(1, 21, rows)})


def tried(
    seed: int, rows: int, names: list[str] | None, place: Path, *, once: bool = False
) -> Iterator[tuple[str, Success | Failed]]:
    """What every attack comes to where there is nothing to find, each with the way of publishing.

    Values go with nothing. For those who find people by what they are given, that goes with nothing, too (`found`).
    If each is made `once`, it is in the first way of publishing that it applies to.
    """
    wanted, made = [name for name in names or ATTACKS if name in ATTACKS], set[str]()
    table = people(seed, rows)
    for way, method in WAYS.items():
        alone = [name for name in wanted if name not in {*FINDERS, *made} and (name == "minimality" or way != FITTED)]
        if not alone:
            continue
        release = discreet.publish(table, policy(table, 4, **method), to=place / way, seed=seed)
        for each in run_attacks(release, Given.read(release, truth=table), alone):
            yield way, each
            if once and isinstance(each, Success):
                made.add(each.name)
    yield from found(seed, rows, [name for name in wanted if name in FINDERS], place)


def found(seed: int, rows: int, wanted: list[str], place: Path) -> Iterator[tuple[str, Success | Failed]]:
    """What those who look for people come to where there is nothing to find, and where there is (`LEAK`).

    Composition has a release of the same people with other values. Presence is asked of two tables of which neither was
    published, so that who has a row says nothing of which table they are from. Linkage is a matter of counting rows
    that could be a person's, with nothing left to chance: it looks for people in one box that holds all, where it must
    come out as blind guessing does. Leaks: the same values, the table that was published, rows as they are.
    """
    table, others, third = (people(start + seed, rows) for start in (0, 10_000, 20_000))
    if "composition" in wanted:
        apart = table.add_column(0, "number", pa.array(np.arange(rows)))
        redrawn = apart.set_column(apart.column_names.index("value"), "value", others["value"])
        one, other, again = (
            discreet.publish(each, policy(each, 4, partition="anatomize"), to=place / str(at), seed=seed + at)
            for at, each in enumerate((apart, redrawn, apart))
        )
        for way, second in (("with other values", other), (f"{LEAK}, same values", again)):
            given = Given.read(one, truth=apart, others=[second])
            yield from ((way, each) for each in run_attacks(one, given, ["composition"]))
    if {"linkage", "presence"} & {*wanted}:
        shown = discreet.publish(table, policy(table, 4, partition="anatomize"), to=place / "rows", seed=seed)
    if "presence" in wanted:
        for way, truth in (("of other tables", third), (f"{LEAK}, of the table", table)):
            given = Given.read(shown, truth=truth, holdout=others)
            yield from ((way, each) for each in run_attacks(shown, given, ["presence"]))
    if "linkage" in wanted:
        rules = discreet.Policy(
            quasi=["age", "town"], sensitive="value", guarantee={"k": rows}, publication="generalization"
        )
        box = discreet.publish(table, rules, to=place / "box", seed=seed)
        for way, release in (("all in one box", box), (f"{LEAK}, rows shown", shown)):
            given = Given.read(release, truth=table, public=pa.concat_tables([table, others]))
            yield from ((way, each) for each in run_attacks(release, given, ["linkage"]))


def unrelated(seeds: int, rows: int, names: list[str] | None, *, once: bool) -> None:
    """Print for every attack how often its interval holds the blind guesser, where there is nothing to find."""
    held: dict[tuple[str, str], list[bool]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            for way, each in tried(seed, rows, names, Path(folder), once=once):
                if isinstance(each, Success):
                    held[way, each.name].append(each.attacker.holds(each.blind.share))
                elif each.kind == "could not run":
                    failed[f"{way}: {each.name} could not run, {each.why}"] += 1
        if (seed + 1) % 10 == 0 or seed + 1 == seeds:
            print(f"{seed + 1} tables of {rows} rows, {time.process_time():.0f} s of the processors", flush=True)
        if (seed + 1) % 50 == 0 or seed + 1 == seeds:
            _tell(held, failed)


def _tell(held: Mapping[tuple[str, str], list[bool]], failed: Mapping[str, int]) -> None:
    print(f"{'published':<22}{'attack':<12}{'held':>7}")
    for (way, name), right in sorted(held.items()):
        share = np.mean(right)
        fine, wrong = (share == 0, "missed") if way.startswith(LEAK) else (share >= LEAST, "below")
        print(f"{way:<22}{name:<12}{share:7.1%} of {len(right)}  {'ok' if fine else wrong}")
    for why, times in failed.items():
        print(f"{why} ({times} times)")
    print(end="", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=[*TABLES])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--others", action="store_true", help="learn the population from people not in the table")
    parser.add_argument("--unrelated", type=int, metavar="SEEDS", help="tables without a relation, instead")
    parser.add_argument("--attacks", nargs="+", metavar="NAME", help="these alone, on tables without a relation")
    parser.add_argument("--once", action="store_true", help="each of them for one way of publishing alone")
    parser.add_argument("--size", type=int, default=400, help="rows of a table without a relation")
    given = parser.parse_args()
    warnings.simplefilter("ignore", discreet.errors.DiscreetWarning)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["DISCREET_CACHE"] = cache
        if given.unrelated:
            unrelated(given.unrelated, given.size, given.attacks, once=given.once)
            return
        for name in given.tables:
            (table, others), start = census(name, given.rows, others=given.others), time.process_time()
            print(f"{name}, {len(table):,} people\n\n{HEAD}", flush=True)
            for method in given.methods:
                with tempfile.TemporaryDirectory() as folder:
                    *_, last = attacked(name, method, table, Path(folder), others)
            alone, frequent = last.without.share if last.without else 0.0, last.details["frequent"]
            least, most = PROTOTYPES[name][""]
            *quasi, sensitive = table.column_names
            best = _percent(ceiling(table, quasi, sensitive))
            print(
                f"\n{alike(table, quasi):.1f} people look alike on average: by look nobody can be right of more than"
                f" {best}, not even with all values known"
            )
            print(
                f"\nwithout a release {_percent(alone)} (prototype {_held(alone, least)});"
                f" the most frequent value {_percent(frequent.share)} (prototype {most} %);"
                f" {time.process_time() - start:.0f} s of the processors\n",
                flush=True,
            )


if __name__ == "__main__":
    main()
