"""Read a hierarchy as a policy gives it: the path of a file, or a table with one of four forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.hierarchies import rows, tree
from discreet.hierarchies.dates import PARTS, Dates
from discreet.hierarchies.intervals import EXACT, Intervals
from discreet.hierarchies.levels import Hierarchy
from discreet.hierarchies.masks import Masks
from discreet.hierarchies.taxonomy import quoted
from discreet.words import nearest

LARGEST = 400  # the digits of the largest width that makes sense


def load(spec: object, column: str, folder: Path | None = None) -> Hierarchy:
    """The hierarchy of `column` as a policy gives it; the paths of files begin at `folder`."""
    if isinstance(spec, str | Path):
        return _file(Path(folder or ".") / spec, column)
    source = f"the hierarchy of `{column}`"
    if not isinstance(spec, Mapping):
        raise InputError(
            f"{source}: expected the path of a file or a table, got {tree.named(spec)}",
            hint="give a path, or one of the forms, such as `{ intervals = [5, 10, 20] }`",
        )
    return _inline(spec, source)


def _file(path: Path, column: str) -> Hierarchy:
    source = f"the hierarchy of `{column}`, `{path}`"
    form = path.suffix.lower()
    if form not in (".csv", ".toml", ".json"):
        raise InputError(f"{source}: expected a file whose name ends in `.csv`, `.toml` or `.json`")
    text = _text(path, source)
    return rows.read(text, source) if form == ".csv" else tree.read(text, source, form[1:].upper())


def _text(path: Path, source: str) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{source}: there is no such file", hint="check the path and the spelling") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source}: the file cannot be read: {type(error).__name__}") from None
    zero = content.find(0)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        zero = error.start if zero < 0 else zero
    if zero >= 0:
        line = content.count(b"\n", 0, zero) + 1
        raise InputError(f"{source}, line {line}: the file is in another encoding than UTF-8", hint="save it as UTF-8")
    return text


def _inline(spec: Mapping[Any, Any], source: str) -> Hierarchy:
    keys = (*_FORMS, "origin")
    for key in spec:
        if key not in keys:
            raise InputError(f"{source}: there is no key {quoted(str(key))}", hint=nearest(str(key), keys))
    given = [key for key in _FORMS if key in spec]
    if len(given) != 1:
        has = " and ".join(f"`{key}`" for key in given) or "none"
        raise InputError(
            f"{source}: expected one form, got {has}", hint="give one of: " + ", ".join(f"`{key}`" for key in _FORMS)
        )
    if "origin" in spec and given != ["intervals"]:
        raise InputError(f"{source}: `origin` goes with `intervals` only", hint="leave it out")
    if given == ["intervals"]:
        return _intervals(spec["intervals"], spec.get("origin", 0), source)
    return _FORMS[given[0]](spec[given[0]], source)


def _intervals(given: object, origin: object, source: str) -> Hierarchy:
    widths = tuple(_number(width, f"{source}: `intervals`") for width in _list(given, "intervals", source))
    for i, width in enumerate(widths):
        if width <= 0:
            raise InputError(f"{source}: the width `{width:f}` of `intervals` is not above 0")
        if i and (width <= widths[i - 1] or (Fraction(width) / Fraction(widths[i - 1])).denominator != 1):
            raise InputError(
                f"{source}: the width `{width:f}` of `intervals` is not a multiple of the one before, "
                f"`{widths[i - 1]:f}`",
                hint="each interval must consist of whole narrower ones, as in `[5, 10, 20]`",
            )
    return Intervals(source, widths, _number(origin, f"{source}: `origin`"))


def _dates(given: object, source: str) -> Hierarchy:
    parts = _list(given, "dates", source)
    for i, part in enumerate(parts):
        if not isinstance(part, str) or part not in PARTS:
            raise InputError(f"{source}: `dates` has no part {quoted(str(part))}", hint=nearest(str(part), PARTS))
        if i and part not in PARTS[parts[i - 1]].within:
            within = ", ".join(f"`{name}`" for name in PARTS[parts[i - 1]].within) or "nothing"
            raise InputError(
                f"{source}: a `{parts[i - 1]}` does not lie in one `{part}`",
                hint=f"after `{parts[i - 1]}` may come: {within}",
            )
    return Dates(source, tuple(parts))


def _masks(given: object, source: str) -> Hierarchy:
    lengths = _list(given, "masks", source)
    for i, length in enumerate(lengths):
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InputError(
                f"{source}: expected whole numbers from 1 in `masks`, got {quoted(str(length))}",
                hint="say how many characters each level replaces, as in `[1, 2, 3]`",
            )
        if i and length <= lengths[i - 1]:
            raise InputError(
                f"{source}: `masks` must grow, but {length} comes after {lengths[i - 1]}",
                hint="each level replaces more characters than the one before",
            )
    return Masks(source, tuple(lengths))


_FORMS: dict[str, Callable[[Any, str], Hierarchy]] = {
    "tree": tree.grow,
    "intervals": lambda given, source: _intervals(given, 0, source),
    "dates": _dates,
    "masks": _masks,
}


def _list(given: object, key: str, source: str) -> list[Any]:
    if not isinstance(given, list | tuple) or not given:
        got = "an empty list" if isinstance(given, list | tuple) else tree.named(given)
        raise InputError(f"{source}: expected a list in `{key}`, one entry per level, got {got}")
    return list(given)


def _number(given: object, where: str) -> Decimal:
    """A number as the decimal that is written, not the binary number next to it."""
    if isinstance(given, bool) or not isinstance(given, int | float | Decimal):
        raise InputError(f"{where}: expected a number, got {quoted(str(given))}")
    number = Decimal(repr(given)) if isinstance(given, float) else Decimal(given)
    if not number.is_finite() or abs(number.adjusted()) > LARGEST:
        raise InputError(f"{where}: expected a finite number, got `{number:.6g}`")
    # Without zeros at the end, so that 5.0 is as good a width for whole numbers as 5.
    return number.normalize(EXACT)
