"""Find every mistake in a policy, key by key, and every column that does not fit it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.guarantees import PROMISES
from discreet.guarantees.harmless import is_value, unlike
from discreet.partition import GONE
from discreet.policy.about import about_mistakes
from discreet.policy.meant import KEYS, WORDS, Meant
from discreet.policy.method import SHOWN_BY_A_VAULT, is_number, method_mistakes, outside_a_vault, shown
from discreet.policy.options import ignored_mistakes, option_mistakes
from discreet.publication import PUBLICATIONS
from discreet.values.written import CSV_KEYS, EXCEL_KEYS, csv_faults, excel_faults
from discreet.warnings.kinds import accept_mistakes
from discreet.words import nearest

MEASURABLE = {"integer", "float", "decimal", "date", "timestamp"}


def mistakes(values: Mapping[str, Any]) -> list[Mistake]:
    """Every mistake in the keys and values of a policy."""
    meant = Meant.of(values)
    return [
        *_keys(values, meant),
        *_texts(values),
        *_words(values, meant),
        *_roles(values),
        *_guarantee(values),
        *_tables(values),
        *_harmless(values),
        *_files(values),
        *about_mistakes(values.get("about", {})),
        *accept_mistakes(values.get("accept", {})),
        *method_mistakes(meant),
        *option_mistakes(meant),
    ]


def _keys(values: Mapping[str, Any], meant: Meant) -> Iterator[Mistake]:
    for key in values:
        if key not in KEYS:
            yield Mistake(key, f"is not a key of a policy; {nearest(key, KEYS)}")
    if "quasi" not in values:
        yield Mistake("quasi", "is missing")
    publication = PUBLICATIONS.get(meant.publication or "")
    if "sensitive" not in values and (publication is None or publication.needs_sensitive):
        yield Mistake("sensitive", "is missing: only the publication `full_permutation` can do without")
    if "guarantee" not in values:
        yield Mistake("guarantee", "is missing")


def _texts(values: Mapping[str, Any]) -> Iterator[Mistake]:
    for key in ("identifiers", "quasi", "drop", "ordered"):
        value = values.get(key, ())
        if key == "drop" and value == "rest":
            continue
        if isinstance(value, str) or not _is_texts(value):
            also = ' or "rest"' if key == "drop" else ""
            yield Mistake(key, f"expected a list of column names{also}, got {shown(value)}")
    if not values.get("quasi", ("",)):
        yield Mistake("quasi", "expected at least one column, got none")
    together = values.get("together", ())
    if not isinstance(together, list | tuple) or not all(map(_is_texts, together)):
        yield Mistake("together", f'expected lists of column names, like [["age", "sex"]], got {shown(together)}')
    for key in ("sensitive", "person", "name", "join"):
        if key in values and not (isinstance(values[key], str) and values[key]):
            yield Mistake(key, f"expected a text, got {shown(values[key])}")


def _words(values: Mapping[str, Any], meant: Meant) -> Iterator[Mistake]:
    for key, words in WORDS.items():
        value = values.get(key, words[0])
        if key == "partition" and not meant.grouped:
            if value not in ("auto", "none"):
                yield Mistake(key, f"`{meant.publication}` forms no groups; leave `partition` out")
        elif value not in words:
            gone = f"`{value}` is gone; use `{GONE[value]}`" if key == "partition" and str(value) in GONE else None
            yield Mistake(key, gone or f"got {shown(value)}; {nearest(str(value), words)}")


def _roles(values: Mapping[str, Any]) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for key in ("identifiers", "person", "quasi", "sensitive", "drop"):
        value = values.get(key, ())
        columns = [value] if key in {"person", "sensitive"} else value
        for column in columns if isinstance(columns, list | tuple) else ():
            if not isinstance(column, str) or not column:
                continue
            if column in seen:
                twice = "twice" if seen[column] == key else f"in `{seen[column]}` too; a column has one role"
                yield Mistake(key, f"the column `{column}` stands {twice}")
            seen.setdefault(column, key)


def _guarantee(values: Mapping[str, Any]) -> Iterator[Mistake]:
    guarantee = values.get("guarantee", {})
    if not isinstance(guarantee, Mapping) or ("guarantee" in values and not guarantee):
        yield Mistake("guarantee", f"expected a table like {{ l = 4 }}, got {shown(guarantee)}")
        return
    for name, threshold in guarantee.items():
        if not isinstance(name, str) or name not in PROMISES:
            yield Mistake(f"guarantee.{name}", f"is not a guarantee; {nearest(str(name), PROMISES)}")
        elif not is_number(threshold, whole=PROMISES[name].integral):
            expected = "a whole number" if PROMISES[name].integral else "a number"
            yield Mistake(f"guarantee.{name}", f"expected {expected}, got {shown(threshold)}")
        elif PROMISES[name].stronger == "smaller" and threshold <= PROMISES[name].weakest:
            weakest, what = PROMISES[name].weakest, "the smaller, the stronger, but no groups keep less"
            yield Mistake(f"guarantee.{name}", f"expected more than {weakest}, got {threshold}: {what}")
        elif threshold < PROMISES[name].weakest:
            weakest = PROMISES[name].weakest
            yield Mistake(
                f"guarantee.{name}", f"expected {weakest} or more, got {threshold}: a smaller number promises nothing"
            )


def _tables(values: Mapping[str, Any]) -> Iterator[Mistake]:
    for key in ("hierarchies", "options"):
        if not isinstance(values.get(key, {}), Mapping):
            yield Mistake(key, f"expected a table, got {shown(values[key])}")


def _harmless(values: Mapping[str, Any]) -> Iterator[Mistake]:
    given = values.get("harmless", ())
    if not isinstance(given, list | tuple):
        yield Mistake("harmless", f'expected a list of values, like [0] or ["none"], got {shown(given)}')
        return
    for at, value in enumerate(given):
        if not is_value(value):
            yield Mistake("harmless", f"expected values of the sensitive column, got {shown(value)}")
        elif any(value == other and type(value) is type(other) for other in given[:at]):
            yield Mistake("harmless", f"{shown(value)} stands twice")


def _files(values: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is wrong with how a file is said to be written."""
    for table, keys, faults in (("csv", CSV_KEYS, csv_faults), ("excel", EXCEL_KEYS, excel_faults)):
        given = values.get(table, {})
        if not isinstance(given, Mapping):
            yield Mistake(table, f"expected a table, got {shown(given)}")
            continue
        for key in given:
            if key not in keys:
                elsewhere = f"it is one of the policy: write the line above `[{table}]`"
                advice = elsewhere if key in KEYS else nearest(str(key), keys)
                yield Mistake(f"{table}.{key}", f"is not a key of `{table}`; {advice}")
        yield from (Mistake(f"{table}.{key}", wrong) for key, wrong in faults(given))


