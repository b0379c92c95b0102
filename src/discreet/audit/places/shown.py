"""What a release shows of its groups, whatever its publication: values, rows, and who may be in them.

    anatomy, permutation  rows as they are; a person may be any row that looks so
    full_permutation      rows as they stand, each column shuffled by itself; a person may be in every group that holds
                          all of the quasi-identifiers, as likely as the product of their shares, times its people
    generalization        rows drawn from the boxes; a person may be in every group whose box holds them, as likely as
                          the group has people for its size

Cost: reading the files; then for different people the groups that hold one of their values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.audit.files import read_tables
from discreet.audit.guessing.guesses import Ints
from discreet.audit.guessing.posterior import Histograms, Places
from discreet.audit.places.boxed import Boxes
from discreet.audit.places.looks import Looks
from discreet.audit.places.shuffled import Lists
from discreet.errors import ReleaseError
from discreet.learn.plausible import secret_of
from discreet.learn.view import View
from discreet.release import Release
from discreet.values.coded import Coded, code

Where = Callable[[pa.Table], Places]


@dataclass(frozen=True, eq=False)
class Shown:
    """A view of the release, or of rows that stand for those that it does not show, and where somebody may be."""

    view: View
    held: Histograms
    where: Where  # for people who all look different, the groups that each may be in
    drawn: bool = False  # whether the rows of the view were drawn: people who may be there stand for them better

    @property
    def columns(self) -> list[pa.ChunkedArray]:
        """The quasi-identifiers of the rows."""
        return [pa.chunked_array([coded.decode()]) for coded in self.view.quasi.values()]


def shown(release: Release) -> Shown:
    """Read a release of one of `WAYS`."""
    return WAYS[release.promise.publication](release)


def _rows(release: Release) -> Shown:
    view = View.of(release)
    group = np.repeat(np.arange(view.groups), np.diff(view.starts))

    def where(people: pa.Table) -> Places:
        looks = Looks.among(view, people)
        sizes = np.where(looks.seen, np.diff(looks.ends)[looks.of], 0)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(looks.ends[:-1][looks.of] - ends[:-1], sizes) + np.arange(ends[-1])
        return Places(ends, group[looks.rows[at]], np.ones(at.size))

    return Shown(view, Histograms.of(view.starts, view.held), where)


def _shuffled(release: Release) -> Shown:
    tables, names = read_tables(release), release.promise.quasi
    starts, order, held = _grouped(release, tables.qit[release.promise.group], tables.st)
    quasi = {name: _taken(tables.qit[name], order) for name in names}
    view = View(starts, quasi, held.codes.astype(np.int32), held.values, release.promise.sensitive_column)
    lists = Lists.of(starts, [*quasi.values()])
    return Shown(view, Histograms.of(starts, view.held), lambda people: lists.where(people, names))


def _boxed(release: Release) -> Shown:
    tables, promise = read_tables(release), release.promise
    starts, order, held = _grouped(release, tables.qit[promise.group], tables.st)
    boxes = Boxes.read(release, tables.qit.take(pa.array(order[starts[:-1]])))
    drawn = boxes.draw(np.diff(starts), np.random.default_rng(secret_of(release)))
    quasi = {name: code(column) for name, column in zip(promise.quasi, drawn, strict=True)}
    view = View(starts, quasi, held.codes.astype(np.int32), held.values, promise.sensitive_column)
    return Shown(
        view, Histograms.of(starts, view.held), lambda people: boxes.where(people, np.diff(starts)), drawn=True
    )


def _grouped(release: Release, group: pa.ChunkedArray, st: pa.Table) -> tuple[Ints, Ints, Coded]:
    """Where the rows of each group start, the rows in the order of groups, and the value at each place."""
    of = np.asarray(group.cast(pa.int64()), np.int64)
    order = np.argsort(of, kind="stable")
    numbers, starts = np.unique(of[order], return_index=True)
    values = code(st["value"])
    counts = np.asarray(st["n"].cast(pa.int64()), np.int64)
    place = np.searchsorted(numbers, np.asarray(st["grp"].cast(pa.int64()), np.int64))
    by_group = np.lexsort((values.codes, place))
    held = np.repeat(values.codes[by_group], counts[by_group])
    if held.size != of.size:
        raise _other_people(release)
    return np.append(starts, of.size), order, Coded(held, values.values)


def _taken(column: pa.ChunkedArray, order: Ints) -> Coded:
    found = code(column)
    return Coded(found.codes[order], found.values)


def _other_people(release: Release) -> ReleaseError:
    return ReleaseError(
        f"a release by `{release.promise.publication}` whose groups have other rows than values",
        hint="check it with `discreet verify`",
    )


def why_not(release: Release) -> str | None:
    """Why nothing is known of who may be where; None if it is."""
    if release.promise.publication not in WAYS:
        return f"of a release by `{release.promise.publication}` it is not known how to tell who may be in which group"
    if release.promise.sensitive is None:
        return "the release has no sensitive column"
    return None


WAYS: dict[str, Callable[[Release], Shown]] = {
    "anatomy": _rows,
    "permutation": _rows,
    "full_permutation": _shuffled,
    "generalization": _boxed,
}
