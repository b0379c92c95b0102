"""Earlier releases: a new one is held against them, from its own files, before it appears.

The check is that of `discreet.audit`, which anyone who holds the files can run. A release is refused if together with
the earlier ones it tells more of somebody than every one of them promises: a value likelier than 1/l, fewer than
`distinct_l` (with `e`, than k) values left, or a range shorter than e. Where people could all be the same, heads
are counted too.
Drawing other groups does not help: whoever is in two groups drawn independently has few values left, whatever l is.
Claim: refused_release_leaves_nothing — no file is left of a release that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from discreet.audit.composition.comparable import SHOWS
from discreet.audit.composition.report import Composed
from discreet.audit.several import audit
from discreet.errors import DiscreetWarning, GuaranteeError, InputError, ReleaseError, VerificationError
from discreet.policy import Policy
from discreet.publication import PUBLICATIONS
from discreet.release import Release, open_release
from discreet.release.layouts import LAYOUTS, layout_of
from discreet.release.verify import verify_alone
from discreet.release.write import Watch
from discreet.words import counted

HINT = (
    "publish only people who are in none of them, by themselves; or keep the table in a vault, whose releases are"
    " made with each other in mind. A larger l or another draw hardly ever helps. Leave out an earlier release only if"
    " nobody is in both"
)


def opened(earlier: Sequence[str | Path | Release], policy: Policy) -> list[Release]:
    """Open and verify earlier releases; raise if one does not verify, or cannot be held against what is to be made."""
    if isinstance(earlier, str | Path | Release):
        raise InputError("earlier releases are a list", hint="pass `earlier=[…]`, a folder each")
    found = []
    for given in earlier:
        release = given if isinstance(given, Release) else open_release(given)
        report = verify_alone(release.path)
        if not report.ok:
            first = report.failures[0]
            raise VerificationError(
                f"the earlier release `{release.path}` does not verify: {first.name}: {first.detail}",
                hint="get a new copy of it: from damaged files nobody can know what the two releases tell together",
            )
        if (other := _other(release, policy)) is not None:
            raise ReleaseError(
                f"the earlier release `{release.path}` is of another table: {other}",
                hint="name releases of this table, with columns of the same names; nothing can be compared with others",
            )
        found.append(release)
    _check_comparable(found, policy)
    return found


def _check_comparable(earlier: Sequence[Release], policy: Policy) -> None:
    """Raise before any work is done if the auditor could not hold the new release against these."""
    told = [(f"`{release.path}`", release.promise.publication) for release in earlier]
    every = [*told, ("the new release", policy.publication)]
    if not told or all(publication == "generalization" for _, publication in every):
        return
    for which, publication in every:
        if LAYOUTS[publication].matching not in SHOWS:
            raise ReleaseError(
                f"{which} is a release by {publication}: it shows no rows as they are",
                hint="compare releases by generalization with each other, and releases that show rows with each other",
            )
    if all(_blocks(release) > 1 for release in earlier) and len(PUBLICATIONS[policy.publication].blocks(policy)) > 1:
        raise InputError(
            "neither the new release nor an earlier one shows whole rows, so nobody can be found in both",
            hint="publish by `anatomy` or `permutation`; leave out an earlier release only if nobody is in both",
        )


def _blocks(release: Release) -> int:
    return len(layout_of(release.promise).blocks(release.promise))


def doubts(earlier: Sequence[Release], policy: Policy) -> Iterator[DiscreetWarning]:
    """A warning if earlier releases show other columns: by a column that was renamed nobody is recognised."""
    shared = [name for name in policy.quasi if all(name in release.promise.quasi for release in earlier)]
    for release in earlier:
        theirs, ours = set(release.promise.quasi), set(policy.quasi)
        if theirs != ours:
            sides = [(f"`{release.path.name}` has", theirs - ours), ("the policy has", ours - theirs)]
            told = " and ".join(f"{who} {_listed(sorted(more))}" for who, more in sides if more)
            yield DiscreetWarning(
                "earlier",
                f"{told}, which the other has not: people are recognised by {_listed(shared)} alone",
                hint="if a column was renamed, give it its old name again, for nobody is recognised by it now; if not,"
                ' accept it with the reason: accept.earlier = "…"',
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _other(release: Release, policy: Policy) -> str | None:
    promise = release.promise
    if promise.sensitive != policy.sensitive:
        theirs, ours = (
            "no sensitive column" if name is None else f"the sensitive column `{name}`"
            for name in (promise.sensitive, policy.sensitive)
        )
        return f"it has {theirs}, and the policy {ours}"
    mine = {name.casefold(): name for name in policy.quasi}
    for name in promise.quasi:
        if mine.get(name.casefold(), name) != name:
            return f"it has the quasi-identifier `{name}`, and the policy `{mine[name.casefold()]}`"
    if not set(promise.quasi) & set(policy.quasi):
        return f"it has none of the quasi-identifiers {', '.join(f'`{name}`' for name in policy.quasi)}"
    return None


def watched(earlier: Sequence[Release]) -> Watch:
    """Hold a release against earlier ones once it has verified, and stop it if they tell too much together."""
    return Watch(verified=lambda folder: _check(folder, earlier)) if earlier else Watch()


def _check(folder: Path, earlier: Sequence[Release]) -> None:
    releases = [*earlier, open_release(folder)]
    try:
        found = audit(releases)
    except ReleaseError as error:  # nobody knows the folder of a draft
        raise ReleaseError(error.message.replace(f"`{folder}`", "the new release"), hint=error.hint) from None
    if found.ok and isinstance(found, Composed):
        with suppress(ReleaseError):  # they cannot be the same people
            found = audit(releases, same_people=True)
    if found.ok:
        return
    names = ", ".join(f"`{release.path.name}`" for release in earlier)
    if isinstance(found, Composed):
        whom = f"{counted(found.vulnerable, 'person', 'people')} of the {found.people:,} who may be in both"
        told = f"{found.pinned:,} would have one value left ({found.pinned_alone:,} by one release alone)"
    else:
        whom = counted(found.vulnerable, "row")
        told = "more is told of them than the guarantee allows"
    raise GuaranteeError(f"with {names}, the release would give away {whom}: {told}; nothing was published", hint=HINT)
