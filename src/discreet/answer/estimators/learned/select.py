"""Any SELECT: read, kept to the table and to what was given, and looked at for what tells its rows apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.answer.estimators.learned.tables import as_given
from discreet.answer.question.grammar import check_lists
from discreet.answer.question.parse import check_length, names_of
from discreet.errors import QueryError
from discreet.release.manifest import Promise
from discreet.words import nearest

ROWS = {"RANGE", "GENERATE_SERIES", "UNNEST"}  # functions in FROM that read nothing


@dataclass(frozen=True)
class AnySelect:
    """A query, the names by which it means the table, and which columns it is grouped by, if that can be seen."""

    query: exp.Query
    names: frozenset[str]
    keys: frozenset[int] | None

    @property
    def sql(self) -> str:
        return self.query.sql(dialect="duckdb", pretty=True)

    @property
    def sources(self) -> set[str]:
        """The names of what it is about."""
        return {table.name.lower() for table in _sources(self.query)}

    @property
    def ordered(self) -> bool:
        return self.query.args.get("order") is not None

    def asked_of(self, relation: str) -> exp.Expr:
        """The same about one relation in the place of the table."""
        placed = self.query.copy()
        for table in [*_sources(placed)]:
            name = table.name
            if _is_named(table):
                meant = relation if name.lower() in self.names else as_given(name)
                table.set("this", exp.to_identifier(meant, quoted=True))
                if not table.args.get("alias"):
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        return placed


def read_select(sql: str, promise: Promise, given: Collection[str]) -> AnySelect:
    """Read one query; raise for anything that is none, or that is about other tables."""
    check_length(sql)
    try:
        statements = [each for each in sqlglot.parse(sql, dialect="duckdb") if each is not None]
    except (SqlglotError, RecursionError):
        raise QueryError("the question is not SQL that can be read", hint="ask with one SELECT") from None
    query = statements[0] if len(statements) == 1 else None
    if not isinstance(query, exp.Query):
        raise QueryError("expected one SELECT", hint="ask one question at a time, and change nothing")
    check_lists(query)
    names = names_of(promise)
    _check_sources(query, names, given)
    return AnySelect(query, names, _keys(query))


def _check_sources(query: exp.Query, names: frozenset[str], given: Collection[str]) -> None:
    known = {*names, *(name.lower() for name in given)}
    for table in _sources(query):
        if isinstance(table.this, exp.Func):
            name = table.this.name if isinstance(table.this, exp.Anonymous) else table.this.sql_name()
            if name.upper() not in ROWS:
                raise QueryError(f"`{name.upper()}` cannot stand in FROM", hint="a question reads no files")
        elif not _is_named(table) or table.name.lower() not in known:
            hint = nearest(table.name, sorted(known)) + "; give your own tables by name with `tables`, or --table"
            raise QueryError(f"there is no table `{table.name}`", hint=hint)
    if any(isinstance(node, exp.Into | exp.Command | exp.Parameter | exp.Placeholder) for node in query.walk()):
        raise QueryError("a question only reads", hint="ask with one SELECT")


def _is_named(table: exp.Table) -> bool:
    """Whether it is a plain name, and not a file, nor in a database of another name."""
    plain = isinstance(table.this, exp.Identifier)
    return plain and not any(table.args.get(part) for part in ("db", "catalog", "version", "when"))


def _sources(query: exp.Query) -> Iterator[exp.Table]:
    """What stands in FROM and is no name of a WITH that can be seen from there: later ones of the same WITH cannot."""
    for table in query.find_all(exp.Table):
        if not _is_named(table) or table.name.lower() not in _defined(table):
            yield table


def _defined(table: exp.Table) -> set[str]:
    """The names of WITH that can be seen from where a table stands."""
    found: list[exp.Expr] = []
    inside: exp.Expr = table
    while (around := inside.parent) is not None:
        defining = around.args.get("with_")
        if isinstance(around, exp.With):
            found += around.expressions[: around.expressions.index(inside) + bool(around.args.get("recursive"))]
        elif defining is not None and defining is not inside:
            found += defining.expressions
        inside = around
    return {each.alias.lower() for each in found}


def _keys(query: exp.Query) -> frozenset[int] | None:
    """Which columns of the result it is grouped by; None where that cannot be seen."""
    group = query.args.get("group") if isinstance(query, exp.Select) else None
    items = query.expressions
    if group is None or any(item.is_star for item in items):
        return None
    plain = [item.unalias() for item in items]
    if group.args.get("all"):
        return frozenset(at for at, item in enumerate(plain) if item.find(exp.AggFunc) is None)
    found: set[int] = set()
    for named in group.expressions:
        if isinstance(named, exp.Literal) and not named.is_string and named.this.isdigit():
            found.add(int(named.this) - 1)
        found |= {at for at, item in enumerate(plain) if item == named}
        if isinstance(named, exp.Column):
            found |= {at for at, item in enumerate(items) if item.alias.lower() == named.name.lower()}
            found |= {at for at, item in enumerate(plain) if isinstance(item, exp.Column) and item.name == named.name}
    return frozenset(found)