def unfit(
    columns: Iterable[Any], *, vault: bool = False, look: Callable[[str], Any] = lambda _: None
) -> Callable[[Meant], list[Mistake]]:
    """What does not fit the columns of a table that is to be published, or taken into a vault.

    `look` says what the texts of a column look like, if that is something else (see `Table.look`).
    """
    held = {column.name: column for column in columns}

    def check(meant: Meant) -> list[Mistake]:
        ignored = not vault and meant.publication in {SHOWN_BY_A_VAULT, None}  # elsewhere they are no options at all
        alone = [*ignored_mistakes(meant.options or {}), *outside_a_vault(meant)] if ignored else []
        return [*alone, *_columns(meant, held, look)]

    return check


def _columns(meant: Meant, columns: Mapping[str, Any], look: Callable[[str], Any]) -> Iterator[Mistake]:
    """Every column that a policy names and the table lacks, or the table has and the policy leaves out."""
    named: list[tuple[str, str]] = [
        *(("identifiers", name) for name in meant.identifiers or ()),
        *(("person", name) for name in (meant.person,) if name),
        *(("quasi", name) for name in meant.quasi or ()),
        *(("sensitive", name) for name in (meant.sensitive,) if name is not None),
        *(("drop", name) for name in meant.drop or ()),
    ]
    for role, name in named:
        if name not in columns:
            yield Mistake(role, f"the table has no column `{name}`; {nearest(name, columns)}")
    if None not in (meant.drop, meant.identifiers, meant.quasi):
        listed = {name for _, name in named}
        for name in columns:
            if name not in listed:
                what = "has no role; give it one, list it in `drop`"
                yield Mistake("drop", f'the column `{name}` {what}, or set drop = "rest"')
    yield from _measured(meant, columns.get(meant.sensitive or ""), look)
    if (sensitive := columns.get(meant.sensitive or "")) is not None:
        wrong = unlike(tuple(filter(is_value, meant.harmless or ())), sensitive.type)
        yield from (Mistake("harmless", each) for each in wrong)
    yield from _publishable((role, columns[name]) for role, name in named if name in columns)


def _publishable(columns: Iterable[tuple[str, Any]]) -> Iterator[Mistake]:
    """Columns whose values cannot be published, or not as they came."""
    for role, column in columns:
        if role not in {"person", "quasi", "sensitive"}:
            continue
        if column.refused is not None:
            yield Mistake(role, f"the column `{column.name}` {column.refused}")
        elif column.kind is None:
            what = "by which people cannot be told apart" if role == "person" else "which cannot be published"
            yield Mistake(role, f"the column `{column.name}` has the type {column.type}, {what}; drop it")


def _measured(meant: Meant, sensitive: Any, look: Callable[[str], Any]) -> Iterator[Mistake]:
    """What needs numbers or dates, where the sensitive column has others."""
    if sensitive is None or sensitive.kind is None or sensitive.kind in MEASURABLE:
        return
    seems = look(sensitive.name)
    held = f"`{meant.sensitive}` holds {sensitive.type}"
    instead = "" if seems is None else f"; its values look like {seems.like}: {seems.advice}"
    if meant.publication is not None and PUBLICATIONS[meant.publication].numeric:
        needs = f"`{meant.publication}` needs numbers or dates, but {held}"
        yield Mistake("publication", needs + (instead or "; use `anatomy`"))
    for name in meant.guarantee or {}:
        if name in PROMISES and "scale" in PROMISES[name].needs:
            needs = f"a range needs numbers or dates, but {held}"
            yield Mistake(f"guarantee.{name}", needs + (instead or "; use `l` or `distinct_l`"))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value)
