"""The contract of attacks: what each knows, wants and is given, and how its success is told.

An attack runs on the files of a release and on what an attacker may be `Given` beside them. Whom it attacks are people
of whom it is told the quasi-identifiers; the truth is held against its guesses afterwards, and never seen by them.
Beside its success stand
    blind     one who takes all that the release leaves open as equally likely, with the same knowledge otherwise
    without   a model of other people, for one who never saw the release
    holdout   the same attack on people who were not in the table: what a release tells of everybody, in it or not
    at_recall how often it is right of those whom it is surest of: 1, 10 and 100 % of the people
A figure that has no meaning for an attack is None, and a note says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.metrics.truth import read_truth
from discreet.errors import InputError
from discreet.release import Release, open_release
from discreet.release.summary import columns as columns_of
from discreet.values.coded import code, combined

CERTAINTY = 0.95  # of 100 intervals, so many hold what they are about
RECALLS = (0.01, 0.1, 1.0)  # shares of the people that an attacker picks, the surest first
Progress: TypeAlias = Callable[[str], None]
Source: TypeAlias = str | Path | Any
Found = TypeVar("Found")


def silent(_: str) -> None:
    """Tell nobody what is being done."""


@dataclass(frozen=True, slots=True)
class Threat:
    """Who attacks: what they know of people, what they want to find out, and what they are given to do it."""

    knows: str
    wants: str
    given: str


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of people of whom a guess is right, and between what it lies at 95 % (Wilson 1927)."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, right: float, people: int, *, tried: int = 1) -> Self:
        """The rate of so many right guesses; of the best of several that were `tried`, with a wider interval.

        With 1 - 5 % / tried for each, all of their intervals together hold at 95 % (Bonferroni), the best one's too.
        """
        share = right / people
        normal = NormalDist().inv_cdf(1 - (1 - CERTAINTY) / (2 * tried))
        z = normal * normal / people
        middle = (share + z / 2) / (1 + z)
        reach = normal / (1 + z) * max(share * (1 - share) / people + z / people / 4, 0.0) ** 0.5
        low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
        return cls(share, low if right else 0.0, high if right < people else 1.0)

    def holds(self, share: float) -> bool:
        """Whether a share lies in the interval, but for rounding."""
        return self.low - 1e-9 <= share <= self.high + 1e-9


@dataclass(frozen=True, slots=True)
class Given:
    """What an attacker has beside the release, and the truth to score with; tables that were read already.

    `truth`       the private table: quasi-identifiers and sensitive column. It tells who is attacked, and who was right
    `holdout`     people who were not in the table, with the same columns
    `population`  other people, with the same columns, of whom an attacker learned before; if there is none, those of
                  the truth who are not in the groups of whoever is attacked
    `public`      a public table of people, with names or numbers of them and some of the quasi-identifiers
    `everybody`   the quasi-identifiers of all who were in the table, and of nobody else: an attacker of boxes may know
                  them from elsewhere
    `others`      other releases of the same people
    `exclude`     how many values, or neighbours' values, an attacker with background knowledge knows
    `within`      how near a guess of a number must be to count as right, as a share of it
    `groups`      of everybody of the truth the group, counted from 0 in the order of the release's numbers: the learner
                  and who knows the population have recognised the person's row among those that look the same
    `register`    how many people the population's table has, before any of the truth were taken out
    `kept`        what several attacks need, so that it is computed once
    """

    truth: pa.Table | None = None
    holdout: pa.Table | None = None
    population: pa.Table | None = None
    public: pa.Table | None = None
    everybody: pa.Table | None = None
    others: tuple[Release, ...] = ()
    exclude: int = 1
    within: float = 0.05
    groups: npt.NDArray[np.int64] | None = None
    register: int | None = None
    kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(
        cls,
        release: Release,
        *,
        truth: Source | None = None,
        holdout: Source | None = None,
        population: Source | None = None,
        public: Source | None = None,
        others: Sequence[Release | str | Path] = (),
        **more: Any,
    ) -> Self:
        """Read files or frames for attacks on a release.

        People of the holdout are no part of the truth. Nor are those of the truth part of a population that has them
        all, a register: who learns from it learns of others. If nobody is left, there is none.
        """
        columns, texts = release.promise.columns, texts_of(release)
        private = None if truth is None else _people(truth, columns, "truth", texts)
        outside = None if holdout is None else _alike(_people(holdout, columns, "holdout", texts), private, "holdout")
        others_of = None if population is None else _people(population, columns, "population", texts)
        register = None if others_of is None else len(others_of)
        if others_of is not None and private is not None:
            others_of = _apart(_alike(others_of, private, "population"), private)
        return cls(
            private if private is None or outside is None else _apart(private, outside),
            outside,
            others_of if others_of is None or len(others_of) else None,
            None if public is None else _people(public, None, "public table", texts),
            None,
            tuple(each if isinstance(each, Release) else open_release(each) for each in others),
            register=register,
            **more,
        )

    def __post_init__(self) -> None:
        if self.groups is None:
            return
        if self.holdout is not None:
            raise InputError("people of a holdout are in no group", hint="leave out the groups, or the holdout")
        if self.truth is not None and len(self.groups) != len(self.truth):
            raise InputError(
                f"groups of {len(self.groups):,} people are told, and the truth has {len(self.truth):,}",
                hint="name the group of everybody",
            )

    def once(self, name: str, find: Callable[[], Found]) -> Found:
        """What is found, once for all attacks."""
        if name not in self.kept:
            self.kept[name] = find()
        found: Found = self.kept[name]
        return found

    def scores(self) -> pa.Table:
        """The truth; raise if there is none."""
        if self.truth is None:
            raise InputError(
                "without the private table nobody can say how often it is right",
                hint="name the table that was published as the truth",
            )
        if not len(self.truth):
            raise InputError(
                "everybody of the truth is in the holdout, too: nobody is left to attack",
                hint="name the table that was published as the truth, and people who were not in it as the holdout",
            )
        return self.truth


def check_found(people: int) -> None:
    """Raise if there is nobody to score with."""
    if not people:
        raise InputError("nobody of the truth is in the release", hint="name the table that was published")


def texts_of(release: Release) -> list[str]:
    """The columns of a release that hold text."""
    return [each.name for each in columns_of(release.manifest) if each.type == "string"]


def _people(source: Source, columns: Sequence[str] | None, called: str, texts: Sequence[str]) -> pa.Table:
    """A table that was given; raise if nobody is in it."""
    found = read_truth(source, columns, called, texts)
    if not len(found):
        raise InputError(f"the {called} has no rows, expected one or more people", hint="check the file")
    return found


def _alike(table: pa.Table, truth: pa.Table | None, called: str) -> pa.Table:
    """A table in the types of the truth, if there is one; raise if it holds something else."""
    if truth is None:
        return table
    columns = []
    for name, kind in zip(truth.column_names, truth.schema.types, strict=True):
        try:
            columns.append(table[name].cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"`{name}` of the {called} holds {table[name].type} where the truth has {kind}",
                hint="give both the same type",
            ) from None  # the cause may show a value
    return pa.table(columns, names=truth.column_names)


def _apart(truth: pa.Table, holdout: pa.Table) -> pa.Table:
    """A table without the people of another, as many rows of each kind, if it has them all; else as it is."""
    try:
        both = pa.concat_tables([truth, holdout.cast(truth.schema)])
    except (pa.ArrowException, ValueError):
        return truth
    number, _ = combined([code(column).codes for column in both.columns])
    mine, theirs = number[: len(truth)], number[len(truth) :]
    out = np.bincount(theirs, minlength=int(number.max(initial=0)) + 1)
    if (np.bincount(mine, minlength=out.size) < out).any():
        return truth
    order = np.argsort(mine, kind="stable")
    first = np.searchsorted(mine[order], mine[order])
    kept = order[np.arange(mine.size) - first >= out[mine[order]]]
    return truth.take(pa.array(np.sort(kept)))


@dataclass(frozen=True, slots=True)
class Success:
    """How well an attack did on so many `people`; see the module's docstring. `details` are its own figures."""

    name: str
    threat: Threat
    people: int
    attacker: Rate
    blind: Rate
    without: Rate | None = None
    holdout: Rate | None = None
    at_recall: Mapping[float, Rate] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """An attack that was not made, and why: it `does not apply` to such releases, or it `could not run`.

    Neither says that the risk is low. The `hint` says what to do so that it can be made, if anything can be done.
    """

    name: str
    threat: Threat
    why: str
    kind: Literal["does not apply", "could not run"] = "could not run"
    hint: str = ""


class Attack(Protocol):
    """One attack; constructors store options only, a release and what is given come later."""

    @property
    def name(self) -> str: ...

    @property
    def threat(self) -> Threat: ...

    def suits(self, release: Release, given: Given) -> str | None:
        """Why the attack does not apply to such a release; None if it does."""
        ...

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Any:
        """What it guesses of people whose quasi-identifiers it is told; `given` has no truth."""
        ...

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        """Guess, and score with the truth; raise a `DiscreetError` if that cannot be done."""
        ...
