"""A row is taken for a person: refuse a table whose identifiers say that somebody has several.

Groups count rows. Where a person has several, a group may hold one person alone, and whatever is promised of
people is not so. The identifiers of a policy tell people apart together, as they do in a vault; a row that has none of
them could be anybody's, and is refused too. Only rows that are published count.
Cost: one pass over the identifiers in the engine, and one number per row.
Claim: repeated_people_are_refused — no table is published whose identifiers, taken together, stand in two rows.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.engines.dialect import fingerprint
from discreet.errors import InputError
from discreet.policy import Policy
from discreet.publication.axes import present
from discreet.table import Table
from discreet.values.toml import as_toml
from discreet.words import counted

REALLY = (
    "if every row is nevertheless another person (many share a surname), list {it} in `drop`, and it stays unpublished"
)
TWICE = "remove rows that are in the table twice by mistake; "
PERSON = "if it tells people apart, write two lines: person = {} and identifiers = []: then groups count people{}; or "


def check_identified(table: Table, policy: Policy) -> None:
    """Raise if an identifier is missing or repeats; without identifiers there is nothing to look at."""
    if not policy.identifiers:
        return
    columns = [exp.column(name, quoted=True) for name in policy.identifiers]
    nobody = exp.CountIf(this=exp.and_(*(column.is_(exp.null()) for column in columns)))
    # Numbers that stand for identifiers are counted faster; equal ones, which may be so by accident, are counted again.
    different = exp.Count(this=exp.Distinct(expressions=[fingerprint(*columns)]))
    rows, missing, people = _figures(table, _published(table, policy, exp.Count(this=exp.Star()), nobody, different))
    if people < rows:
        each = table.select(policy.identifiers, present=present(policy)).distinct().subquery("people")
        (people,) = _figures(table, exp.select(exp.Count(this=exp.Star())).from_(each))
    check_figures(
        policy, rows, missing, people, then=lambda: _then(table, policy), twice=lambda: rows - _different(table, policy)
    )


def check_figures(
    policy: Policy,
    rows: int,
    missing: int,
    people: int,
    *,
    then: Callable[[], str] = lambda: "",
    twice: Callable[[], int] = lambda: 0,
) -> None:
    """The same of so many rows, of which some have no identifier, and the others are of so many people.

    `then` is what else to do if an identifier becomes the person, `twice` how many rows repeat others.
    """
    what = " and ".join(f"`{name}`" for name in policy.identifiers)
    several = len(policy.identifiers) > 1
    really = REALLY.format(it="them" if several else "it")
    if missing:
        raise InputError(
            f"{counted(missing, 'row has', 'rows have')} no {what}: it cannot be known whether they belong to"
            " people who have other rows",
            hint=f"fill it in, or leave those rows out; {really}",
        )
    if people < rows:
        again = twice()
        copies = f" ({counted(again, 'row repeats', 'rows repeat')} another in every column)" if again else ""
        person = "" if several else PERSON.format(as_toml(policy.identifiers[0]), then())
        raise InputError(
            f"{what} {'repeat, taken together' if several else 'repeats'}: {rows:,} rows are of"
            f" {counted(people, 'person', 'people')}{copies}. Groups would count rows and not people, and what is"
            " promised of people would not be true",
            hint=f"{TWICE if again else ''}{person}publish one row per person; {really}",
        )


def _then(table: Table, policy: Policy) -> str:
    """What else to do if the identifier becomes the person: quasi-identifiers must not differ between their rows."""
    rows = table.select([*policy.identifiers, *policy.quasi], present=present(policy)).subquery("rows")
    each = exp.select().from_(rows).group_by(exp.column(policy.identifiers[0], quoted=True))
    for i, name in enumerate(policy.quasi):
        each = each.select(exp.alias_(_values(exp.column(name, quoted=True)), f"values_{i}"))
    differ = (exp.CountIf(this=exp.column(f"values_{i}") > 1) for i in range(len(policy.quasi)))
    people = _figures(table, exp.select(*differ).from_(each.subquery("people")))
    names = [f"`{name}`" for name, several in zip(policy.quasi, people, strict=True) if several]
    if not names:
        return ""
    they, it = ("differ", "them") if len(names) > 1 else ("differs", "it")
    what = f"{', '.join(names)} {they} between the rows of a person"
    return f" ({what}: make {it} the same in all of these, or list {it} in `drop`)"


def _values(column: exp.Column) -> exp.Expr:
    """How many values a column has in the rows of a person; that it is missing is one."""
    missing = exp.Max(this=exp.cast(column.copy().is_(exp.null()), exp.DType.INT))
    return exp.Add(this=exp.Count(this=exp.Distinct(expressions=[column])), expression=missing)


def _different(table: Table, policy: Policy) -> int:
    """How many rows are left if each is counted once."""
    each = table.select(table.names(), present=present(policy)).distinct().subquery("rows")
    (found,) = _figures(table, exp.select(exp.Count(this=exp.Star())).from_(each))
    return found


def _published(table: Table, policy: Policy, *figures: exp.Expr) -> exp.Select:
    rows = table.select(policy.identifiers, present=present(policy))
    return exp.select(*figures).from_(rows.subquery("rows"))


def _figures(table: Table, query: exp.Select) -> list[int]:
    """The one row of a query, as whole numbers."""
    return [int(column[0].as_py() or 0) for column in table.engine.run(query).columns]
