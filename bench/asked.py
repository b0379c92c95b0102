"""COUNT questions in the form of Xiao and Tao (2006), section 6.1, and what a release answers, many at a time.

A question has a condition on each of d quasi-identifiers and on the sensitive column. Each condition takes
b = ceil(|domain| x 0.05^(1/(d + 1))) values: of `sets` any, of `ranges` a run of neighbours. Questions that fewer than
one in a thousand people meet are drawn again: errors are relative to the truth.

`Answers` are computed here from the released files, in arrays, because thousands of questions in SQL would take hours;
`check` asks some of them in SQL and raises unless the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from census import Private, coded
from discreet.answer.estimators.design import linear
from discreet.answer.estimators.design.linear import Way
from discreet.answer.estimators.design.opened import Opened
from discreet.learn.plausible import Plausible
from discreet.release import Release

SELECTIVITY, LEAST, BATCH = 0.05, 1e-3, 50
FORMS, DIMENSIONS = ("sets", "ranges"), (1, 2, 5)
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Question:
    """For each column that is in the question, the sensitive one last, which values it takes; and the truth."""

    columns: tuple[int, ...]
    takes: tuple[Flags, ...]  # for each of them
    truth: int = 0

    @property
    def inside(self) -> Flags:
        """Which sensitive values it takes."""
        return self.takes[-1]

    def meeting(self, codes: npt.NDArray[np.uint16]) -> Flags:
        """Which rows, in columns x rows of codes, meet the conditions on columns that are there."""
        conditions = zip(self.columns, self.takes, strict=True)
        return np.logical_and.reduce([takes[codes[number]] for number, takes in conditions if number < len(codes)])

    def sql(self, table: Private, form: str) -> str:
        """As it is asked."""
        conditions = []
        for number, takes in zip(self.columns, self.takes, strict=True):
            column = exp.column(table.table.column_names[number], quoted=True)
            values = table.domains[number].filter(pa.array(takes)).to_pylist()
            if form == "ranges":
                ends = {"low": exp.convert(values[0]), "high": exp.convert(values[-1])}
                conditions.append(exp.Between(this=column, **ends))
            else:
                conditions.append(exp.In(this=column, expressions=[*map(exp.convert, values)]))
        return exp.select(exp.Count(this=exp.Star())).from_("microdata").where(*conditions).sql(dialect="duckdb")


def questions(table: Private, form: str, dimensions: int, many: int, seed: int) -> list[Question]:
    """So many questions about a table."""
    chance, found = np.random.default_rng([seed, FORMS.index(form), dimensions]), []
    sizes = [len(domain) for domain in table.domains]
    different, people = table.different
    while len(found) < many:
        quasi = np.sort(chance.choice(len(sizes) - 1, dimensions, replace=False))
        columns = (*map(int, quasi), len(sizes) - 1)
        takes = tuple(_taken(form, sizes[number], SELECTIVITY ** (1 / len(columns)), chance) for number in columns)
        question = Question(columns, takes)
        truth = int(people[question.meeting(different)].sum())
        if truth >= LEAST * table.rows:
            found.append(replace(question, truth=truth))
    return found


def _taken(form: str, size: int, share: float, chance: np.random.Generator) -> Flags:
    """About so large a share of the values of a column: a run of them, or any."""
    several, taken = ceil(size * share), np.zeros(size, np.bool_)
    first = int(chance.integers(size - several + 1))
    taken[slice(first, first + several) if form == "ranges" else chance.choice(size, several, replace=False)] = True
    return taken


@dataclass(frozen=True)
class Answers:
    """Of many questions the estimate and its standard error."""

    estimate: Floats
    stderr: Floats

    def errors(self, asked: Sequence[Question]) -> Floats:
        """How far estimates are from the truth, relative to it."""
        truths = np.array([each.truth for each in asked], np.float64)
        return np.abs(self.estimate - truths) / truths

    def covered(self, asked: Sequence[Question]) -> float:
        """The share of truths that lie within two standard errors."""
        truths = np.array([each.truth for each in asked], np.float64)
        return float(np.mean(np.abs(self.estimate - truths) <= 2 * self.stderr + 1e-9 * truths))


@dataclass(frozen=True)
class Shown:
    """What the files of a release show, as codes in the order of groups.

    The group g has the rows from `rows[g]` to `rows[g + 1]`, and the values in places `held[g]` to `held[g + 1]` of
    `values`, each held by `n` rows. A row looks like the column number `like[row]` of `codes`.
    """

    codes: npt.NDArray[np.uint16]  # quasi-identifiers x different rows
    like: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint16]
    n: npt.NDArray[np.int64]

    @classmethod
    def of(cls, release: Release, table: Private) -> Shown:
        """The files of an anatomy, read anew: nothing is shared with what answers in SQL."""
        about = release.promise
        qit, st = (pq.read_table(release.file(name)) for name in ("qit", "st"))
        quasi = zip(about.quasi, table.domains, strict=False)
        codes, like = _different([coded(qit[name], domain) for name, domain in quasi])
        return cls(
            codes,
            like,
            _starts(qit[about.group]),
            _starts(st[about.group]),
            coded(st[table.source.sensitive], table.domains[-1]),
            np.asarray(st[about.count], np.int64),
        )

    def hits(self, question: Question) -> npt.NDArray[np.int64]:
        """How many rows of each group meet the conditions on quasi-identifiers."""
        return _hits(question.meeting(self.codes), self.like, self.rows)

    def even(self, asked: Sequence[Question]) -> Answers:
        """The estimate that takes all pairings of a group's rows and values as equally likely."""
        found = [_even(self.hits(each), self.rows, self.held, self.values, self.n, each.inside) for each in asked]
        estimate, variance, _, _ = np.array(found).T
        return Answers(estimate, np.sqrt(variance))

    def design(self, asked: Sequence[Question], opened: Opened, way: Way = linear) -> Answers:
        """The regression on groups, many questions at a time, each as if it were a key of one question."""
        parts = [self._regressed(asked[at : at + BATCH], opened, way) for at in range(0, len(asked), BATCH)]
        return Answers(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _regressed(self, asked: Sequence[Question], opened: Opened, way: Way) -> tuple[Floats, Floats]:
        hits, several, design = [self.hits(each) for each in asked], np.arange(len(asked)), opened.design
        groups, keys = np.arange(self.rows.size) * len(asked), np.tile(several.astype(np.int32), self.rows.size - 1)
        amounts = np.stack(hits, axis=1).reshape(-1, 1).astype(np.float64)
        means = design.means(design.gather(groups, keys, amounts, len(asked)))
        targets = opened.targets(np.array([each.inside for each in asked], np.float64))
        found = way.totals(design, targets, means, several, several)
        pairs = zip(hits, asked, strict=True)
        low, high = np.array(
            [_even(hit, self.rows, self.held, self.values, self.n, each.inside)[2:] for hit, each in pairs]
        ).T
        return np.clip(found.estimate, low, high), np.where(low == high, 0, found.stderr)


@dataclass(frozen=True)
class Drawn:
    """Plausible tables as codes: of each row how it looks, and the value that it holds in every table."""

    codes: npt.NDArray[np.uint16]  # quasi-identifiers x different rows
    like: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint16]  # rows x tables

    @classmethod
    def of(cls, tables: Plausible, table: Private) -> Drawn:
        quasi = zip(table.source.quasi, table.domains, strict=False)
        codes, like = _different([coded(tables.shown[name], domain) for name, domain in quasi])
        values = coded(tables.values, table.domains[-1])
        return cls(codes, like, np.ascontiguousarray(values[tables.codes].T))

    def answers(self, asked: Sequence[Question]) -> Answers:
        """The mean over plausible tables, and what their spread says of it (Rubin 1987)."""
        counts = np.array([_counts(each.meeting(self.codes), self.like, self.values, each.inside) for each in asked])
        spread = counts.var(axis=1, ddof=1) * (1 + 1 / counts.shape[1])
        return Answers(counts.mean(axis=1), np.sqrt(spread))


