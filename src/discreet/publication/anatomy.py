"""Anatomy: exact quasi-identifiers with their group in one table, sensitive counts per group in another.

Source: Xiao and Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006, definition 3.
Rows are written ordered by group and then by what they show, never in an order tied to the
assignment. Cost: one sort of the table in the engine, which spills when memory is short.
Claim: anatomy_order_tells_nothing — no order in the files helps to link a row to its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from discreet.publication.draft import Draft
from discreet.publication.publication import Publication
from discreet.release.layouts.file import link
from discreet.release.manifest import TableSpec
from discreet.release.rows import ascending, number, store_rows
from discreet.release.write import FileToWrite


def _files(draft: Draft) -> Sequence[FileToWrite]:
    """The quasi-identifier table (QIT) and the sensitive table (ST)."""
    group, count, sensitive = draft.group, draft.count, draft.policy.sensitive_column
    shown = (*map(draft.field, draft.policy.quasi), *map(number, draft.persons), number(group))
    qit = TableSpec(fields=shown, foreign_keys=(link(group, "st"),))
    st = TableSpec(fields=(number(group), draft.field(sensitive), number(count)))
    return (
        FileToWrite("qit", qit, lambda path: _store_qit(draft, path)),
        FileToWrite("st", st, lambda path: _store_st(draft, path)),
    )


def _store_qit(draft: Draft, path: Path) -> None:
    quasi, persons = draft.policy.quasi, draft.persons
    shown = [exp.column(name, quoted=True) for name in (*quasi, *persons, draft.group)]
    with draft.rows([*quasi], also=persons) as rows:
        ordered = rows.order_by(*map(ascending, (draft.group, *quasi, *persons)))
        draft.table.engine.store(ordered.select(*shown, append=False) if persons else ordered, path)
    draft.table.check_unchanged()


def _store_st(draft: Draft, path: Path) -> None:
    store_rows(draft.counts(), path)


PUBLICATION = Publication(
    _files, people=True, compared=("anatomize", "deal", "mixed", "local"), ranges=("min_sum", "tightest")
)
