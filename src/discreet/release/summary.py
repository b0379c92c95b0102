"""What a release is, in a few lines, from its manifest alone: for whoever was given a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from discreet.release.layouts import layout_of
from discreet.release.manifest import Manifest
from discreet.visible import in_a_line
from discreet.words import counted

MEASURABLE = {"integer", "number"}


class ColumnOf(NamedTuple):
    """A column of the table that was published: what it holds, and how it is shown."""

    name: str
    type: str
    role: str


def sentences(manifest: Manifest) -> Iterator[str]:
    """What was published, and what is promised of it."""
    promise = manifest.discreet
    groups = f" in {counted(promise.groups, 'group')}" if layout_of(promise).promises else ""
    about = re.sub(r"\d{4,}", lambda figure: f"{int(figure[0]):,}", promise.about)
    yield f"{in_a_line(promise.table)}: {about}{groups}, published by `{promise.publication}`"
    yield f"  guarantee: {promise.told()}"
    if promise.largest_share is not None:
        yield f"  {promise.told_share()}"
    if not promise.for_publication:
        yield "  made with a seed: NOT FOR PUBLICATION"


def naming(names: Iterable[str]) -> str:
    """How to write those names in a question that are not plain; "" if all are."""
    odd = [in_a_line(in_sql(name)) for name in names if in_sql(name) != name]
    return f"In a question, names with spaces or other signs stand in double quotes: {', '.join(odd)}" if odd else ""


def columns(manifest: Manifest) -> list[ColumnOf]:
    """The columns of the table, in the order of the policy."""
    promise = manifest.discreet
    kinds = {name: kind for resource in manifest.resources for name, kind in resource.kinds().items()}
    boxed = {box.name: box for box in promise.boxes or ()}
    found = []
    for name in promise.quasi:
        box = boxed.get(name)
        how = "quasi-identifier" + ("" if box is None else f", shown as a box: {', '.join(box.columns)}")
        found.append(ColumnOf(name, kinds[name] if box is None else box.type, how))
    if promise.sensitive is not None:
        found.append(ColumnOf(promise.sensitive, kinds[promise.sensitive], "sensitive"))
    return found


def example(manifest: Manifest) -> str:
    """A question that the release answers."""
    promise = manifest.discreet
    table = in_sql(promise.table)
    if promise.sensitive is None:
        return f"SELECT COUNT(*) FROM {table} WHERE {in_sql(promise.quasi[0])} IS NOT NULL"  # noqa: S608
    sensitive = in_sql(promise.sensitive)
    if next(column.type for column in columns(manifest) if column.role == "sensitive") in MEASURABLE:
        return f"SELECT AVG({sensitive}) FROM {table} WHERE {in_sql(promise.quasi[0])} IS NOT NULL"  # noqa: S608
    return f"SELECT {sensitive}, COUNT(*) FROM {table} GROUP BY {sensitive}"  # noqa: S608


def in_sql(name: str) -> str:
    """A name as SQL takes it: in quotes, unless it is plain and no word of SQL."""
    try:
        plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and isinstance(parse_one(name), exp.Column)
    except ParseError:
        plain = False
    return name if plain else exp.to_identifier(name, quoted=True).sql()
