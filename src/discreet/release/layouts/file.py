"""A data file of a release as its publication wants it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from discreet.release.manifest import ForeignKey, Reference
from discreet.visible import in_a_line


@dataclass(frozen=True, slots=True)
class File:
    """Its columns, those of them that we added (all whole numbers), and the columns that point to other files."""

    columns: tuple[str, ...]
    added: tuple[str, ...]
    links: tuple[ForeignKey, ...] = ()


def link(column: str, file: str) -> ForeignKey:
    """A column that points to the column of the same name in another file."""
    return ForeignKey(fields=(column,), reference=Reference(resource=file, fields=(column,)))


def column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(name, table=table, quoted=True)


def named(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def quoted(name: str) -> str:
    """A name as it stands in SQL that people paste; one that steers a terminal, or ends a line, is spelled out."""
    return '"' + in_a_line(name).replace('"', '""') + '"'
