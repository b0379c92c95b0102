"""Attacks on a release, from its files alone; one per file, and all under one contract (`attack.py`).

`_HOMES` says in which file each is. What they are made of is next door: `places/` what a release shows and who may be
which row, `guessing/` models, guesses and how these are scored, `replay/` the cuts of a partition played again.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, InputError
from discreet.words import nearest

if TYPE_CHECKING:
    from discreet.audit.attacks.attack import Attack, Failed, Given, Progress, Success
    from discreet.release import Release

    ATTACKS: dict[str, Attack]

# The name of every attack, and the module and class that make it.
_HOMES = {
    "learner": ("learner", "Learner"),
    "population": ("population", "Population"),
    "order": ("order", "Order"),
    "proximity": ("proximity", "Proximity"),
    "background": ("background", "Background"),
    "minimality": ("minimality", "Minimality"),
    "composition": ("composition", "Composer"),
    "linkage": ("linkage", "Linkage"),
    "presence": ("presence", "Presence"),
    "downcoding": ("downcoding", "Downcoding"),
}


def __getattr__(name: str) -> Any:
    """Import the attacks when they are first asked for: some of them are needed while a table is published."""
    if name != "ATTACKS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = {each: getattr(import_module(f"{__name__}.{home}"), made)() for each, (home, made) in _HOMES.items()}
    globals()["ATTACKS"] = found
    return found


def run_attacks(
    release: Release, given: Given, names: Sequence[str] | None = None, *, progress: Progress = lambda _: None
) -> list[Success | Failed]:
    """Make attacks, all unless some are named, one after another; one that was not made says why."""
    from discreet.audit.attacks import ATTACKS

    wanted = [*ATTACKS] if names is None else [*dict.fromkeys(names)]
    for name in wanted:
        if name not in ATTACKS:
            raise InputError(f"there is no attack `{name}`", hint=nearest(name, [*ATTACKS]))
    return [_made(ATTACKS[name], release, given, progress) for name in wanted]


def _made(attack: Attack, release: Release, given: Given, progress: Progress) -> Success | Failed:
    from discreet.audit.attacks.attack import Failed

    if (why := attack.suits(release, given)) is not None:
        return Failed(attack.name, attack.threat, why, "does not apply")
    try:
        return attack.run(release, given, progress=lambda step: progress(f"{attack.name}: {step}"))
    except DiscreetError as error:
        return Failed(attack.name, attack.threat, error.message, hint=error.hint)
