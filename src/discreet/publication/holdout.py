"""Leave some people out of a release, at random, for attacks on people who were not in the table.

They are written to a private file of the steward's; the release is of the others, and says nothing of it. How often an
attack is right of people who were not there is what a release tells of everybody like them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.errors import InputError
from discreet.policy import Policy
from discreet.table import Table, read
from discreet.values.random import RandomSource


def checked(share: float | None, file: str | Path | None, policy: Policy, to: Path) -> Path | None:
    """The file for those who are left out; raise unless it can be made."""
    if (share is None) != (file is None):
        raise InputError(
            "a holdout needs both its share and a file for those who are left out",
            hint="give `--holdout 0.1 --holdout-to FILE`",
        )
    if share is None or file is None:
        return None
    if not 0 < share < 1:
        raise InputError(f"a holdout is a share between 0 and 1, got {share!r}", hint="0.1 leaves out a tenth")
    if policy.person is not None:
        raise InputError(
            "people who have several rows cannot be held out", hint="leave `holdout` out, or publish a row per person"
        )
    path = Path(file)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"`{path}` is not a `.parquet` file", hint="name one that does not exist yet")
    if path.exists() or not path.resolve().parent.is_dir():
        why = "exists already" if path.exists() else "has no folder to be in"
        raise InputError(f"the file `{path}` {why}", hint="name a new file in a folder of your own")
    if to.resolve() in path.resolve().parents:
        raise InputError(f"`{path}` lies in the release: it would be published", hint="name a private folder")
    return path


@contextmanager
def parted(table: Table, policy: Policy, share: float, secret: RandomSource, to: Path) -> Iterator[Table]:
    """The table without some of its rows, drawn at random; these are in the file, unless something fails inside."""
    rows = table.engine.run(table.select([*dict.fromkeys((*policy.identifiers, *policy.needed))]))
    out = np.zeros(len(rows), np.bool_)
    order = np.argsort(secret.branch().words(len(rows)), kind="stable")
    out[order[: round(share * len(rows))]] = True
    if out.all() or not out.any():
        raise InputError(
            f"a holdout of {share:g} of {len(rows):,} rows leaves nobody on one side", hint="choose another share"
        )
    known = {column.name: column for column in table.columns}
    _write(rows.filter(pa.array(out)).select([*policy.needed]), to)
    try:
        with read(rows.filter(pa.array(~out)), name=table.name) as kept:
            yield replace(kept, columns=tuple(known[column.name] for column in kept.columns))
    except BaseException:
        to.unlink()
        raise


def _write(rows: pa.Table, to: Path) -> None:
    """A file that nobody but its owner can read, written before the release: one that fails costs no release."""
    try:
        to.touch(mode=0o600, exist_ok=False)
        pq.write_table(rows, to)
    except OSError as error:
        raise InputError(
            f"`{to}` cannot be written: {error.strerror}", hint="name a new file in a folder of your own"
        ) from None
