"""Read a hierarchy as ARX writes them: one line per value, then its label at every level, the root last.

A level table cannot hold a gap or a cycle by its form alone, so each is looked for: every line must have
as many fields as the first, each label one parent, and no label may stand above itself for other values.
Cost: one pass over the lines, and one over the distinct paths.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.levels import numbered
from discreet.hierarchies.taxonomy import Taxonomy, arrows, quoted
from discreet.values.separators import separator

Path = tuple[str, ...]


def read(text: str, source: str) -> Taxonomy:
    """The hierarchy in a text of separated fields."""
    lines: dict[str, int] = {}
    paths: dict[str, Path] = {}
    for line, (value, *labels) in _fields(text, source):
        path = tuple(labels)
        if paths.setdefault(value, path) != path:
            raise InputError(
                f"{source}, line {line}: the value {quoted(value)} has the path {arrows(path)}, "
                f"but on line {lines[value]} the path {arrows(paths[value])}",
                hint="a value can have only one parent: leave one of the two lines",
            )
        lines.setdefault(value, line)
    first: dict[Path, int] = {}
    for value, path in paths.items():
        first.setdefault(path, lines[value])
    _check_root(first, source)
    _check_parents(first, source)
    _check_above(first, source)
    _check_cycles(first, paths, lines, source)
    levels = [numbered(level) for level in zip(*paths.values(), strict=True)]
    nodes = np.array([numbers for numbers, _ in levels], np.int32)
    return Taxonomy(source, list(paths), nodes, [names for _, names in levels], [f"line {n}" for n in lines.values()])


def _fields(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of every line that has any."""
    sign = separator(text.lstrip("\r\n").splitlines())
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    width = top = 0
    while True:
        before = lines.line_num + 1
        try:
            row = next(lines, None)
        except csv.Error as error:
            raise InputError(
                f"{source}, line {before}: {error}", hint="look for a quote that is not closed, or not doubled"
            ) from None
        if row is None:
            break
        if not row:
            continue
        where, width, top = f"{source}, line {before}", width or len(row), top or before
        if len(row) != width:
            raise InputError(
                f"{where}: expected {width} fields, as on line {top}, got {len(row)}; its value is {quoted(row[0])}",
                hint="every value needs a label at every level; repeat a label where a level is of no use",
            )
        if width == 1:
            raise InputError(
                f"{where}: the value {quoted(row[0])} has no path to the root",
                hint="a line is a value, its label at every level and the root: `flu;respiratory;*`",
            )
        if empty := next((i for i, field in enumerate(row) if not field.strip()), -1) + 1:
            value = f" of the value {quoted(row[0])}" if empty > 1 else ""
            raise InputError(f"{where}: field {empty}{value} is empty", hint="give every level a label")
        yield before, row
    if not width:
        raise InputError(f"{source} is empty", hint="a hierarchy has a line for every value")


def _check_root(first: dict[Path, int], source: str) -> None:
    (path, line), *others = first.items()
    for other, at in others:
        if other[-1] != path[-1]:
            raise InputError(
                f"{source}, line {at}: the last field is {quoted(other[-1])}, but {quoted(path[-1])} on line {line}; "
                "expected one root for all values",
                hint="end every line with the same label, usually `*`; a hierarchy file has no header",
            )


def _check_parents(first: dict[Path, int], source: str) -> None:
    known: dict[tuple[int, str], tuple[str, int]] = {}
    for path, line in first.items():
        for level, (label, parent) in enumerate(pairwise(path), start=1):
            other, at = known.setdefault((level, label), (parent, line))
            if other != parent:
                raise InputError(
                    f"{source}, line {line}: the label {quoted(label)} of level {level} has two parents: "
                    f"{quoted(parent)} here, {quoted(other)} on line {at}",
                    hint="a label can have only one parent: give the two labels different names",
                )


def _check_above(first: dict[Path, int], source: str) -> None:
    """A label may go on at the next level, but only alone; the root may take in values early."""
    children: dict[tuple[int, str], dict[str, int]] = {}
    for path, line in first.items():
        for level, (label, parent) in enumerate(pairwise(path), start=2):
            if label != path[-1]:
                children.setdefault((level, parent), {}).setdefault(label, line)
    for (level, label), below in children.items():
        if label in below and len(below) > 1:
            other = next(name for name in below if name != label)
            raise InputError(
                f"{source}, line {max(below[label], below[other])}: the label {quoted(label)} of level {level} "
                f"stands above itself and above {quoted(other)}",
                hint=_ABOVE,
            )


def _check_cycles(first: dict[Path, int], paths: dict[str, Path], lines: dict[str, int], source: str) -> None:
    """No name may stand above itself, whether on one line or over several."""
    parents: dict[str, dict[str, int]] = {}
    for path, line in first.items():
        for label, parent in pairwise(path):
            parents.setdefault(label, {}).setdefault(parent, line)
    for value, path in paths.items():
        if value in parents:  # a label somewhere
            parents[value].setdefault(path[0], lines[value])
    try:
        TopologicalSorter(
            {label: [name for name in above if name != label] for label, above in parents.items()}
        ).prepare()
    except CycleError as error:
        ring: list[str] = error.args[1][::-1]
        line = max(parents[below][above] for below, above in pairwise(ring))
        raise InputError(
            f"{source}, line {line}: {quoted(ring[0])} stands above itself: {arrows(ring)}", hint=_ABOVE
        ) from None


_ABOVE = "a label cannot be a part of itself: give the two labels different names"
