"""Draft a policy for a table: which role each column may have, in comments that a steward confirms.

Nothing is assigned: as long as a suggestion is a comment, the policy does not load, and says which line to look at. How
the file is written is no suggestion, and stands there as it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.table.faults import likely_separator
from discreet.table.looks import AMONG_NUMBERS, Look, looks, marks
from discreet.table.profile import ColumnProfile, column_profiles
from discreet.table.read import read, read_first
from discreet.table.roles import Role
from discreet.table.table import Table
from discreet.table.text_file import likely_encoding, separator_of
from discreet.values.toml import as_toml
from discreet.values.written import CSV_KEYS, Csv
from discreet.visible import in_a_line

PASSES = 2  # a column may look like something only once the decimal sign or the marks of another are known
LONG, FIRST = 4 << 20, 20_000  # bytes of a file that is long, and the lines of it that are looked at first
USUAL = 10  # the l that is suggested where the column allows twice as much


@dataclass(frozen=True, slots=True)
class Drafted:
    """The text of a policy that is to be looked at, and the role that is suggested for each column."""

    text: str
    roles: Mapping[str, Role]


def drafted(path: str | Path, *, sheet: str | None = None) -> Drafted:
    """A draft of a policy for the table in a file, or in a `sheet` of a workbook."""
    file, excel = Path(path), {} if sheet is None else {"sheet": sheet}
    whole = partial(read, file, excel=excel)
    found = _found(file)
    settled = _settled(whole, found, _of_first_lines(file, found))
    table, csv, seen = settled.table, settled.csv, settled.seen
    with table:
        about = column_profiles(table)
        roles = _roles(about)
        sensitive = next((name for name, role in roles.items() if role == "sensitive"), None)
        largest = 0 if sensitive is None else table.rows // int(table.codes(sensitive).counts().max())
        lines = _lines(table, about, roles, largest)
        told = _of_file(csv, excel, seen, _perhaps(table, about) if file.suffix.lower() in {".csv", ".gz"} else [])
        return Drafted("\n".join((*lines, *told)) + "\n", roles)


@dataclass(frozen=True, slots=True)
class Settled:
    """A table that is read as its file turned out to be written, and the columns that are no longer text by that."""

    table: Table
    csv: dict[str, Any]
    seen: list[Look]  # what columns of text look like still
    turned: set[str]


def _settled(reading: Callable[..., Table], csv: Mapping[str, Any], likely: Settled | None = None) -> Settled:
    """Read until nothing more shows how the file is written; first as is `likely`, if that is right for all rows."""
    known, looked = dict(csv), set[str]()
    table = reading(csv=known if likely is None else likely.csv)
    if likely is not None and all(table[name].kind != "string" for name in likely.turned):
        known = likely.csv
    elif likely is not None:
        table.close()
        table = reading(csv=known)
    for more in range(PASSES, -1, -1):
        try:
            table.hold(table.names())
            seen = [look for look in looks(table) if look.keys]
        except BaseException:
            table.close()
            raise
        looked |= {look.column for look in seen}
        new = {**known, **_read_as(seen, known)}
        if new == known or not more:
            break
        table.close()
        known = new
        table = reading(csv=known)
    return Settled(table, known, seen, {name for name in looked if table[name].kind != "string"})


def _of_first_lines(file: Path, csv: Mapping[str, Any]) -> Settled | None:
    """How a long file is written, by its first lines: to look at all of them in each way that is tried takes long."""
    if not file.is_file() or not _is_csv(file) or file.stat().st_size < LONG:
        return None
    try:
        found = _settled(partial(read_first, file, FIRST), csv)
    except InputError:  # a text of several lines was cut, or the file is at fault, which is said of the whole
        return None
    found.table.close()
    return found


def _perhaps(table: Table, columns: Sequence[ColumnProfile]) -> list[str]:
    """Texts that may stand for no value."""
    texts = [column.name for column in columns if column.kind == "string"]
    found = {mark for name in texts for mark in marks(table, name)}
    return sorted(mark for mark in found if mark.lower() not in AMONG_NUMBERS)


def _is_csv(path: Path) -> bool:
    endings = [ending.lower() for ending in path.suffixes]
    return endings[-1:] == [".csv"] or endings[-2:] == [".csv", ".gz"]


def _found(path: Path) -> dict[str, Any]:
    """The keys of `[csv]` without which a file cannot be read."""
    if not path.is_file() or not _is_csv(path):
        return {}
    found: dict[str, Any] = {}
    try:
        encoding = likely_encoding(path)
        csv = Csv(encoding=encoding)
        sign = likely_separator(path, csv)
        if encoding != "utf-8":
            found["encoding"] = encoding
        if sign is not None and sign != separator_of(path, csv):
            found["separator"] = sign
    except (OSError, EOFError):
        return {}  # whoever reads it says why
    return found


def _roles(columns: Sequence[ColumnProfile]) -> dict[str, Role]:
    """A role for each column; of several that may be sensitive, the first."""
    roles: dict[str, Role] = {}
    for column in columns:
        role = column.suggested
        roles[column.name] = "drop" if role == "sensitive" and role in roles.values() else role
    return roles


def _lines(
    table: Table,
    columns: Sequence[ColumnProfile],
    roles: Mapping[str, Role],
    largest: int,
) -> Iterator[str]:
    def named(role: Role) -> list[str]:
        return [column.name for column in columns if roles[column.name] == role]

    yield "# A draft of a policy, made by `discreet init`. Suggestions are comments: look at each, change what is"
    yield "# wrong, and remove the `#` before it. Every column must have one role, or `publish` refuses the table."
    yield ""
    yield f"name = {as_toml(table.name)}"
    yield ""
    yield "# Columns that name people: names, numbers, addresses. Never published."
    yield f"# identifiers = {as_toml(named('identifiers'))}"
    yield ""
    several = (column for column in columns if column.name in named("identifiers") and column.unique < table.rows)
    person = next((column.name for column in several), "NAME")
    yield "# Is every row another person? If somebody may have several rows (cases, visits, years), add the line"
    yield f"#   person = {as_toml(person)}"
    yield "# with the column that tells people apart, and leave it out of `identifiers`. The promise is about people."
    yield ""
    yield "# Columns that an outsider may know of a person. Published AS THEY ARE (or as boxes, by `generalization`):"
    yield "# whatever must not be known does not belong here."
    yield f"# quasi = {as_toml(named('quasi'))}"
    yield ""
    yield "# The one column that must not be tied to a person."
    yield f"# sensitive = {as_toml(next(iter(named('sensitive')), 'NAME'))}"
    yield ""
    yield "# Columns to leave out: those that are constant, free text (it may name people), or sensitive as well."
    yield f"# drop = {as_toml(named('drop'))}"
    yield ""
    yield "# What must hold in every group: here, that no sensitive value is held by more than 1 in l people."
    yield "# `discreet inspect FILE --sensitive NAME` shows the largest l that a column allows."
    yield f"# guarantee = {{ l = {min(USUAL, max(2, largest // 2)) if largest else 5} }}"
    yield ""
    yield "# What portals want to know: title, contact and more. `croissant.json` is written if these two are stated."
    yield '# about = { licence = "CC-BY-4.0", date = 2026-11-30 }'


def _read_as(seen: Sequence[Look], csv: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that read columns as what they look like, but for those that may be either."""
    sure = [_shared(look) for look in seen]
    keys = {key: value for each in sure for key, value in each.items() if key != "missing"}
    marks = {*csv.get("missing", ()), *(mark for each in sure for mark in each.get("missing", ()))}
    return {**keys, **({"missing": sorted(marks)} if marks else {})}


