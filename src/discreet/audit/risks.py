"""The risks of a release from its files alone, or of a table, by ARX's names: see `discreet.risk`.

What looks the same to an attacker is a class. Where quasi-identifiers are shown as they are, a class is all rows with
the same ones; where boxes are shown, the rows of a box; where columns are shuffled by themselves, a group. What the
sensitive values tell is told by groups. Where people may have several rows, records are people.
Cost: a sort of the rows; with a table of the population one of that, or (boxes) the boxes near each of its people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.enclosed import Shown, enclosing, read_shown
from discreet.audit.files import numbers, read_tables
from discreet.audit.metrics.truth import read_truth
from discreet.engines import Address
from discreet.errors import InputError
from discreet.release import Release, open_release
from discreet.release.harmless import harmless_values
from discreet.release.layouts import layout_of
from discreet.release.manifest import NAME, Promise
from discreet.risk.held import Held, told
from discreet.risk.risks import Risks, measure, of_rows, ranked
from discreet.values.coded import code, combined
from discreet.values.codes import encode
from discreet.values.columns import is_ordered

Ints = npt.NDArray[np.int64]
NOTES = {
    "counted": (
        "Quasi-identifiers are shown as they are: a person's row is found as surely as in the private table. What is"
        " protected is which sensitive value of the group belongs to it."
    ),
    "swapped": "Quasi-identifiers are shown as they are, and some values are people's own: nothing is promised.",
    "boxes": "A class is a box. Where boxes overlap, a person may be in several, and the risk is lower than this.",
    "margins": "No row is shown whole: a class is a group, and this is the risk if a person's group is known.",
}
JOINED = "Boxes hold people of the public table, too: a class is all people of a box, and groups are those of values."


class Beside(NamedTuple):
    """What is known of a population: its people; how many are like each class; how many are like nobody else."""

    people: int
    beside: Ints | None = None
    uniques: int | None = None


def risks(
    source: Release | str | Path | Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | None = None,
    population: int | str | Path | Any = None,
) -> Risks:
    """The risks of a release (or the folder of one), or of a table: a file or a frame.

    Of a table is to be said which columns are `quasi` and which is `sensitive`, if one is. The `population` that it is
    a sample of is a number of people, or a table of them with the same quasi-identifiers.
    """
    names = (quasi,) if isinstance(quasi, str) else tuple(quasi)
    if isinstance(source, Release) or _is_release(source):
        if names or sensitive is not None:
            raise InputError("a release says itself which columns it shows", hint="leave `quasi` and `sensitive` out")
        return of_release(source if isinstance(source, Release) else open_release(source), population)
    if isinstance(source, str | Path) and not Path(source).exists():
        raise InputError(f"there is no `{source}`", hint="name the folder of a release, or the file of a table")
    if not names:
        raise InputError("which columns an outsider may know is not said", hint='name them: quasi=["age", "sex"]')
    table = read_truth(source, (*names, *([] if sensitive is None else [sensitive])), "table")
    if not len(table):
        raise InputError("the table has no rows", hint="name a table with people in it")
    columns = [table[name] for name in names]
    classes, _ = combined([code(column).codes for column in columns])
    beside = _beside_rows(columns, classes, names, population)
    values = None if sensitive is None else encode(table[sensitive])
    return of_rows(
        names,
        classes,
        None if values is None else values.codes,
        ordered=values is not None and is_ordered(values.domain.type),
        **({} if beside is None else beside._asdict()),
    )


def of_release(release: Release, population: int | str | Path | Any = None) -> Risks:
    """The risks of a release."""
    promise = release.promise
    layout = layout_of(promise)
    tables = read_tables(release)
    groups = _Groups.of(tables.st, promise)
    note = NOTES[layout.matching] if promise.join is None else JOINED
    if layout.matching == "boxes":
        shown = read_shown(release)
        sizes, of_box = _boxes(shown)
        beside = _beside_boxes(shown, of_box, promise.quasi, population)
    elif layout.matching == "margins":
        _, sizes = np.unique(numbers(tables.qit[promise.group]), return_counts=True)
        beside = _only_size(population, "columns are shuffled by themselves")
    else:
        columns = [tables.qit[name] for name in promise.quasi]
        classes, _ = combined([code(column).codes for column in columns])
        whose = classes if promise.person is None else _people(classes, tables.qit[promise.person])
        sizes = np.bincount(whose)
        beside = _beside_rows(columns, classes, promise.quasi, population)
    held = None if promise.sensitive is None else groups.told()
    worst = ranked(groups.numbers, groups.sizes, None if held is None else held.shares) if layout.promises else ()
    known = {} if beside is None else beside._asdict()
    return measure("release", promise.quasi, np.asarray(sizes, np.int64), held, worst, (note,), **known)


@dataclass(frozen=True)
class _Groups:
    """The groups of a release: their numbers and sizes, what they hold, whether values have an order or are spared."""

    numbers: Ints
    sizes: Ints
    held: Held
    ordered: bool
    spared: npt.NDArray[np.bool_] | None

    @classmethod
    def of(cls, st: pa.Table, promise: Promise) -> _Groups:
        named, groups = np.unique(numbers(st["grp"]), return_inverse=True)
        values, counts = encode(st["value"]), numbers(st["n"])
        order = np.lexsort((values.codes, groups))
        held = Held(groups[order], values.codes[order], counts[order])
        spared = None
        if promise.harmless:
            spared = np.zeros(values.size, np.bool_)
            harmless = harmless_values(promise.harmless, values.domain.type)
            spared[: len(values.domain)] = np.asarray(pc.is_in(values.domain, value_set=harmless))
        sizes = np.bincount(groups, counts).astype(np.int64)
        return cls(named, sizes, held, is_ordered(values.domain.type), spared)

    def told(self) -> Any:
        return told(self.held, ordered=self.ordered, spared=self.spared)


def _boxes(shown: Shown) -> tuple[Ints, Ints]:
    """The rows of every different box, and which of these each line is."""
    sides = [shown.boxes[name] for side in shown.sides for name in side.columns]
    of_box, _ = combined([code(side).codes for side in sides])
    return np.bincount(of_box, shown.rows).astype(np.int64), of_box.astype(np.int64)


def _people(classes: npt.NDArray[Any], person: pa.ChunkedArray) -> npt.NDArray[Any]:
    """The class of every person, once for each of their rows that looks different."""
    _, first = combined([classes, code(person).codes])
    return classes[first]


def _beside_rows(
    columns: Sequence[pa.ChunkedArray], classes: npt.NDArray[Any], names: Sequence[str], population: Any
) -> Beside | None:
    """How many people of a population are like the rows of each class."""
    if population is None or isinstance(population, int):
        return _only_size(population)
    known = read_truth(population, names, "population")
    codes = []
    for column, other in zip(columns, known.columns, strict=True):
        both = pa.chunked_array([*column.chunks, *_same(other, column.type).chunks], column.type)
        codes.append(code(both).codes)
    looks, _ = combined(codes)
    many = np.bincount(looks[len(classes) :], minlength=int(looks.max(initial=-1)) + 1)
    beside = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
    beside[classes] = many[looks[: len(classes)]]
    return Beside(len(known), beside, int(np.count_nonzero(many == 1)))


def _beside_boxes(shown: Shown, of_box: Ints, names: Sequence[str], population: Any) -> Beside | None:
    """How many people of a population each box could hold."""
    if population is None or isinstance(population, int):
        return _only_size(population)
    known = read_truth(population, names, "population")
    looks, first = combined([code(column).codes for column in known.columns])
    many = np.bincount(looks)
    pairs = enclosing(shown, known.take(pa.array(first)))
    held = of_box[pairs.boxes] * np.int64(first.size) + pairs.people
    box, look = np.divmod(np.unique(held), max(first.size, 1))  # lines of one box are in several groups
    beside = np.bincount(box, many[look], int(of_box.max(initial=-1)) + 1).astype(np.int64)
    return Beside(len(known), beside, int(np.count_nonzero(many == 1)))


def _only_size(population: Any, why: str | None = None) -> Beside | None:
    if population is None:
        return None
    if isinstance(population, bool):
        raise InputError(f"`{population}` is not a population", hint="give a number of people, or a table of them")
    if not isinstance(population, int):
        raise InputError(
            f"people of a population cannot be found in this release: {why}", hint="give its number of people instead"
        )
    if population < 1:
        raise InputError(f"a population has people: expected at least 1, got {population}", hint="say how many")
    return Beside(population)


def _same(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"the population holds {column.type} where the records have {kind}", hint="give both the same type"
        ) from None


def _is_release(source: Any) -> bool:
    """Whether it is the folder of a release, or the URL of one in a database."""
    if not isinstance(source, str | Path):
        return False
    return Address.of(source, None) is not None or Path(source).is_dir() or Path(source, NAME).exists()
