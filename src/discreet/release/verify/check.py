"""One thing that was checked of a release."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked."""

    name: str
    ok: bool
    detail: str


def check(name: str, wrong: str | None, right: str) -> Check:
    return Check(name, wrong is None, right if wrong is None else wrong)
