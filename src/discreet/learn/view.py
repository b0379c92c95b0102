"""A release as a model sees it: codes in the order of its groups, and nothing that its files do not show."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.engines import connect
from discreet.errors import ReleaseError
from discreet.release.cache import Cache
from discreet.release.groups import PUBLICATIONS, Groups, read_all, read_groups
from discreet.release.relations import load_files
from discreet.release.release import Release
from discreet.values.coded import Coded, narrow, to_arrow


@dataclass(frozen=True, eq=False)
class View:
    """The rows of group g are `starts[g]` to `starts[g + 1]`, and so are the places of its values.

    `quasi` has the codes of every row, in the order of the row file. `held` is the code of the value at each place,
    ascending inside a group: one of the assignments that the release allows. Every code stands for a value that occurs;
    codes compare as values do, and a missing one comes last.
    """

    starts: npt.NDArray[np.int64]
    quasi: dict[str, Coded]
    held: npt.NDArray[np.int32]
    values: pa.Array
    sensitive: str
    person: dict[str, Coded] = field(default_factory=dict)  # who each row is of, where people may have several

    @property
    def shown(self) -> dict[str, Coded]:
        """All that stands on a row."""
        return {**self.quasi, **self.person}

    @property
    def rows(self) -> int:
        return self.held.size

    @property
    def groups(self) -> int:
        return self.starts.size - 1

    @classmethod
    def of(cls, release: Release, *, cache: Cache | None = None) -> View:
        """Read a release; cost: its files once, and sorting the distinct values of each column."""
        promise = release.promise
        check_shows_rows(promise.publication)
        with closing(connect(groups=promise.groups)) as engine:
            load_files(engine, release.path, release.manifest)
            groups = read_groups(engine, promise, cache or Cache.of(release))
            if groups is None:
                raise ReleaseError(
                    "the rows of the release are not in the order of its groups, or are not as many as its values",
                    hint="check it with `discreet verify`",
                )
            shown = read_all(engine, PUBLICATIONS[promise.publication].rows, promise.shown)
        held = present(Coded(_places(groups), groups.values.values))
        compact = {name: present(coded) for name, coded in shown.items()}
        quasi = {name: compact.pop(name) for name in promise.quasi}
        return cls(groups.rows, quasi, held.codes.astype(np.int32), held.values, promise.sensitive_column, compact)


def check_shows_rows(publication: str) -> None:
    """Raise unless a publication shows what tables can be drawn from."""
    if publication not in PUBLICATIONS:
        raise ReleaseError(
            f"plausible tables cannot be drawn from a release by `{publication}`: it does not show rows as they are"
            " beside the values of their group",
            hint="`anatomy` and `permutation` do; a release by another publication can be asked as it is",
        )


def _places(groups: Groups) -> npt.NDArray[np.int32]:
    """The code at each place, ascending inside a group."""
    codes = groups.values.codes.astype(np.int32)
    held = np.repeat(codes, groups.n) if groups.n.size else codes
    falls = np.flatnonzero(held[1:] < held[:-1]) + 1
    if np.isin(falls, groups.rows).all():  # as the files of a release have it, which are sorted
        return held
    of = np.repeat(np.arange(groups.rows.size - 1), np.diff(groups.rows))
    return held[np.lexsort((held, of))]


def present(coded: Coded) -> Coded:
    """The same with codes for values that occur only."""
    occurs = np.bincount(coded.codes, minlength=len(coded.values)) > 0
    if occurs.all():
        return coded
    kept = np.flatnonzero(occurs)
    code = (np.cumsum(occurs) - 1).astype(narrow(kept.size))
    return Coded(code[coded.codes], coded.values.take(to_arrow(kept)))
