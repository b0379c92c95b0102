"""What the files hold: columns, files and groups."""

from __future__ import annotations

from discreet.report.charts import histogram
from discreet.report.facts import Facts, Grouped
from discreet.report.markup import Html, joined, name, table, tag
from discreet.report.sections.figures import number, share


def data(facts: Facts) -> Html:
    published = facts.published
    columns = table(
        "The columns of the table that are published; no other is.",
        ["column", "holds", "role", "how it is shown"],
        [[name(each.name), each.type, each.role, each.how] for each in published.columns],
        left=4,
    )
    files = table(
        "The files; their digests stand in the last section.",
        ["file", "bytes"],
        [[name(each.path), number(each.bytes)] for each in published.files],
    )
    return joined([columns, files, _groups(facts.grouped)])


def _groups(found: Grouped | None) -> Html:
    if found is None:
        return tag("p", "There are no groups to count: the publication makes none, or the release could not be read.")
    sizes = f"from {found.smallest:,} to {found.largest:,} rows, {number(found.median)} in the middle one"
    if found.smallest == found.largest:
        sizes = f"{found.smallest:,} rows each"
    told = f"The release has {found.groups:,} groups of {sizes}."
    if found.largest_share is not None:
        told += f" The largest share that one sensitive value has of a group is {share(found.largest_share)}."
    if len(found.bins) == 1:
        return joined([tag("h3", "Groups"), tag("p", told)])
    columns = [
        (f"{each.low:,}" if each.low == each.high else f"{each.low:,}–{each.high:,}", float(each.groups))
        for each in found.bins
    ]
    chart = histogram("How many groups have how many rows", told, columns, "rows in a group")
    return joined([tag("h3", "Groups"), tag("p", told), chart])