def _shared(look: Look) -> dict[str, Any]:
    """The keys without which a column cannot be read, whatever it is."""
    first, *others = look.keys
    return {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}


def _of_file(
    csv: Mapping[str, Any], excel: Mapping[str, Any], seen: Sequence[Look], perhaps: Sequence[str]
) -> Iterator[str]:
    """How the file is written: what was found, and in comments what a column may be, where that is not sure."""
    doubts = [look for look in seen if len(look.keys) > 1]  # one of the keys at most may lose its `#`
    if csv or doubts or perhaps:
        yield "\n# How the file is written.\n[csv]"
        yield from (f"{key} = {as_toml(csv[key])}" for key in CSV_KEYS if key in csv)
    for look in doubts:
        yield f"# {in_a_line(look.column)} looks like {look.like}, but that may be either; remove the `#` of one:"
        shared = _shared(look)
        alternatives = [{key: value for key, value in each.items() if key not in shared} for each in look.keys]
        yield from (f"# {key} = {as_toml(value)}" for each in alternatives for key, value in each.items())
    named = csv.get("missing", [])
    if new := [mark for mark in perhaps if mark and mark not in named]:
        yield "# Columns of text hold these. If they mean that a value is missing, " + (
            f"add them to `missing` above: {', '.join(map(as_toml, new))}"
            if named
            else f"remove the `#`:\n# missing = {as_toml(new)}"
        )
    if len(new) < len(perhaps) and "missing_quoted" not in csv:
        quoted = ", ".join(as_toml(mark) for mark in perhaps if mark not in new)
        yield f"# Columns of text hold these in quotes: {quoted}. If they mean that a value is missing, remove the `#`:"
        yield "# missing_quoted = true"
    if excel:
        yield "\n# Which part of the file is read.\n[excel]"
        yield from (f"{key} = {as_toml(value)}" for key, value in excel.items())
