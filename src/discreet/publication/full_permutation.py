"""Full permutation: every column shuffled by itself inside each group, quasi-identifiers and sensitive values apart.

Source: Li et al., "Permutation anonymization", J. Intell. Inf. Syst. 2015, definition 1. Of a group anyone sees
which values each column has, and how often, but not which of them stood in one row. Each column has
random words of its own; rows are then sorted by what they show, so that sensitive values need no shuffling:
sorted, they keep nothing of the order that they had. Without a sensitive column there is only the first file.
Cost: linear in the rows and columns, and one sort of the table in the engine; four bytes per row and column.
Claim: marginals_are_kept — each column of a group has just the values that its rows have.
Claim: columns_are_shuffled_independently — every arrangement of a group's columns is equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import Mistake
from discreet.guarantees import PROMISES
from discreet.policy import Policy
from discreet.policy.meant import Meant
from discreet.publication.axes import present
from discreet.publication.draft import Draft
from discreet.publication.publication import Publication
from discreet.release.layouts.file import link
from discreet.release.manifest import TableSpec
from discreet.release.rows import number, store_rows
from discreet.release.write import FileToWrite
from discreet.values.codes import Codes


def _files(draft: Draft) -> Sequence[FileToWrite]:
    """The permuted quasi-identifier table (PQT), and the permuted sensitive table (PST) if there is one."""
    policy, group = draft.policy, draft.group
    shown = (*map(draft.field, policy.quasi), number(group))
    if policy.sensitive is None:
        return (FileToWrite("pqt", TableSpec(fields=shown), lambda path: _store_pqt(draft, path)),)
    pqt = TableSpec(fields=shown, foreign_keys=(link(group, "pst"),))
    pst = TableSpec(fields=(number(group), draft.field(policy.sensitive)))
    return (
        FileToWrite("pqt", pqt, lambda path: _store_pqt(draft, path)),
        FileToWrite("pst", pst, lambda path: _store_pst(draft, path)),
    )


def _store_pqt(draft: Draft, path: Path) -> None:
    sizes = draft.histograms.sizes
    columns = {name: shuffled(draft, codes) for name, codes in quasi(draft).items()}
    columns[draft.group] = pa.array(np.repeat(np.arange(1, sizes.size + 1, dtype=np.int32), sizes))
    draft.table.check_unchanged()
    store_rows(pa.table(columns), path, order=(draft.group, *draft.policy.quasi))


def _store_pst(draft: Draft, path: Path) -> None:
    of_person = np.repeat(np.arange(draft.histograms.counts.size), draft.histograms.counts)
    store_rows(draft.counts().drop_columns([draft.count]).take(pa.array(of_person)), path)


def quasi(draft: Draft) -> dict[str, Codes]:
    """The quasi-identifiers of the rows that are published, as they were read to form groups or read now."""
    found = {axis.name: axis.codes for axis in draft.axes}
    for name in draft.policy.quasi:
        if name not in found:
            codes = draft.table.codes(name, present=present(draft.policy))
            kept = codes.codes if draft.kept is None else codes.codes[draft.kept]
            found[name] = Codes(kept, codes.domain, codes.missing)
    return {name: found[name] for name in draft.policy.quasi}


def shuffled(draft: Draft, codes: Codes) -> pa.Array:
    """The values of a column, group after group, in a random order inside each."""
    from discreet.partition.kernels import shuffle_by_value

    groups, sizes = draft.groups, draft.histograms.sizes
    return codes.decode(codes.codes[shuffle_by_value(groups, sizes, draft.secret.words(groups.size))])


def _check(meant: Meant) -> Iterator[Mistake]:
    """Where every column is sensitive, groups can only be large."""
    if meant.sensitive is not None:
        return
    if any(name in PROMISES and PROMISES[name].of_values for name in meant.guarantee or {}):
        what = "without `sensitive`, only the size of groups can be promised"
        yield Mistake("guarantee", f"{what}; write {{ k = 5 }}, or name the sensitive column")
    if meant.missing_sensitive not in ("error", None):
        yield Mistake("missing_sensitive", "there is no `sensitive` column; leave it out")


def _alone(policy: Policy) -> list[tuple[str]]:
    """Every quasi-identifier is shuffled by itself."""
    return [(name,) for name in policy.quasi]


PUBLICATION = Publication(
    _files,
    check=_check,
    partition=lambda _: "cluster",
    compared=("cluster", "local"),
    blocks=_alone,
    needs_sensitive=False,
)
