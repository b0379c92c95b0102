"""Read a hierarchy as a tree: tables in tables, whose innermost are lists of values.

A value that is not as deep as the others repeats itself upwards to the level below its parent's.
Cost: linear in the values times the levels.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.levels import ROOT, numbered
from discreet.hierarchies.taxonomy import Taxonomy, arrows, quoted

DEEPEST = 100

Path: TypeAlias = tuple[str, ...]  # from the root down


def read(text: str, source: str, form: str) -> Taxonomy:
    """The hierarchy in the text of a TOML or JSON file."""
    if not text.strip():
        raise InputError(f"{source} is empty", hint=_FORM)
    try:
        tree = tomllib.loads(text) if form == "TOML" else json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise _too_deep(source) from None
    except ValueError as error:
        raise InputError(f"{source} is not {form}: {error}") from None
    return grow(tree, source, lambda name: _lines(text, name))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, below in pairs:
        if name in table:
            raise ValueError(f"{quoted(name)} stands twice in one table")
        table[name] = below
    return table


def _lines(text: str, name: str) -> str:
    """Where a name stands in a file."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    found = [str(i) for i, line in enumerate(text.splitlines(), start=1) if word.search(line)]
    return f" (line {' and '.join(found[:2])})" if found else ""


def grow(tree: object, source: str, lines: Callable[[str], str] = lambda _: "") -> Taxonomy:
    """The hierarchy of a tree of names."""
    if not isinstance(tree, Mapping):
        raise InputError(f"{source}: expected a table of labels, got {named(tree)}", hint=_FORM)
    top = (ROOT,) if len(tree) != 1 or _empty(next(iter(tree.values()))) else ()
    leaves: dict[str, Path] = {}
    labels: dict[str, Path] = {}
    for name, path, inner in _walk(tree, top, source, lines):
        known = labels if inner else leaves
        if known.setdefault(name, path) != path:
            raise InputError(
                f"{source}: the {'label' if inner else 'value'} {quoted(name)} has two parents: "
                f"{arrows(known[name])} and {arrows(path)}{lines(name)}",
                hint="let it stand in one place only, or give the two different names",
            )
    if not leaves:
        raise InputError(f"{source}: the tree has no values", hint=_FORM)
    height = max(map(len, leaves.values()))
    levels = [
        numbered(_above(value, path, height - up) for value, path in leaves.items()) for up in range(1, height + 1)
    ]
    nodes = np.array([numbers for numbers, _ in levels], np.int32)
    names = [[path[-1] for path in paths] for _, paths in levels]
    return Taxonomy(source, list(leaves), nodes, names, [arrows(path) for path in leaves.values()])


def _above(value: str, path: Path, depth: int) -> Path:
    """What stands above a value at some depth: a label, or the value again, each with its path to tell them apart."""
    return path[: depth + 1] if depth < len(path) else (*path, value)


def _walk(
    tree: Mapping[Any, Any], top: Path, source: str, lines: Callable[[str], str]
) -> Iterator[tuple[str, Path, bool]]:
    """Every name of the tree with the path to it, which begins at `top`, and whether it is a label."""
    waiting: list[tuple[Any, Path, Any]] = [(name, top, below) for name, below in reversed(list(tree.items()))]
    while waiting:
        name, path, below = waiting.pop()
        if len(path) >= DEEPEST:
            raise _too_deep(source)
        if not isinstance(name, str) or not _sound(name) or not name.strip():
            raise InputError(f"{source}: the label {quoted(ascii(name))}{_under(path)} is no text", hint=_FORM)
        inner = not _empty(below)
        if name in path[len(top) :]:
            raise _above_itself(name, path, source, lines)
        yield name, path, inner
        if isinstance(below, Mapping):
            waiting += [(inner_name, (*path, name), further) for inner_name, further in reversed(list(below.items()))]
            continue
        if not isinstance(below, list | tuple) or not below:
            wrong = "an empty list" if isinstance(below, list | tuple) else named(below)
            raise InputError(
                f"{source}: below {quoted(name)}{_under(path)} stands {wrong}; expected {_BELOW}", hint=_FORM
            )
        values = [_text(value, f"{source}: in the list of {quoted(name)}{_under(path)}") for value in below]
        for value in values:
            if value in (*path, name)[len(top) :] and (value != name or set(values) != {name}):
                raise _above_itself(value, (*path, name), source, lines)
            yield value, (*path, name), False


def _text(value: object, where: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, int | float | Decimal):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where} stands {named(value)}; expected values only", hint=_FORM)
    if not _sound(value):
        raise InputError(f"{where} stands {quoted(ascii(value))}, which is no text")
    return value


def _sound(name: str) -> bool:
    """Whether a text can be written; JSON can spell halves of characters."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def _empty(below: object) -> bool:
    return isinstance(below, Mapping) and not below


def _above_itself(name: str, path: Path, source: str, lines: Callable[[str], str]) -> InputError:
    return InputError(
        f"{source}: {quoted(name)} stands below itself: {arrows((*path, name))}{lines(name)}",
        hint="a label cannot be a part of itself: give the two different names",
    )


def _too_deep(source: str) -> InputError:
    return InputError(f"{source} is nested too deeply; expected at most {DEEPEST} levels")


def named(thing: object) -> str:
    """What kind of thing stands where it should not."""
    names = {
        type(None): "nothing",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a text",
        dict: "a table",
    }
    return names.get(type(thing)) or f"a {type(thing).__name__}"


def _under(path: Path) -> str:
    return f" under {arrows(path)}" if path else ""


_BELOW = "a table of labels, or a list of values"
_FORM = 'a tree looks like `{"any": {"respiratory": ["flu", "bronchitis"], "other": ["fracture"]}}`'
