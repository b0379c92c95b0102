"""Tables of one's own beside that of the release: what they say of a row becomes an expression over its columns.

`JOIN regions r ON m.zip = r.zip` says of every row which row of `regions` belongs to it, by what the row itself has: a
`zip`. So `r.urban` is an expression over `zip`, as `zip // 1000` is, and stands on the side of the release that `zip`
stands on; everything else follows. An inner join is a condition more: that there is such a row.
That is so only if a key has one row. If it has several, a join counts people several times, and is refused.
Claim: joins_equal_brute_force — answers are those of the table with the columns of the other beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.answer.question.grammar import conjuncts
from discreet.answer.question.own import Own
from discreet.engines.dialect import LookedUp
from discreet.errors import QueryError
from discreet.words import nearest

GIVE = 'give it by name: tables={{"{0}": frame}}, or --table {0}=FILE'
INNER = {"", "INNER"}


@dataclass
class _Scope:
    """What names mean: columns of the release, and of the tables joined so far, by their aliases."""

    release: str
    known: Mapping[str, str]  # columns of the release by their names in small letters
    own: dict[str, _Joined] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)  # columns that USING made one of

    def meant(self, column: exp.Column) -> exp.Expr | None:
        """What a column of a joined table is as an expression over the release; None for any other."""
        name, table = column.name.lower(), column.table.lower()
        if table and table != self.release:
            if table not in self.own or column.args.get("db"):
                return None  # whoever reads it next says that there is no such column
            return self.own[table].column(column.name)
        holding = [each for each in self.own.values() if name in each.own.columns]
        if table or not holding or name in self.merged:
            return None
        if name in self.known or len(holding) > 1:
            where = [*([self.release] if name in self.known else []), *(each.alias for each in holding)]
            several = " or ".join(f"`{each}.{column.name}`" for each in where)
            raise QueryError(f"`{column.name}` is a column of several tables", hint=f"write {several}")
        return holding[0].column(column.name)

    def placed(self, expression: exp.Expr) -> exp.Expr:
        """An expression over the release alone."""

        def place(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            found, name = self.meant(node), node.name.lower()
            if found is None and not node.table and name in self.known:
                return exp.column(self.known[name], table=self.release, quoted=True)
            return node if found is None else found

        return expression.transform(place)


@dataclass(frozen=True)
class _Joined:
    """A table that is joined: its keys are those of the release that stand beside them."""

    own: Own
    alias: str
    keys: tuple[tuple[int, exp.Expr], ...]

    def column(self, name: str) -> LookedUp:
        return self.looked_up(self.own.place(name))

    def looked_up(self, at: int | None) -> LookedUp:
        """A column of the row that has these keys, or whether there is one."""
        name = "there" if at is None else self.own.table.column_names[at]
        return LookedUp(
            this=exp.to_identifier(name),
            table=self.alias,
            relation=self.own.relation,
            column=self.own.called(at),
            keys=[self.own.called(key) for key, _ in self.keys],
            kinds=[self.own.kind(key) for key, _ in self.keys],
            expressions=[each.copy() for _, each in self.keys],
        )


def joined(
    select: exp.Select, names: frozenset[str], columns: Iterable[str], own: Mapping[str, Own]
) -> tuple[exp.Select, tuple[Own, ...]]:
    """The same question about the release alone, and the tables that it looks into."""
    joins = select.args.get("joins") or []
    if not joins:
        return select, ()
    table, joins = _release_first(select, joins, names)
    scope = _Scope(table.alias_or_name.lower(), {name.lower(): name for name in columns})
    where = select.args.get("where")
    conditions = conjuncts(where.this) if where is not None else []
    used = []
    for join in joins:
        found, conditions = _join(join, scope, conditions, _given(join, own, names))
        used.append(found.own)
    plain = select.copy()
    plain.set("joins", None)
    plain.set("from_", exp.From(this=table.copy()))
    plain.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)
    _place(plain, scope)
    return plain, tuple(dict.fromkeys(used))


def _release_first(select: exp.Select, joins: list[exp.Join], names: frozenset[str]) -> tuple[exp.Expr, list[exp.Join]]:
    """The release's table, and the others as joins; where another stands first, the two change places."""
    first = select.args["from_"].this
    if _is_named(first, names):
        return first, joins
    for at, join in enumerate(joins):
        if _is_named(join.this, names):
            if (join.side or join.kind or "").upper() not in INNER:
                raise QueryError(
                    "the table of the release stands on the outer side of a join", hint="begin with FROM microdata"
                )
            swapped = join.copy()
            swapped.set("this", first.copy())
            return join.this, [swapped, *joins[:at], *joins[at + 1 :]]
    return first, joins


def _is_named(table: exp.Expr, names: frozenset[str]) -> bool:
    return isinstance(table, exp.Table) and table.name.lower() in names


