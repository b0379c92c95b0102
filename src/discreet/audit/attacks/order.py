"""The order attack: link rows to sensitive values by any order that the files may have kept.

Each hypothesis supposes that inside a group the rows stand in the same order as the group's values,
sorted by some key an outsider can compute, and links the first row to the first value, and so on.
`rank` is the strongest: when one random key both chose the rows of a value and ordered the file, the
place of a group among those that hold a value tells the key of its row. Where a value stands on each
row, as in a permutation, one more hypothesis is that it stands there as published: that it was never
shuffled, or not well. Of a full permutation, what is linked is the value of a column that stands on a row.
Where rows stand in several parts, these may have been cut by value: then the parts are in the order of values, or
the more people hold a value, the more rows, or bytes, its part has.
Where quasi-identifiers tell something of the sensitive value, sorting by them links better than
guessing too; that is not an order the release kept, but what `docs/promise.md` warns of. So the same is
tried with orders that *anyone* can make: rows of a group sorted, its values sorted or by how many hold them.
Only what the order of the files gives beyond that is one that they kept.
Cost: n log n. Claim: order_attack_finds_a_planted_leak — and on a release of unrelated columns only guesses.
Claim: sorted_files_keep_no_order — where values follow quasi-identifiers, sorting anew tells as much as the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, check_found, silent
from discreet.audit.files import Tables, numbers, read_tables
from discreet.audit.guessing.guesses import Guesses, may_guess, score
from discreet.audit.guessing.inside import blindly
from discreet.audit.guessing.scored import scored
from discreet.audit.places.looks import Looks, Votes
from discreet.audit.places.shown import shown
from discreet.errors import InputError
from discreet.learn.view import View
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS
from discreet.values.coded import code


@dataclass(frozen=True)
class Links:
    """A sensitive value linked to each person's row, in file order."""

    hypothesis: str
    values: pa.Array

    def recovered(self, truth: pa.Array) -> float:
        """The share of rows linked to their real value."""
        same = pc.fill_null(pc.equal(self.values, truth), False)
        return float(pc.mean(same.cast(pa.float64())).as_py())


def attack(release: Release) -> list[Links]:
    """Link rows to values under every hypothesis."""
    tables = _read(release)
    value, group = _listed(tables)
    rows = np.argsort(numbers(tables.qit[release.promise.group]), kind="stable")
    place, rank = np.arange(value.size), _rank_within(value, group)
    keys = {"listed": place, "listed backwards": -place, "rank": rank, "rank backwards": -rank}
    links = [] if tables.beside is None else [Links("as published", tables.beside)]
    links += [_link(name, tables, group, key, rows) for name, key in keys.items()]
    for name, size in _sizes_of_parts(release).items():
        by_size = np.lexsort((size, numbers(tables.qit[release.promise.group])))
        frequent = _by_frequency(value)
        links.append(_link(name, tables, group, -frequent, by_size))
        links.append(_link(f"{name} backwards", tables, group, frequent, by_size))
    return links


def rearranged(release: Release) -> list[Links]:
    """The same with orders that anyone can make: rows sorted, values sorted or by how many hold them."""
    tables = _read(release)
    value, group = _listed(tables)
    columns = [code(tables.qit[name]).codes for name in release.promise.quasi]
    rows = np.lexsort((*columns[::-1], numbers(tables.qit[release.promise.group])))
    rank = _by_frequency(value)
    keys = {"sorted": value, "sorted backwards": -value, "frequent": rank, "frequent backwards": -rank}
    return [_link(name, tables, group, key, rows) for name, key in keys.items()]


