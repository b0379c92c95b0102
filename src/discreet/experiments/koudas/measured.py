"""What is published and asked for the figures of Koudas et al., and what each costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import discreet
from discreet.experiments.data import ADULT, Data
from discreet.experiments.experiment import (
    Row,
    Settings,
)
from discreet.publication.publish import grouped, publish_groups
from discreet.release import Release
from discreet.table.table import RELATION
from discreet.values.random import RandomSource

PAPER = "Koudas et al., Aggregate Query Answering on Anonymized Tables, ICDE 2007, section 7"
QUASI = ("age", *(name for name in ADULT if name != "income"))
LOSS, DRAWS = "capital_loss", "draw"
OLD = 80
AGES, LOSSES = (17, 90), (155, 3_900)
ALGORITHMS = ["l-diversity", "min_max", "min_sum", "max_groups", "random", "swap"]
OPTIMAL = ("min_max", "min_sum", "max_groups")
ACCEPT = {"looks": "to compare with a paper"}


def losses(data: Data, quasi: Sequence[str]) -> pa.Table:
    """The people of Adult's first file who have a capital loss; as in the paper, without the oldest."""
    table = data.adult(train=True)
    return table.filter(pc.and_(pc.greater(table[LOSS], 0), pc.less_equal(table["age"], OLD))).select([*quasi, LOSS])


def synthetic(rows: int, variance: float | None = None) -> pa.Table:
    """Ages, and losses at random; or losses that rise with age, with a variance."""
    chance = np.random.default_rng(2007)
    age = chance.integers(AGES[0], AGES[1] + 1, rows)
    if variance is None:
        return pa.table({"age": age, LOSS: chance.integers(LOSSES[0], LOSSES[1] + 1, rows)})
    centre = LOSSES[0] + (age - AGES[0]) * (LOSSES[1] - LOSSES[0]) / (AGES[1] - AGES[0])
    return pa.table({"age": age, LOSS: np.rint(centre + chance.normal(0, variance**0.5, rows)).astype(np.int64)})


def drawn(table: pa.Table, times: int) -> pa.Table:
    """With columns of random ranks: `draw_0 < 100` selects a hundred arbitrary rows."""
    chance = np.random.default_rng(1)
    for number in range(times):
        table = table.append_column(f"{DRAWS}_{number}", pa.array(chance.permutation(len(table))))
    return table


@contextmanager
def released(table: pa.Table, algorithm: str, k: int, e: int) -> Iterator[Release]:
    """A table in the groups of one algorithm, permuted; or swapped."""
    quasi = [name for name in table.column_names if name != LOSS]
    shown = [name for name in quasi if not name.startswith(DRAWS)]
    publication = "swap" if algorithm == "swap" else "permutation"
    partition: Row = {} if algorithm in {"swap", "l-diversity"} else {"partition": algorithm}
    diverse = algorithm == "l-diversity"
    policy = discreet.Policy(
        quasi=quasi,
        sensitive=LOSS,
        guarantee={"k": k, "e": 0 if diverse else e},
        publication=publication,
        accept=ACCEPT,
        **partition,
    )
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "release"
        if not diverse:
            release = discreet.publish(table, policy, to=to, seed=1)
        else:
            with discreet.read(table) as private:
                groups = grouped(private, _full_domain(table, shown, k), RandomSource(1))
                release = publish_groups(private, policy, private.codes(LOSS), groups, to=to, secret=RandomSource(1))
        with closing(release):
            yield release


def _full_domain(table: pa.Table, shown: Sequence[str], k: int) -> discreet.Policy:
    """Distinct 4-diversity by levels: ages in intervals, any other column as it is or not at all."""
    trees = {name: {"tree": {"any": pc.unique(table[name]).to_pylist()}} for name in shown if name != "age"}
    return discreet.Policy(
        quasi=shown,
        sensitive=LOSS,
        drop="rest",
        guarantee={"distinct_l": k},
        publication="generalization",
        partition="full_domain",
        hierarchies={"age": {"intervals": [5, 10, 20, 40], "origin": 1}, **trees},
        options={"cuts": "fitted"},
        accept=ACCEPT,
    )


Asked = Sequence[tuple[str, float]]


def arbitrary(table: pa.Table, sizes: Sequence[int], times: int) -> Iterator[tuple[int, Asked]]:
    """Of every size so many queries, each with its true average."""
    loss = table[LOSS].to_numpy()
    for size in sizes:
        names = [f"{DRAWS}_{number}" for number in range(times)]
        yield size, [(f"{name} < {size}", float(loss[table[name].to_numpy() < size].mean())) for name in names]


def ranges(table: pa.Table, spans: Sequence[int], times: int) -> Iterator[tuple[int, Asked]]:
    """Of every span so many ranges of ages that somebody is in, each with its true average."""
    chance, age, loss = np.random.default_rng(2007), table["age"].to_numpy(), table[LOSS].to_numpy()
    for span in spans:
        found: list[tuple[str, float]] = []
        while len(found) < times:
            low = int(chance.integers(age.min(), max(age.max() - span, age.min() + 1)))
            here = loss[(age >= low) & (age <= low + span)]
            if here.size:
                found.append((f"age BETWEEN {low} AND {low + span}", float(here.mean())))
        yield span, found


def error(release: Release, asked: Asked, boxes: Any = None) -> float | None:
    """The mean of the width of the bounds over the truth."""
    found = []
    for where, truth in asked:
        question = f"SELECT AVG({LOSS}) AS x FROM microdata WHERE {where}"  # noqa: S608 - names and numbers of ours
        told = release.ask(question, generalized=boxes or False)
        low, high = (told.rows()[0][f"x_{end}"] for end in ("low", "high"))
        if low is not None and high is not None:
            found.append((float(high) - float(low)) / truth)
    return float(np.mean(found)) if found else None


