"""Plausible tables as a file of a release: its rows once, and beside each the value that it holds in every table."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.release.layouts.file import File, quoted
from discreet.release.layouts.layout import Layout, Order
from discreet.release.manifest import Manifest, Promise
from discreet.values.names import fresh

NAME = "plausible"
LEAST, MOST = 2, 1000  # tables: one alone has no spread


def drawn(promise: Promise) -> tuple[str, ...]:
    """The columns that hold the sensitive value in the first table, the second, and so on."""
    taken = [promise.group, *promise.shown, promise.sensitive_column]
    for number in range(1, 1 + (0 if promise.plausible is None else promise.plausible.tables)):
        taken.append(fresh(f"{promise.sensitive}_{number}", taken))
    return tuple(taken[len(promise.shown) + 2 :])


def file(promise: Promise) -> File:
    """One row per row of the release; sorted by all that it shows, from the first column to the last."""
    columns = (promise.group, *promise.shown, *drawn(promise))
    return File(columns, (promise.group, *promise.shown[len(promise.quasi) :]))


def order(promise: Promise) -> Order:
    return (NAME,), file(promise).columns, False


def faults(promise: Promise, layout: Layout) -> Iterator[str]:
    """What is said of plausible tables, and cannot be."""
    if promise.plausible is None:
        if promise.estimator == "learned":
            yield "its `estimator` is `learned`, and it has no plausible tables"
        return
    if layout.matching != "counted":
        yield "only where rows and their groups' values are both shown, there are plausible tables"
    if not LEAST <= promise.plausible.tables <= MOST:
        yield f"plausible tables are {LEAST} to {MOST:,}"
    if promise.plausible.model != "learned":  # `ask` would pass them off as learned
        yield f"its plausible tables are by the model `{promise.plausible.model}`; a release carries those of `learned`"
    if promise.estimator not in {"design", "learned"}:
        yield "it has plausible tables, and its `estimator` is neither `learned` nor `design`"


def readme(manifest: Manifest) -> str:
    """How to use the file."""
    promise = manifest.discreet
    if promise.plausible is None:
        return ""
    path, first, tables = manifest.resource(NAME).pattern, quoted(drawn(promise)[0]), promise.plausible.tables
    return f"""
`{path}` has {tables} plausible tables: the rows once more, and in the columns from
{first} on what each may hold. They were drawn from the other files alone, by a model of those files, so they tell
nothing that these do not; what they say of a row is drawn, not known. Compute what you want to know on each of them:
the mean of the results is the estimate, and their standard deviation, times the root of 1 + 1/{tables}, its standard
error.
"""