def _different(columns: Sequence[npt.NDArray[np.uint16]]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64]]:
    """The rows that differ, as columns x rows, and of each row which of them it is."""
    codes, like = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return codes, like.reshape(-1)


@nb.njit(cache=True, nogil=True)
def _hits(meets, like, rows):  # type: ignore[no-untyped-def]
    hits = np.zeros(rows.size - 1, np.int64)
    for group in range(hits.size):
        for row in range(rows[group], rows[group + 1]):
            hits[group] += meets[like[row]]
    return hits


@nb.njit(cache=True, nogil=True)
def _even(hits, rows, held, values, n, inside):  # type: ignore[no-untyped-def]
    """Estimate, variance, low and high."""
    estimate, variance, low, high = 0.0, 0.0, 0.0, 0.0
    for group in range(hits.size):
        size, hit, holders = rows[group + 1] - rows[group], hits[group], 0
        for place in range(held[group], held[group + 1]):
            if inside[values[place]]:
                holders += n[place]
        share = holders / size
        estimate += hit * share
        if size > 1:
            variance += hit * (size - hit) / (size - 1) * share * (1 - share)
        low += max(0, hit + holders - size)
        high += min(hit, holders)
    return estimate, variance, low, high


@nb.njit(cache=True, nogil=True)
def _counts(meets, like, tables, inside):  # type: ignore[no-untyped-def]
    """In each table, the rows that meet the conditions and hold a value inside."""
    found = np.zeros(tables.shape[1])
    for row in range(tables.shape[0]):
        if meets[like[row]]:
            for table in range(tables.shape[1]):
                found[table] += inside[tables[row, table]]
    return found


def _starts(groups: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Where each group starts in a column in order, and where the last one ends."""
    steps = np.diff(np.asarray(groups, np.int64))
    if steps.min(initial=0) < 0:
        raise SystemExit("the rows of a release do not lie in the order of its groups: a mistake of ours")
    return np.concatenate([[0], np.flatnonzero(steps) + 1, [len(groups)]]).astype(np.int64)


def check(
    release: Release, table: Private, form: str, estimator: str, asked: Sequence[Question], answers: Answers
) -> None:
    """Ask questions in SQL too, and raise unless the answers are the same."""
    for number, question in enumerate(asked):
        told = [*release.ask(question.sql(table, form), estimator=estimator).rows()[0].values()]
        mine = [answers.estimate[number], answers.stderr[number]]
        if not np.allclose(told[:2], mine, rtol=1e-6, atol=1e-6 * question.truth):
            raise SystemExit(
                f"{table.name}, {estimator}, {form}: asked in SQL {told[:2]}, computed here {mine}: a mistake of ours"
            )


def together(parts: Sequence[Answers]) -> Answers:
    """Answers to every n-th question, from the first, the second and so on, in the order of all."""
    estimate = np.empty(sum(part.estimate.size for part in parts))
    stderr = np.empty(estimate.size)
    for number, part in enumerate(parts):
        estimate[number :: len(parts)], stderr[number :: len(parts)] = part.estimate, part.stderr
    return Answers(estimate, stderr)


def cells(dimensions: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Every form of question with every number of quasi-identifiers."""
    return ((form, several) for form in FORMS for several in dimensions)
