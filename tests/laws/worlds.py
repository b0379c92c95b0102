"""Every table that a release allows, and the answer that a question has over all of them: the oracle of the laws.

It shares nothing with `discreet.answer`. Plain DuckDB computes the conditions, keys and arguments of a question
on every pair of a row and a sensitive value; which pairs occur together in a table, and all aggregates, are
worked out here by enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations, product
from math import ceil, factorial, floor, prod
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa

Function = Literal["count", "sum", "avg", "min", "max", "disc", "cont", "distinct", "var", "stddev"]


@dataclass(frozen=True)
class Measure:
    """One aggregate of a question: its SQL text, and what the text means."""

    text: str
    function: Function
    argument: str | None = None
    fraction: Fraction = Fraction(1, 2)


@dataclass(frozen=True)
class Question:
    """A question by its parts, each an SQL text."""

    keys: tuple[str, ...]
    measures: tuple[Measure, ...]
    where: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns of the answer, apart from stderr, low and high."""
        return [*(f"k{i}" for i in range(len(self.keys))), *(f"m{i}" for i in range(len(self.measures)))]

    @property
    def sql(self) -> str:
        return self.phrased(group_by=self.keys)

    def phrased(self, *, group_by: Sequence[str], show_keys: bool = True, rest: str = "") -> str:
        """The question with other words in GROUP BY, without its keys in SELECT, or with more at its end."""
        texts = [*self.keys, *(measure.text for measure in self.measures)]
        columns = [f"{text} AS {name}" for text, name in zip(texts, self.names, strict=True)]
        columns = columns if show_keys else columns[len(self.keys) :]
        where = f" WHERE {self.where}" if self.where else ""
        group = f" GROUP BY {', '.join(group_by)}" if group_by else ""
        return f"SELECT {', '.join(columns)} FROM microdata{where}{group}{rest}"


@dataclass(frozen=True)
class Expected:
    """What an aggregate must give; `rounding` is None where low and high must be met to the digit."""

    low: Any
    high: Any
    estimate: Any
    stderr: float | None
    least: int
    rounding: float | None = None


@dataclass(frozen=True)
class Worlds:
    """The tables that a release allows: `held[w, r]` is the number of the value that row r holds in world w."""

    connection: duckdb.DuckDBPyConnection = field(repr=False)
    held: np.ndarray

    def close(self) -> None:
        self.connection.close()

    def answer(self, question: Question) -> dict[tuple[Any, ...], list[Expected]]:
        """For each combination of keys that occurs in some world, what each measure must give."""
        return {
            combination: [_expected(*pair, here) for pair in zip(question.measures, arguments, strict=True)]
            for combination, (here, arguments) in self._found(question).items()
        }

    def figures(self, question: Question, figure: Callable[[Measure, list[Any]], Any]) -> dict[tuple[Any, ...], Any]:
        """For each such combination and measure: a figure of what is there to aggregate, in every world."""
        found = {}
        for combination, (here, arguments) in self._found(question).items():
            counted = [here & (cells.codes < len(cells.values) - 1) for cells in arguments]
            found[combination] = [
                [
                    figure(measure, [cells.values[code] for code in codes[some]])
                    for codes, some in zip(cells.codes, there, strict=True)
                ]
                for measure, cells, there in zip(question.measures, arguments, counted, strict=True)
            ]
        return found

    def _found(self, question: Question) -> dict[tuple[Any, ...], tuple[np.ndarray, list[_Cells]]]:
        """For each such combination: which rows have it and match, in every world, and all arguments."""
        texts = [*question.keys, *(measure.argument or "NULL" for measure in question.measures)]
        columns = "".join(f", ({text})" for text in texts)
        found = self.connection.sql(
            f'SELECT ({question.where or "TRUE"}) IS TRUE{columns} FROM pairs ORDER BY "row number", "value number"'
        ).to_arrow_table()
        matches, *columns = (column.to_pylist() for column in found.columns)
        hits = self._spread(np.array(matches))
        cells = [self._cells(column) for column in columns]
        keys, arguments = cells[: len(question.keys)], cells[len(question.keys) :]
        combinations = {
            tuple(column.values[code] for column, code in zip(keys, codes, strict=True)): np.logical_and.reduce(
                [hits, *(column.codes == code for column, code in zip(keys, codes, strict=True))]
            )
            for codes in product(*(range(len(column.values)) for column in keys))
        }
        return {combination: (here, arguments) for combination, here in combinations.items() if here.any() or not keys}

    def _spread(self, pairs: np.ndarray) -> np.ndarray:
        """A column of all pairs as the cells of all worlds."""
        rows = self.held.shape[1]
        return pairs.reshape(rows, -1)[np.arange(rows), self.held]

    def _cells(self, pairs: list[Any]) -> _Cells:
        values = sorted({value for value in pairs if value is not None})
        number = {value: i for i, value in enumerate([*values, None])}
        return _Cells(self._spread(np.array([number[value] for value in pairs])), [*values, None])


@dataclass(frozen=True)
class _Cells:
    """Cells of all worlds, as codes into `values`, which ascend and end with None."""

    codes: np.ndarray
    values: list[Any]


def arrangements(values: Sequence[int]) -> int:
    """In how many ways the rows of a group can hold these values."""
    return factorial(len(values)) // prod(factorial(values.count(value)) for value in set(values))