def _by_frequency(value: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place of each value if those that most people hold come first."""
    _, same, counts = np.unique(value, return_inverse=True, return_counts=True)
    frequent = np.lexsort((value, -counts[same]))  # those who hold the same value stand together
    rank = np.empty(value.size, np.int64)
    rank[frequent] = np.arange(value.size)
    return rank


def _sizes_of_parts(release: Release) -> dict[str, npt.NDArray[np.int64]]:
    """How large the part is that each row stands in, if there are several."""
    table, *_ = release.manifest.resources  # rows stand in the first
    if not table.in_parts:
        return {}
    files = release.files(table.name)
    rows = [pq.read_metadata(file).num_rows for file in files]
    sizes = {"rows of parts": rows, "bytes of parts": [file.stat().st_size for file in files]}
    return {name: np.repeat(np.array(size), rows) for name, size in sizes.items()}


def _read(release: Release) -> Tables:
    if release.promise.sensitive is None:
        raise InputError(
            "the release has no sensitive values to link rows to", hint="name a release that has a sensitive column"
        )
    return read_tables(release)


def _listed(tables: Tables) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The value, as a number, and the group of every place in the list of values."""
    several = numbers(tables.st["n"])
    value = code(tables.st["value"]).codes.astype(np.int64)
    return np.repeat(value, several), np.repeat(numbers(tables.st["grp"]), several)


def _link(
    hypothesis: str,
    tables: Tables,
    group: npt.NDArray[np.int64],
    key: npt.NDArray[Any],
    rows: npt.NDArray[np.int64],
) -> Links:
    """The values of each group in the order of a key, laid on its rows in the order told."""
    line = np.repeat(np.arange(len(tables.st)), numbers(tables.st["n"]))
    found = np.empty(line.size, np.int64)
    found[rows] = line[np.lexsort((key, group))]
    return Links(hypothesis, tables.st["value"].combine_chunks().take(pa.array(found)))


def blind(release: Release) -> float:
    """The share of rows that guessing inside each group recovers."""
    st = read_tables(release).st
    counts = st["n"].to_numpy().astype(np.float64)
    _, group = np.unique(st["grp"].to_numpy(), return_inverse=True)
    return float(np.sum(counts * counts / np.bincount(group, weights=counts)[group]) / counts.sum())


def _rank_within(value: npt.NDArray[np.int64], group: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The place of each group among those that hold the same value, from 0 to 1."""
    order = np.lexsort((group, value))
    counts = np.bincount(value + 1)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    place = np.empty(value.size)
    place[order] = (np.arange(value.size) - starts + 0.5) / np.repeat(counts, counts)
    return place


@dataclass(frozen=True)
class Order:
    """The attack under every hypothesis; told is the one that does best, with an interval for the best of so many."""

    name: ClassVar[str] = "order"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, and that the person is in the table",
        wants="the person's sensitive value",
        given="the release: the order of its rows and values, and the numbers of its groups",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        if release.promise.publication in PUBLICATIONS:
            return None
        return f"a release by `{release.promise.publication}` has no rows that are one person's: none can be linked"

    def guesses(
        self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent
    ) -> dict[str, Guesses]:
        """What is guessed under each hypothesis: the value that most rows which look like the person are linked to."""
        del given
        progress("linking")
        return _guesses(release, attack(release), people)

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        return blindly(release, given.once("shown", lambda: shown(release)), people)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        truth = given.scores()
        people = truth.select([*release.promise.quasi])
        found = self.guesses(release, people, replace(given, truth=None), progress=progress)
        right = {name: score(release, each, truth) for name, each in found.items()}
        rates = {name: each.rate(tried=len(found)) for name, each in right.items() if each.people}
        check_found(len(rates))
        best = max(rates, key=lambda name: rates[name].share)
        success = scored(_Supposing(self, best), release, given, progress=progress, tried=len(found))
        sorted_anew = _guesses(release, rearranged(release), people)
        anyone = max(
            (score(release, each, truth).rate(tried=len(sorted_anew)) for each in sorted_anew.values()),
            key=lambda rate: rate.share,
        )
        best_of = f"the best of {len(found)} hypotheses, `{best}`; the interval allows for that"
        anew = (
            f"sorted anew, as anyone can, the same rows and values link rightly for {anyone.share:.1%}: the files"
            " kept an order only if the interval lies above that"
        )
        return replace(
            success,
            notes=(*success.notes, best_of, anew),
            details={**success.details, "hypotheses": rates, "rearranged": anyone},
        )


@dataclass(frozen=True)
class _Supposing:
    """The attack under one hypothesis."""

    attack: Order
    hypothesis: str

    @property
    def name(self) -> str:
        return self.attack.name

    @property
    def threat(self) -> Threat:
        return self.attack.threat

    def suits(self, release: Release, given: Given) -> str | None:
        return self.attack.suits(release, given)

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        return self.attack.guesses(release, people, given, progress=progress)[self.hypothesis]

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        return self.attack.blind(release, people, given)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)


def _guesses(release: Release, every: Sequence[Links], people: pa.Table) -> dict[str, Guesses]:
    """What is guessed of people by links under each hypothesis."""
    rows = _as_view(release, read_tables(release))
    may, looks = may_guess(release, rows.values), Looks.among(rows, people)
    frequent = np.zeros(len(people), np.int64), np.zeros(len(people))
    found = {}
    for links in every:
        codes = np.asarray(pc.index_in(links.values, value_set=rows.values), np.int64)
        found[links.hypothesis] = looks.guesses(rows, Votes.of_tables(codes[None]), may, frequent)
    return found


def _as_view(release: Release, tables: Tables) -> View:
    """The rows in the order of the file, as codes, and the values that occur."""
    values = code(tables.st["value"])
    quasi = {name: code(tables.qit[name]) for name in release.promise.quasi}
    rows = len(tables.qit)
    return View(np.array([0, rows]), quasi, np.zeros(rows, np.int32), values.values, release.promise.sensitive_column)
