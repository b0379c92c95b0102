"""What several releases tell together: which auditor looks depends on what they show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from discreet.errors import InputError, ReleaseError
from discreet.release import Release, open_release

if TYPE_CHECKING:
    from discreet.audit.composition.report import Composed
    from discreet.audit.sequence.report import Inferences


def audit(
    releases: Sequence[Release | str | Path],
    *,
    insertions: Literal["known", "unknown"] | None = None,
    same_people: bool = False,
    truth: str | Path | Any = None,
) -> Inferences | Composed:
    """Compare releases, or the folders that hold them: of a growing table by generalization, or such as show rows.

    Generalized ones are given oldest first, and the attacker knows of each person in which release it first was, unless
    `insertions` are unknown. Of the others, people are recognised by equal quasi-identifiers; `same_people` says that
    everybody in a release is in every larger one, and `truth` is the private table, to tell how many are told rightly.
    """
    if isinstance(releases, str | Path | Release):
        raise InputError("several releases are compared", hint="pass a list of them, oldest first")
    opened = [release if isinstance(release, Release) else open_release(release) for release in releases]
    if len(opened) < 2:
        raise ReleaseError(
            "expected at least two releases, got one",
            hint="name the releases of one table, oldest first; a single one is measured with `--metrics`",
        )
    if all(release.promise.publication == "generalization" for release in opened):
        if same_people or truth is not None:
            raise InputError(
                f"{'same people' if same_people else 'a truth'} cannot be given with releases by generalization",
                hint="such releases are taken to be of one table that grows: leave it out",
            )
        from discreet.audit.sequence.auditor import audit as follow

        return follow(opened, insertions="known" if insertions is None else insertions)
    if insertions is not None:
        raise InputError(
            "`--insertions` is for releases by generalization only",
            hint="leave it out; if the same people are in all releases, use `--same-people`",
        )
    from discreet.audit.composition.auditor import compose

    return compose(opened, same_people=same_people, truth=truth)
