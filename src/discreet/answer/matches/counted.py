"""Rows that are shown as they are, with their group: those that match are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from discreet.answer.matches.matches import Guard
from discreet.answer.plan import aggregates
from discreet.answer.plan.context import Context
from discreet.answer.plan.sql import Relations, grouped, join, select
from discreet.answer.question.grammar import Side
from discreet.answer.question.question import Question


@dataclass(frozen=True)
class Counted:
    """Matches of a release whose quasi-identifiers are published as they are."""

    columns: ClassVar[tuple[str, ...]] = ("matched",)
    key: ClassVar[str] = "counted"
    exact: ClassVar[bool] = True
    opaque: ClassVar[bool] = True
    blocks: ClassVar[None] = None
    cut: ClassVar[None] = None
    answer = staticmethod(aggregates.write)

    def check(self, question: Question) -> Question:
        return question

    def tables(self) -> Mapping[str, exp.Expr]:
        return {}

    def guards(self, context: Context) -> tuple[Guard, ...]:  # noqa: ARG002
        return ()

    def relations(self, context: Context) -> Relations:
        """`hits`: rows of each group that match; `holders`: rows of each signature that hold a value that does."""
        sides = {subject.side for subject in context.subjects.values()}
        found: Relations = {}
        if _counts_hits(context):
            found["hits"] = grouped(context.rows("quasi", context.group_column("grp"), "COUNT(*) AS matched"))
        if "quasi" in sides:
            found["holders"] = grouped(context.rows("sensitive", "signature", "CAST(SUM(n) AS BIGINT) AS matched"))
        return found

    def frame(self, context: Context) -> exp.Select:
        hits = _counts_hits(context)  # which have the keys of groups already
        if not context.keys("sensitive") and context.question.where["sensitive"] is None:
            keys = select(*context.keys("quasi"), source="hits") if hits else context.rows("quasi")
            return keys.distinct(copy=False)
        if hits:
            return frame_of_groups(context, select(*context.keys("quasi"), "grp", source="hits"))
        return frame_of_groups(context, context.rows("quasi", context.group_column("grp")).distinct(copy=False))

    def draws(self, context: Context) -> Relations:
        return {name: _draws(context, side) for name, side in context.drawn.items()}


def _draws(context: Context, side: Side) -> exp.Select:
    if side != "sensitive":
        columns = ("grp AS population", "size", "matched", "1 AS copies")
        groups = select(*context.keys("sensitive"), *columns, source="holders")
        return join(groups, "signatures", "holders.signature = signatures.signature")
    if not _hit(context):
        columns = ("signature AS population", "size", "size AS matched", "COUNT(*) AS copies")
        return grouped(select(*columns, source="signatures"))
    columns = ("signature AS population", "size", "matched", "COUNT(*) AS copies")
    groups = select(*context.keys("quasi"), *columns, source="hits")
    return grouped(join(groups, "signatures", "hits.grp = signatures.grp"))


def frame_of_groups(context: Context, groups: exp.Select) -> exp.Select:
    """The keys of groups, beside those of the values that such a group holds."""
    values = context.rows("sensitive", "signature").distinct(copy=False).subquery("vals", copy=False)
    frame = select(*context.keys(), source=groups.subquery("matching", copy=False)).distinct(copy=False)
    frame = join(frame, "signatures", "matching.grp = signatures.grp")
    return join(frame, values, "vals.signature = signatures.signature")


def _counts_hits(context: Context) -> bool:
    """Whether matching rows of each group are counted."""
    return _hit(context) and any(subject.side == "sensitive" for subject in context.subjects.values())


def _hit(context: Context) -> bool:
    """Whether the question asks which rows match."""
    return context.question.where["quasi"] is not None or bool(context.keys("quasi"))
