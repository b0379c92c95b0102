"""Tables of visits, and what anybody who holds a release of one can see; shares no code with the package."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet import Policy

KINDS = 40


def visits(people=1_000, each=5, seed=1, kinds=KINDS):
    """So many people with so many visits each, or with numbers of visits that are drawn."""
    chance = np.random.default_rng(seed)
    many = np.full(people, each) if isinstance(each, int) else chance.choice(each, people)
    who = np.repeat(np.arange(people), many)
    towns = pa.array(["Aix", "Brest", "Caen"]).take(pa.array(chance.integers(0, 3, people)[who]))
    return pa.table(
        {
            "person_id": pa.array(np.char.add("id", (who * 7919 % people).astype(str))),
            "age": chance.integers(20, 80, people)[who],
            "town": towns,
            "ill": chance.integers(0, kinds, who.size),
        }
    )


def policy(**more):
    return Policy(
        **{"person": "person_id", "quasi": ["age", "town"], "sensitive": "ill", "guarantee": {"l": 3}, **more}
    )


def groups_of(release):
    """What anybody sees of each group: the rows of each person, and the values. Shares no code with the package."""
    promise, folder = release.promise, release.path
    if promise.publication == "anatomy":
        rows = pq.read_table(folder / "qit.parquet")
        numbers = rows["group"].to_pylist()
        values = defaultdict(Counter)
        for entry in pq.read_table(folder / "st.parquet").to_pylist():
            values[entry["group"]][entry["ill"]] += entry["count"]
    else:
        rows, mapping = pq.read_table(folder / "permuted.parquet"), pq.read_table(folder / "mapping.parquet")
        numbers = mapping["group"].to_pylist()
        values = defaultdict(Counter)
        for number, value in zip(numbers, rows["ill"].to_pylist(), strict=True):
            values[number][value] += 1
    persons = defaultdict(Counter)
    for number, person in zip(numbers, rows["person"].to_pylist(), strict=True):
        persons[number][person] += 1
    return {number: (persons[number], values[number]) for number in persons}


def every_world(persons, values):
    """All ways to lay a group's values on its rows: which rows hold which value."""
    rows = [who for who, own in persons.items() for _ in range(own)]

    def laid(free, left):
        if not left:
            yield {}
            return
        (value, many), *rest = left
        for chosen in combinations(sorted(free), many):
            for other in laid(free - set(chosen), rest):
                yield {**dict.fromkeys(chosen, value), **other}

    for world in laid(frozenset(range(len(rows))), sorted(values.items())):
        yield [(rows[row], value) for row, value in world.items()]
