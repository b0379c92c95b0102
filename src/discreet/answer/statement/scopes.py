"""What names mean in a SELECT: columns of the table, columns of rows that an inner SELECT computed, aliases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.answer.question.grammar import check_scalar
from discreet.answer.question.question import ENDS
from discreet.answer.question.refusals import refusal, shown
from discreet.answer.statement.clauses import check_grouping, meant
from discreet.answer.statement.trees import aggregates, name_of, outside_subqueries, rebuilt, windowed
from discreet.errors import QueryError
from discreet.release.manifest import Promise
from discreet.words import nearest


@dataclass(frozen=True)
class Table:
    """The table that a SELECT is about; its columns get the names that they have in the release."""

    promise: Promise
    select: exp.Select

    @property
    def source(self) -> exp.From:
        found = self.select.args.get("from_")
        return found if found is not None else exp.From()

    @property
    def joins(self) -> tuple[exp.Expr, ...]:
        return tuple(self.select.args.get("joins") or ())

    def read(self, condition: exp.Expr) -> exp.Expr:
        return self.resolved(condition)

    def resolved(self, node: exp.Expr) -> exp.Expr:
        """An expression whose columns of the table are written in one way."""
        if self.joins:
            return node.copy()
        known = {name.lower(): name for name in self.promise.columns}
        table = self.source.this
        own = {table.alias_or_name.lower()} if table is not None else set()

        def named(inner: exp.Expr) -> exp.Expr:
            if isinstance(inner, exp.Subquery | exp.Select) and inner is not node:
                return inner
            plain = isinstance(inner, exp.Column) and (not inner.table or inner.table.lower() in own)
            if plain and inner.name.lower() in known:
                return exp.column(known[inner.name.lower()], quoted=True)
            return inner

        return outside_subqueries(node.copy(), named)

    def keys(
        self, select: exp.Select, items: list[tuple[str, exp.Expr]], aliases: Mapping[str, exp.Expr]
    ) -> tuple[exp.Expr, ...]:
        group = select.args.get("group")
        if group is None:
            return ()
        check_grouping(group)
        known = {*self.promise.columns}
        if group.args.get("all"):
            found = [node for _, node in items if not aggregates(node) and node.find(exp.Column) is not None]
        else:
            found = []
            for each in group.expressions:
                node = self.resolved(each)
                is_column = isinstance(node, exp.Column) and node.name in known
                found.append(
                    node
                    if is_column
                    else meant(
                        node,
                        items,
                        lambda named: (
                            aliases.get(named.name.lower(), named)
                            if isinstance(named, exp.Column) and not named.table
                            else named
                        ),
                    )
                )
        for node in found:
            if aggregates(node):
                raise QueryError(
                    "GROUP BY names an aggregate", hint="group by quasi-identifiers or the sensitive column"
                )
            check_scalar(node)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Columns:
    """The columns of rows that a SELECT computed, by name; each measure has its ends beside it."""

    names: tuple[str, ...]
    alias: str = ""

    def read(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return self.column(node)
        if isinstance(node, exp.Window):
            return windowed(node, self.read)
        if isinstance(node, exp.Subquery | exp.Select):
            raise QueryError(
                "a subquery here is not supported", hint="write it in the inner SELECT, beside the aggregates"
            )
        return rebuilt(node, self.read)

    def column(self, node: exp.Column) -> exp.Expr:
        lower = [name.lower() for name in self.names]
        wanted = node.name.lower()
        if node.table and node.table.lower() != self.alias.lower():
            raise QueryError(f"there is no column `{shown(node)}`", hint=f"write `{node.name}` alone")
        if wanted in lower:
            return exp.column(f"item_{lower.index(wanted)}", quoted=True)
        for at, name in enumerate(lower):
            for end in ENDS.values():
                if end and wanted == f"{name}{end}":
                    return exp.column(f"item_{at}{end}", quoted=True)
        raise QueryError(f"there is no column `{node.name}`", hint=nearest(node.name, self.names))

    def items(self, item: exp.Expr) -> list[tuple[str, exp.Expr]]:
        if isinstance(item, exp.Star) and not any(item.args.values()):
            return [(name, exp.column(f"item_{at}", quoted=True)) for at, name in enumerate(self.names)]
        if item.is_star and not isinstance(item.unalias(), exp.Count):
            raise refusal(exp.Star())
        return [(item.alias or name_of(item.unalias()), self.read(item.unalias()))]


@dataclass(frozen=True)
class Aliased:
    """Columns, or else aliases of the SELECT."""

    columns: Columns
    aliases: Mapping[str, exp.Expr]

    def read(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            lower = {name.lower() for name in self.columns.names}
            if node.name.lower() not in lower and node.name.lower() in self.aliases and not node.table:
                return exp.Paren(this=self.aliases[node.name.lower()].copy())
            return self.columns.column(node)
        if isinstance(node, exp.Window):
            return windowed(node, self.read)
        if isinstance(node, exp.Subquery | exp.Select):
            return self.columns.read(node)
        return rebuilt(node, self.read)
