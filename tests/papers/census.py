"""The CENSUS tables of the Anatomy papers, and queries of the papers' forms."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

# smallest code and number of values, as the data's README declares them
DOMAINS = {
    "age": (16, 78),
    "gender": (1, 2),
    "education": (1, 17),
    "marital": (1, 6),
    "race": (1, 9),
    "workclass": (1, 10),
    "country": (1, 83),
}
SENSITIVE_DOMAIN = (0, 50)


@dataclass(frozen=True)
class Query:
    """COUNT(*) of the rows that hold one of the listed values in each listed column."""

    quasi: dict[str, list[int]]
    sensitive: tuple[str, list[int]]

    def sql(self):
        wanted = {**self.quasi, self.sensitive[0]: self.sensitive[1]}
        listed = [f"{name} IN ({', '.join(map(str, values))})" for name, values in wanted.items()]
        return f"SELECT COUNT(*) FROM microdata WHERE {' AND '.join(listed)}"

    def hits(self, columns, rows):
        found = np.ones(rows, bool)
        for name, values in self.quasi.items():
            found &= np.isin(columns[name], values)
        return found


def queries(quasi, sensitive, *, dimensions, selectivity, number, seed):
    """Random queries of Xiao and Tao, equation 14: over `dimensions` of the quasi-identifiers and the sensitive column."""
    chance = np.random.default_rng(seed)

    def some(domain):
        least, size = domain
        wanted = math.ceil(size * selectivity ** (1 / (dimensions + 1)))
        return sorted(int(least + value) for value in chance.choice(size, wanted, replace=False))

    for _ in range(number):
        chosen = chance.choice(len(quasi), dimensions, replace=False)
        yield Query({quasi[i]: some(DOMAINS[quasi[i]]) for i in sorted(chosen)}, (sensitive, some(SENSITIVE_DOMAIN)))


def ranges(quasi, sensitive, *, dimensions, volume, number, seed):
    """Random queries of Li et al., section 4.2: an interval of each of `dimensions` columns, the sensitive one among them."""
    chance = np.random.default_rng(seed)

    def interval(domain):
        least, size = domain
        length = math.floor(size * volume ** (1 / (dimensions + 1)))
        start = least + int(chance.integers(size - length + 1))
        return list(range(start, start + length))

    for _ in range(number):
        chosen = chance.choice(len(quasi), dimensions - 1, replace=False)
        within = {quasi[i]: interval(DOMAINS[quasi[i]]) for i in sorted(chosen)}
        yield Query(within, (sensitive, interval(SENSITIVE_DOMAIN)))


def sample(table: pa.Table, rows, seed):
    """`rows` random rows of a table, in random order."""
    return table.take(np.random.default_rng(seed).permutation(len(table))[:rows])
