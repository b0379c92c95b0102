"""Everything that can go wrong, as one tree.

    DiscreetError
    ├── InputError           the private table cannot be read, or does not fit the policy
    │   └── ProblemsError      it does not for several reasons; `.problems` holds them all
    ├── PolicyError          the policy has mistakes; `.mistakes` holds them all
    ├── GuaranteeError       the guarantee cannot be met on this table        (exit status 3)
    ├── UnacceptedError      warnings stop a release; `.warnings` holds them  (exit status 3)
    ├── ReleaseError         not a release, or one that cannot be written or opened
    │   └── VerificationError  the files do not keep the promise they state   (exit status 4)
    ├── VaultError           a vault that cannot be opened or written, or was changed by hand
    ├── QueryError           a question that cannot be answered from a release
    ├── EngineError          the database engine failed
    ├── MissingExtraError    an optional dependency is not installed
    └── InternalError        a mistake of ours, never of the user's

Every message says what is wrong, what was expected, and what to do next. What is only doubtful is
said with a `DiscreetWarning`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


class DiscreetError(Exception):
    """Any error that discreet raises on purpose."""

    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class DiscreetWarning(UserWarning):
    """Something that the steward should look at.

    A policy accepts it by its `name`, with a `reason`. Until then it is shown, or, if it `refuses`, stops the release.
    """

    def __init__(self, name: str, message: str, *, hint: str = "", refuses: bool = False, reason: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.hint = hint
        self.refuses = refuses
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" + (f"; {self.hint}" if self.hint else "")

    def accepted(self, reason: str) -> DiscreetWarning:
        """The same warning, accepted for a reason, or for none."""
        return DiscreetWarning(self.name, self.message, hint=self.hint, refuses=self.refuses, reason=reason)


class InputError(DiscreetError):
    """The private table cannot be read, or does not fit the policy."""


class ProblemsError(InputError):
    """A table that does not fit its policy for several reasons; `problems` holds all that were found in one go."""

    def __init__(self, problems: Sequence[DiscreetError]) -> None:
        self.problems = tuple(problems)
        super().__init__(f"nothing was published; there are {len(self.problems)} problems:{_listed(self.problems)}")


def _listed(problems: Sequence[DiscreetError]) -> str:
    """Errors below each other, each with its hint."""
    return "".join(f"\n  {str(problem).replace(chr(10), chr(10) + '    ')}" for problem in problems)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a policy: where it stands and what is wrong with it."""

    key: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}, `{self.key}`" if self.line else f"`{self.key}`"
        return f"{where}: {self.message}"


class PolicyError(DiscreetError):
    """The policy has mistakes; `mistakes` holds every one of them, `problems` what is wrong with the table besides."""

    def __init__(
        self, mistakes: Sequence[Mistake], *, source: str = "the policy", problems: Sequence[DiscreetError] = ()
    ) -> None:
        self.mistakes, self.source, self.problems = tuple(mistakes), source, tuple(problems)
        count = "1 mistake" if len(self.mistakes) == 1 else f"{len(self.mistakes)} mistakes"
        lines = "".join(f"\n  {mistake}" for mistake in self.mistakes)
        besides = f"\nand the table has problems as well:{_listed(self.problems)}" if self.problems else ""
        super().__init__(f"{source} has {count}:{lines}{besides}")


class GuaranteeError(DiscreetError):
    """The guarantee cannot be met on this table."""

    exit_status = 3


class UnacceptedError(DiscreetError):
    """Warnings that stop a release until the policy accepts them; `warnings` holds every one of them."""

    exit_status = 3

    def __init__(self, warnings: Sequence[DiscreetWarning], *, hint: str = "") -> None:
        self.warnings = tuple(warnings)
        lines = "".join(f"\n  {warning}" for warning in self.warnings)
        accept = " and ".join(f'accept.{_toml_key(warning.name)} = "…"' for warning in self.warnings)
        super().__init__(
            f"nothing was published, because of warnings that the policy does not accept:{lines}",
            hint=hint or f"correct it, or accept it in the policy with the reason: {accept}",
        )


def _toml_key(name: str) -> str:
    """A name as TOML writes it: in quotes, unless it is plain."""
    return name if re.fullmatch(r"[\w.-]+", name, re.ASCII) else json.dumps(name, ensure_ascii=False)


class ReleaseError(DiscreetError):
    """Not a release, or one that cannot be written or opened."""


class VerificationError(ReleaseError):
    """The files of a release do not keep the promise they state."""

    exit_status = 4


class VaultError(DiscreetError):
    """A vault that cannot be opened or written, is in use, or was changed by hand."""


class QueryError(DiscreetError):
    """A question that cannot be answered from a release; `instead` is one in its place that can, if there is any."""

    def __init__(self, message: str, *, hint: str = "", instead: str = "") -> None:
        super().__init__(message, hint=hint)
        self.instead = instead

    def __str__(self) -> str:
        return super().__str__() + (f"\nWrite instead: {self.instead}" if self.instead else "")


class EngineError(DiscreetError):
    """The database engine failed."""


class MissingExtraError(DiscreetError):
    """An optional dependency is not installed."""


class InternalError(DiscreetError):
    """A mistake of ours, never of the user's."""
