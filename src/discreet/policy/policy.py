"""What each column is, what the release must promise, and how: one frozen object, from Python or TOML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from discreet.errors import InternalError, Mistake, PolicyError
from discreet.policy.check import columns_mistakes, mistakes
from discreet.policy.method import grouping
from discreet.policy.toml import parse


class Fixed(dict[str, Any]):
    """A dictionary that stays as it is."""

    def __setitem__(self, key: str, value: Any) -> None:
        raise TypeError("a policy does not change")

    __delitem__ = clear = pop = popitem = setdefault = update = __setitem__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Fixed], tuple[dict[str, Any]]]:
        return Fixed, (dict(self),)


MissingSensitive: TypeAlias = Literal["error", "value", "withhold"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """What each column is, and what the release must promise.

    Every column of the table must have a role: `identifiers` never leave, `quasi` are what an
    outsider may know of a person, `sensitive` is what must not be linked to one, and `drop`
    lists the columns to leave out (or is "rest": all the others). Only "full_permutation" can do without
    `sensitive`: then every column is. The partition "auto" is "min_sum" where ranges alone are promised,
    "mondrian" where boxes are shown, "cluster" where all columns are shuffled, and "local" elsewhere. The
    publication "swap" has none, and promises nothing: its guarantee only sizes the windows in which values are swapped.

    `hierarchies` say of some quasi-identifiers what belongs together (see `discreet.hierarchies`), `ordered` which
    texts have an order, `options` how the partition or the publication goes about it, and `join` by which identifier
    the rows of a public table are found.
    """

    quasi: Sequence[str]
    guarantee: Mapping[str, float]
    sensitive: str | None = None
    identifiers: Sequence[str] = ()
    drop: Sequence[str] | Literal["rest"] = ()
    partition: str = "auto"
    publication: str = "anatomy"
    missing_sensitive: MissingSensitive = "error"
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    ordered: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    join: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        given = {key.name: getattr(self, key.name) for key in fields(self)}
        found = mistakes(
            {
                key: value
                for key, value in given.items()
                if value is not None or key not in {"name", "join", "sensitive"}
            }
        )
        if found:
            raise PolicyError(found)
        for key in ("quasi", "identifiers", "drop", "ordered"):
            value = getattr(self, key)
            if not isinstance(value, str):
                object.__setattr__(self, key, tuple(value))
        plain = {name: float(t) + 0.0 if isinstance(t, float) else t for name, t in self.guarantee.items()}
        object.__setattr__(self, "guarantee", Fixed(plain))
        for key in ("hierarchies", "options"):
            object.__setattr__(self, key, Fixed(getattr(self, key)))

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file; every mistake in it is reported at once."""
        source = Path(path)
        values, lines = parse(source)
        found = mistakes(values)
        if found:
            located = [Mistake(m.key, m.message, lines.get(m.key)) for m in found]
            raise PolicyError(sorted(located, key=lambda m: m.line or 0), source=f"`{source}`")
        specs = values.get("hierarchies", {})
        near = {name: str(source.parent / spec) if isinstance(spec, str) else spec for name, spec in specs.items()}
        return cls(**{**values, "hierarchies": near})

    @property
    def grouping(self) -> str:
        """The partition by its own name: what "auto" stands for, and "none" where there are no groups."""
        return grouping(self.publication, self.partition, self.guarantee)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are published: the quasi-identifiers, and the sensitive one if there is one."""
        return (*self.quasi, *([] if self.sensitive is None else [self.sensitive]))

    @property
    def sensitive_column(self) -> str:
        """The sensitive column of a publication that must have one."""
        if self.sensitive is None:
            raise InternalError(f"`{self.publication}` was to be made without a sensitive column")
        return self.sensitive

    def fit(self, columns: Iterable[Any]) -> None:
        """Raise unless every column of the table has one role, and every role a column of the table."""
        found = columns_mistakes(self, {column.name: column for column in columns})
        if found:
            raise PolicyError(found)
