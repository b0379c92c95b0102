"""The facts of a report: every figure that its pages show, and nothing that is not in its JSON.

Facts for the public are found from the released files, and from a public table if one is given. What takes the private
table, or a register of a population, stands in facts for the steward alone: there is no other way from one to the other
than `audience`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from discreet.audit.attacks.attack import Failed, Success
    from discreet.audit.belongs import Belongs
    from discreet.release.verify.check import Check
    from discreet.risk.risks import Risks

Audience: TypeAlias = Literal["public", "private"]
Shape: TypeAlias = Literal["rows", "blocks", "boxes"]  # whole rows, columns apart from each other, or ranges and sets


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the table: what it holds, its role, and how the release shows it."""

    name: str
    type: str
    role: Literal["quasi-identifier", "sensitive"]
    how: str


@dataclass(frozen=True, slots=True)
class File:
    """A file of the release, its size where it is there, and its digest."""

    path: str
    bytes: int | None
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What is published, about whom, and what is promised of it, as the manifest says."""

    title: str
    table: str
    description: str
    publication: str
    partition: str
    shape: Shape
    rows: int
    people: int | None
    groups: int | None
    columns: tuple[Shown, ...]
    guarantee: Mapping[str, float]
    told: str
    harmless: str | None
    promise: str
    theorem: str | None
    limits: tuple[str, ...]
    for_publication: bool
    files: tuple[File, ...]
    created: str | None = None
    licence: str | None = None
    publishers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bin:
    """So many groups have at least `low` and at most `high` rows."""

    low: int
    high: int
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """The groups of a release: their sizes, and the largest share that one sensitive value has in any of them."""

    groups: int
    smallest: int
    median: float
    largest: int
    bins: tuple[Bin, ...]
    largest_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Useful:
    """How near the answers of a release come by one estimator; errors are of answers that are not exact."""

    estimator: str
    answered: int
    exact: int
    outside: int
    error: float | None = None
    error_90: float | None = None
    coverage: float | None = None
    width: float | None = None
    errors: Mapping[str, float] | None = None
    unanswered: str | None = None


@dataclass(frozen=True, slots=True)
class Utility:
    """A workload of so many questions, and what came of it by each estimator; the truth is that of the table."""

    queries: int
    kinds: Mapping[str, int]
    estimators: tuple[Useful, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The error of answers at one threshold of the guarantee; if it was `refused`, the reason may name values."""

    method: str
    threshold: float
    error: float | None
    error_90: float | None
    coverage: float | None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Swept:
    """Errors at several thresholds of the guarantee called `name`, of a table of so many `rows`."""

    name: str
    rows: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the three questions of the Article 29 working party (opinion 05/2014, WP216), answered."""

    question: Literal["singling out", "linkability", "inference"]
    asked: str
    verdict: Literal["yes", "limited", "not measured"]
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Untested:
    """What was not tested, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that a report says."""

    audience: Audience
    made: str
    recipient: str | None
    threshold: float
    published: Published
    verified: bool
    checks: tuple[Check, ...]
    broken: str | None  # why nothing could be measured, if it could not
    grouped: Grouped | None
    after: Risks | None
    attacks: tuple[Success | Failed, ...]
    answers: tuple[Answer, ...]
    untested: tuple[Untested, ...]
    versions: Mapping[str, str]
    before: Risks | None = None
    belongs: Belongs | None = None
    utility: Utility | None = None
    swept: Swept | None = None

    def to_json(self) -> str:
        """Every figure, unrounded; what is no number is null."""
        return json.dumps(plain(self), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """A value in the words of JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