def worlds(table: pa.Table, sensitive: str, groups: Sequence[int]) -> Worlds:
    """All tables that agree with the release of `table` in these groups; each is as likely as any other."""
    column = table[sensitive].to_pylist()
    values = list(dict.fromkeys(column))
    codes = [values.index(value) for value in column]
    members = [[row for row, group in enumerate(groups) if group == which] for which in sorted(set(groups))]
    choices = [sorted(set(permutations([codes[row] for row in rows]))) for rows in members]
    held = np.empty((prod(map(len, choices)), len(column)), int)
    held[:, np.concatenate(members)] = [np.concatenate(choice) for choice in product(*choices)]
    connection = duckdb.connect(config={"threads": "1"})
    quasi = table.drop_columns([sensitive]).append_column("row number", pa.array(range(len(column))))
    first = [column.index(value) for value in values]
    distinct = table.select([sensitive]).take(first).append_column("value number", pa.array(range(len(values))))
    connection.register("rows", quasi)
    connection.register("vals", distinct)
    connection.execute("CREATE TABLE pairs AS SELECT * FROM rows CROSS JOIN vals")
    return Worlds(connection, held)


def _expected(measure: Measure, argument: _Cells, here: np.ndarray) -> Expected:
    if measure.argument is None:
        return _totals(here.sum(axis=1), rounding=None, least=int(here.sum(axis=1).min()))
    counted = here & (argument.codes < len(argument.values) - 1)
    numbers = counted.sum(axis=1)
    if measure.function == "count":
        return _totals(numbers, rounding=None, least=int(numbers.min()))
    if not numbers.any():
        return Expected(None, None, None, None, 0)
    if measure.function in {"sum", "avg"}:
        cells = np.where(counted, np.array([*map(float, argument.values[:-1]), 0.0])[argument.codes], 0.0)
        rounding = 1e-9 * max(1.0, np.abs(cells).sum(axis=1).max())
        if measure.function == "sum":
            return _totals(cells.sum(axis=1), rounding=rounding, least=int(numbers.min()))
        return _ratio(cells.sum(axis=1), numbers, rounding=rounding)
    return _ordered(measure, argument, counted)


def _totals(totals: np.ndarray, *, rounding: float | None, least: int) -> Expected:
    """COUNT and SUM: a world in which nobody matches has 0."""
    return Expected(totals.min().item(), totals.max().item(), totals.mean(), totals.std(), least, rounding)


def _ratio(totals: np.ndarray, numbers: np.ndarray, *, rounding: float) -> Expected:
    """AVG: over as many rows in every world the mean and deviation of all averages, else a ratio and its delta method."""
    averages = totals[numbers > 0] / numbers[numbers > 0]
    if numbers.min() == numbers.max():
        estimate, stderr = averages.mean(), averages.std()
    else:
        estimate = totals.mean() / numbers.mean()
        stderr = (totals - estimate * numbers).std() / numbers.mean()
    return Expected(averages.min(), averages.max(), estimate, stderr, int(numbers.min()), rounding)


def _ordered(measure: Measure, argument: _Cells, counted: np.ndarray) -> Expected:
    """MIN, MAX and quantiles: values that stand at a place of the sorted rows, or between two places."""
    numbers = counted.sum(axis=1)
    absent = len(argument.values) - 1
    codes = np.sort(np.where(counted, argument.codes, absent), axis=1)[numbers > 0]
    least = int(numbers.min())
    places = [_place(measure, number) for number in range(counted.shape[1] + 1)]
    before = np.array([floor(place) for place in places])[numbers[numbers > 0]]
    at = codes[np.arange(len(codes)), before]
    if measure.function != "cont":
        low, high = int(at.min()), int(at.max())
        guess = min(max(_plug_in(measure, argument, counted), low), high)
        return Expected(argument.values[low], argument.values[high], argument.values[guess], None, least)
    values = np.array([*map(float, argument.values[:-1]), 0.0])
    part = np.array([float(place - floor(place)) for place in places])[numbers[numbers > 0]]
    after = codes[np.arange(len(codes)), np.where(part > 0, before + 1, before)]
    found = values[at] + part * (values[after] - values[at])
    return Expected(found.min(), found.max(), None, None, least, 1e-9 * max(1.0, np.abs(found).max()))


def _place(measure: Measure, number: int) -> Fraction:
    """Where among so many sorted rows, counted from 0, the aggregate stands."""
    if number == 0 or measure.function == "min":
        return Fraction(0)
    if measure.function == "max":
        return Fraction(number - 1)
    if measure.function == "disc":
        return Fraction(max(ceil(measure.fraction * number) - 1, 0))
    return measure.fraction * (number - 1)


def _plug_in(measure: Measure, argument: _Cells, counted: np.ndarray) -> int:
    """The estimate of an ordered aggregate, from how often each value is expected."""
    size = len(counted)
    every = range(len(argument.values) - 1)
    expected = [Fraction(int((counted & (argument.codes == code)).sum()), size) for code in every]
    possible = [code for code in every if expected[code] > 0]
    if measure.function == "max":
        possible.reverse()
    wanted = measure.fraction * sum(expected) if measure.function == "disc" else Fraction(1)
    reached = Fraction(0)
    for code in possible:
        reached += expected[code]
        if reached >= wanted:
            return code
    return possible[-1]
