"""Earlier releases: a new one is held against them, from its own files, before it appears.

The check is that of `discreet.audit`, which anyone who holds the files can run. A release is refused if together with
the earlier ones it tells more of somebody than every one of them promises: a value likelier than 1/l, fewer than
`distinct_l` (with `e`, than k) values left, or a range shorter than e. Where people could all be the same, heads
are counted too.
Drawing other groups does not help: whoever is in two groups drawn independently has few values left, whatever l is.
Claim: refused_release_leaves_nothing — no file is left of a release that is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from discreet.audit.composition.report import Composed
from discreet.audit.several import audit
from discreet.errors import GuaranteeError, InputError, ReleaseError, VerificationError
from discreet.policy import Policy
from discreet.release import Release, open_release
from discreet.release.verify import verify_alone
from discreet.release.write import Watch
from discreet.words import counted

HINT = (
    "publish only people who are in none of them, by themselves; or keep the table in a vault, whose releases are"
    " made with each other in mind. A larger l or another draw hardly ever helps. Leave out an earlier release only if"
    " nobody is in both"
)


def opened(earlier: Sequence[str | Path | Release], policy: Policy) -> list[Release]:
    """Open and verify earlier releases; raise if one does not verify, or is of another table."""
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
                hint="get it anew: what it tells together with another one cannot be known from these files",
            )
        if (other := _other(release, policy)) is not None:
            raise ReleaseError(
                f"the earlier release `{release.path}` is of another table: {other}",
                hint="name releases of this table, with columns of the same names; nothing can be compared with others",
            )
        found.append(release)
    return found


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