def _given(join: exp.Join, own: Mapping[str, Own], names: frozenset[str]) -> Own:
    table = join.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise QueryError("a subquery cannot be joined", hint="join a table of your own, given by name")
    if table.name.lower() in names:
        raise QueryError(
            "the table of a release cannot be joined with itself: which rows stand together is not released",
            hint='ask with estimator "learned", or for each side by itself',
        )
    if table.name.lower() not in own:
        hint = (
            GIVE.format(table.name)
            if not own
            else f"{nearest(table.name, [each.name for each in own.values()])}; or {GIVE.format(table.name)}"
        )
        raise QueryError(f"there is no table `{table.name}`", hint=hint)
    if any(value for part, value in table.args.items() if part not in {"this", "alias"}) or (
        table.args.get("alias") and table.args["alias"].columns
    ):
        raise QueryError(
            f"`{table.sql(dialect='duckdb')}` is more than the name of a table",
            hint="join a table by its name, with an alias if need be",
        )
    return own[table.name.lower()]


def _join(join: exp.Join, scope: _Scope, conditions: list[exp.Expr], own: Own) -> tuple[_Joined, list[exp.Expr]]:
    """A table that is joined, and the conditions of the question from then on."""
    left = (join.side or "").upper() == "LEFT" and (join.kind or "").upper() in {"", "OUTER"}
    inner = not join.side and (join.kind or "").upper() in {*INNER, "CROSS"} and not join.method
    if not (left or inner):
        words = " ".join(filter(None, [join.method, join.side, join.kind]))
        raise QueryError(f"{words} JOIN is not supported", hint="use JOIN or LEFT JOIN, with ON or USING")
    alias = join.this.alias_or_name.lower()
    if alias in {scope.release, *scope.own}:
        raise QueryError(f"two tables are called `{alias}`", hint="give one of them an alias")
    on = join.args.get("on")
    using = [each.name for each in join.args.get("using") or ()]
    parts = conjuncts(on) if on is not None else []
    if not parts and not using:  # FROM a, b WHERE a.x = b.x
        parts, conditions = conditions, []
    keys, rest = _keys(parts, scope, own, alias)
    keys += [(own.place(name), _merged(name, scope)) for name in using]
    if not keys:
        raise QueryError(
            f"nothing says which row of `{own.name}` belongs to a person",
            hint=f"join it on a column: JOIN {own.name} ON microdata.x = {own.name}.x",
        )
    if left and rest:
        raise QueryError(
            f"`{rest[0].sql(dialect='duckdb')}` in a LEFT JOIN compares no column of `{own.name}` with the release",
            hint="choose the rows of your own table before you give it, and write what concerns people in WHERE",
        )
    own.check_unique([at for at, _ in keys])
    found = _Joined(own, join.this.alias_or_name, tuple(keys))
    scope.own[alias] = found
    there = [] if left else [exp.Is(this=found.looked_up(None), expression=exp.true())]
    return found, [*conditions, *rest, *there]


def _keys(
    parts: list[exp.Expr], scope: _Scope, own: Own, alias: str
) -> tuple[list[tuple[int, exp.Expr]], list[exp.Expr]]:
    """Which columns of a table are compared with which expressions over what stands before it, and all other parts."""
    keys, rest = [], []
    for part in parts:
        sides = [part.left.unnest(), part.right.unnest()] if isinstance(part, exp.EQ) else []
        for column, other in (sides, sides[::-1]) if sides else ():
            ours = isinstance(column, exp.Column) and _is_of(column, scope, own, alias)
            if ours and not any(_is_of(each, scope, own, alias) for each in other.find_all(exp.Column)):
                keys.append((own.place(column.name), scope.placed(other)))
                break
        else:
            rest.append(part)
    return keys, rest


def _is_of(column: exp.Column, scope: _Scope, own: Own, alias: str) -> bool:
    """Whether a column is one of the table that is being joined."""
    if column.table:
        return column.table.lower() == alias
    others = [each for each in scope.own.values() if column.name.lower() in each.own.columns]
    return column.name.lower() in own.columns and column.name.lower() not in scope.known and not others


def _merged(name: str, scope: _Scope) -> exp.Expr:
    """The column that USING means of what stands before."""
    found = scope.placed(exp.column(name, quoted=True))
    scope.merged.add(name.lower())
    return found


def _place(select: exp.Select, scope: _Scope) -> None:
    """Put expressions over the release in the place of columns of other tables; a plain one keeps its name."""
    aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}
    order = select.args.get("order")
    for column in list(select.find_all(exp.Column)):
        if isinstance(column.this, exp.Star):
            continue
        by = column.find_ancestor(exp.Order)
        if by is not None and by is order and not column.table and column.name.lower() in aliases:
            continue
        found = scope.meant(column)
        if found is not None:
            column.replace(exp.alias_(found, column.name, quoted=True) if column.parent is select else found)
