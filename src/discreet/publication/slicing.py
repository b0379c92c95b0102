"""Slicing: blocks of quasi-identifiers that are kept together, shuffled apart from each other inside each group.

Source: Li, Li, Zhang and Molloy, "Slicing: a new approach for privacy preserving data publishing", TKDE 2012.
Each block is written to a file of its own, sorted by group and by what it shows: sorted, it keeps nothing of the order
that the rows had, so that there is nothing to shuffle and no chance is needed. The sensitive column is a block by
itself: in a block with quasi-identifiers, whoever knows these would find the value (see `docs/promise.md`).
Cost: one sort of the rows for each block; four bytes per row and column.
Claim: blocks_are_kept — each block of a group has just the rows of its columns that the group has.
Claim: slices_tell_nothing_of_each_other — the files are the same however the blocks of a group belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.errors import Mistake
from discreet.policy import Policy
from discreet.policy.meant import Meant
from discreet.publication.draft import Draft
from discreet.publication.full_permutation import quasi
from discreet.publication.publication import Publication
from discreet.release.layouts.file import link
from discreet.release.layouts.slicing import file_of
from discreet.release.manifest import TableSpec
from discreet.release.rows import number, store_rows
from discreet.release.write import FileToWrite
from discreet.values.codes import Codes
from discreet.words import nearest


def _check(meant: Meant) -> Iterator[Mistake]:
    """Every column that is kept together with others is a quasi-identifier, and in one block."""
    if meant.together is None:
        yield Mistake("together", 'is missing: the columns to keep together, like [["age", "education"]]')
    seen: set[str] = set()
    for block in meant.together or ():
        if not block:
            yield Mistake("together", "a block has no columns; leave it out")
        for name in block:
            if name in seen:
                yield Mistake("together", f"`{name}` stands twice; a column is in one block")
            seen.add(name)
            if name == meant.sensitive and len(block) > 1:
                what = "is sensitive: whoever knew the others of its block would find it; leave it out"
                yield Mistake("together", f"`{name}` {what}")
            elif meant.quasi is not None and name not in (*meant.quasi, meant.sensitive):
                yield Mistake("together", f"`{name}` is no quasi-identifier; {nearest(name, meant.quasi)}")


def blocks(policy: Policy) -> tuple[tuple[str, ...], ...]:
    """The blocks of quasi-identifiers, in the order of the policy; those that are not named are alone."""
    named = {name: block for block in policy.together or () for name in block}
    found = {tuple(each for each in policy.quasi if each in named.get(name, (name,))) for name in policy.quasi}
    return tuple(sorted(found, key=lambda block: policy.quasi.index(block[0])))


def _files(draft: Draft) -> Sequence[FileToWrite]:
    """A file for each block, and the sensitive table."""
    group, sensitive = number(draft.group), draft.field(draft.policy.sensitive_column)
    columns = quasi(draft)
    draft.table.check_unchanged()
    files = [
        FileToWrite(
            file_of(i),
            TableSpec(fields=(*map(draft.field, block), group), foreign_keys=(link(draft.group, "st"),)),
            lambda path, block=block: _store(draft, {name: columns[name] for name in block}, path),  # type: ignore[misc]
        )
        for i, block in enumerate(blocks(draft.policy))
    ]
    st = TableSpec(fields=(group, sensitive, number(draft.count)))
    return [*files, FileToWrite("st", st, lambda path: store_rows(draft.counts(), path))]


def _store(draft: Draft, block: Mapping[str, Codes], path: Path) -> None:
    rows = {name: codes.decode(codes.codes) for name, codes in block.items()}
    rows[draft.group] = pa.array(draft.groups + np.int32(1))
    store_rows(pa.table(rows), path, order=(draft.group, *block))


def _members(draft: Draft) -> Mapping[str, Any]:
    return {"slicing": {"together": [list(block) for block in blocks(draft.policy)]}}


PUBLICATION = Publication(_files, check=_check, compared=("local",), blocks=blocks, members=_members)