def _hidden(release: Release) -> dict[int, dict[str, None]]:
    """A generalized table of which a condition on arbitrary rows says nothing."""
    return {group: dict.fromkeys(release.promise.quasi) for group in range(1, release.promise.groups + 1)}


def against_generalized(kind: str) -> Callable[[Row, Settings, Data], Iterator[Row]]:
    def measure(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
        table = losses(data, QUASI[: cell["quasi"]])
        table = drawn(table, settings["queries"]) if kind == "arbitrary" else table
        with released(table, "l-diversity", settings["k"], 0) as release:
            boxes: Any = _hidden(release) if kind == "arbitrary" else True
            groups = release.promise.groups
            for x, asked in _questions(kind, table, settings):
                yield {"x": x, "method": "permuted", "error": error(release, asked), "groups": groups}
                yield {"x": x, "method": "generalized", "error": error(release, asked, boxes), "groups": groups}

    return measure


def by_algorithm(kind: str) -> Callable[[Row, Settings, Data], Iterator[Row]]:
    def measure(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
        table = drawn(losses(data, ("age", *QUASI[1 : settings["quasi"]])), settings["queries"] * (kind == "arbitrary"))
        yield from _asked(table, cell["method"], settings["k"], settings["e"], _questions(kind, table, settings))

    return measure


def _questions(kind: str, table: pa.Table, settings: Settings) -> Iterator[tuple[int, Asked]]:
    if kind == "arbitrary":
        return arbitrary(table, settings["sizes"], settings["queries"])
    return ranges(table, settings["spans"], settings["queries"])


def once(settings: Settings) -> list[Row]:
    return [{"quasi": settings["quasi"]}]


def by_method(settings: Settings) -> list[Row]:
    return [{"method": method} for method in settings["methods"]]


def _asked(table: pa.Table, algorithm: str, k: int, e: int, questions: Any) -> Iterator[Row]:
    with released(table, algorithm, k, e) as release:
        for x, asked in questions:
            yield {"x": x, "method": algorithm, "error": error(release, asked), "groups": release.promise.groups}


def privacy(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
    """One algorithm on a synthetic table; what is varied is k, e, or how closely losses follow ages."""
    del data
    own = {"k": settings["k"], "e": settings["e"], "variance": None, cell["by"]: cell["x"]}
    table = synthetic(settings["rows"], own["variance"])
    questions = [(cell["x"], asked) for _, asked in ranges(table, [settings["span"]], settings["queries"])]
    yield from _asked(table, cell["method"], own["k"], own["e"], questions)


def overhead(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
    """The time of a question to the private table and to the release, by the processor."""
    del data
    table = synthetic(settings["rows"])
    with discreet.read(table) as private:
        part = grouped(private, _by("min_sum", settings["k"], 0), RandomSource(1))
    table = table.append_column("part", pa.array(part))
    table = table.append_column("draw", pa.array(np.random.default_rng(1).integers(0, 100, len(table))))
    if cell["by"] == "groups":
        where = f"part < {(part.max() + 1) * cell['x'] / 100} AND draw < 30"
    else:
        where = f"age BETWEEN 30 AND {30 + cell['x']}"
    asked = f"SELECT AVG({LOSS}) AS x FROM microdata WHERE {where}"  # noqa: S608 - names and numbers of ours
    hits = f"SELECT part, COUNT(*) FROM {RELATION} WHERE {where} GROUP BY part"  # noqa: S608
    with discreet.read(table) as private, released(table, "min_sum", settings["k"], 0) as release:
        acts: dict[str, Callable[[], Any]] = {
            "original": lambda: private.engine.run(asked.replace("microdata", RELATION)),
            "step 1: hits per group": lambda: private.engine.run(hits),
            "rewritten": lambda: release.ask(asked).rows(),
        }
        for method, act in acts.items():
            seconds = _seconds(act, settings["times"])
            yield {"x": cell["x"], "method": method, "seconds": seconds, "groups": release.promise.groups}


def scalability(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
    """The time to partition so many rows, by the processor."""
    del data
    policy = _by(cell["method"], settings["k"], settings["e"])
    with discreet.read(synthetic(cell["x"])) as private:
        seconds = _seconds(lambda: grouped(private, policy, RandomSource(1)), 1 if cell["x"] > 100_000 else 5)
    yield {"x": cell["x"], "method": cell["method"], "seconds": seconds, "per_million": 1e6 * seconds / cell["x"]}


def _by(algorithm: str, k: int, e: int) -> discreet.Policy:
    return discreet.Policy(
        quasi=["age"], sensitive=LOSS, guarantee={"k": k, "e": e}, partition=algorithm, publication="permutation"
    )


def _seconds(act: Callable[[], Any], times: int) -> float:
    """The median, after one that does not count."""
    act()
    found = []
    for _ in range(times):
        start = time.process_time()
        act()
        found.append(time.process_time() - start)
    return float(np.median(found))


def times(x: str, methods: Sequence[str] | None = None, by: str = "") -> Callable[[Settings], list[Row]]:
    """A cell for each value that is varied, and each method."""

    def cells(settings: Settings) -> list[Row]:
        named = {"by": by} if by else {}
        listed = settings["methods"] if methods is None else methods
        return [
            {**named, "x": value, **({"method": name} if name else {})} for value, name in product(settings[x], listed)
        ]

    return cells
