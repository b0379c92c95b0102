"""What each column is, what the release must promise, and how: one frozen object, from Python or TOML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from discreet.errors import InputError, InternalError, Mistake, PolicyError
from discreet.partition import PARTITIONS
from discreet.policy.check import mistakes, unfit
from discreet.policy.meant import Meant, grouping
from discreet.policy.toml import parse, store, written
from discreet.warnings.kinds import accepted

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

    Where people have several rows, `person` is the column that tells them apart: then groups count people, and all that
    is promised is about people. It is not published either.

    `hierarchies` say of some quasi-identifiers what belongs together (see `discreet.hierarchies`), `ordered` which
    texts have an order, `options` how the partition or the publication goes about it, and `join` by which identifier
    the rows of a public table are found. `together` lists the quasi-identifiers that a slicing keeps together. `accept`
    names the warnings that were looked at, each with the reason why it may stay; `harmless` the sensitive values
    that need no protection. `csv` and `excel` say how the table's file is written, where it does not tell itself.
    `about` has the title, description, licence and contact of the release.
    """

    quasi: Sequence[str]
    guarantee: Mapping[str, float]
    sensitive: str | None = None
    person: str | None = None
    identifiers: Sequence[str] = ()
    drop: Sequence[str] | Literal["rest"] = ()
    partition: str = "auto"
    publication: str = "anatomy"
    missing_sensitive: MissingSensitive = "error"
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    ordered: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    join: str | None = None
    together: Sequence[Sequence[str]] | None = None
    accept: Mapping[str, Any] = field(default_factory=dict)
    harmless: Sequence[Any] = ()
    csv: Mapping[str, Any] = field(default_factory=dict)
    excel: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None

    def __post_init__(self) -> None:
        found = mistakes(self._given())
        if found:
            raise PolicyError(found)
        plain = {name: float(t) + 0.0 if isinstance(t, float) else t for name, t in self.guarantee.items()}
        object.__setattr__(self, "guarantee", plain)
        object.__setattr__(self, "accept", accepted(self.accept))
        for key in fields(self):
            try:
                object.__setattr__(self, key.name, _fixed(getattr(self, key.name)))
            except RecursionError:
                raise PolicyError([Mistake(key.name, "it is nested too deeply")]) from None

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Policy], tuple[dict[str, Any]]]:
        return _made, ({key: plain(value) for key, value in self._given().items()},)

    def _given(self) -> dict[str, Any]:
        """The keys as a file would have them: texts that are not given are left out."""
        values = {key.name: getattr(self, key.name) for key in fields(self)}
        left_out = {key for key in ("name", "join", "together", "sensitive", "person") if values[key] is None}
        return {key: value for key, value in values.items() if key not in left_out}

    @classmethod
    def load(cls, path: str | Path, *, check: Callable[[Meant], Iterable[Mistake]] = lambda _: ()) -> Policy:
        """Read a policy from a TOML file; every mistake in it is reported at once, and what a `check` of its use finds.

        Such a check is `unfit(columns)`: what does not fit the columns of a table.
        """
        source = Path(path)
        values, lines = parse(source)
        found = [*mistakes(values), *check(Meant.of(values))]
        if found:
            located = [_located(mistake, lines) for mistake in found]
            raise PolicyError(sorted(located, key=lambda m: m.line or 0), source=f"`{source}`")
        specs = values.get("hierarchies", {})
        near = {name: str(source.parent / spec) if isinstance(spec, str) else spec for name, spec in specs.items()}
        return cls(**{**values, "hierarchies": near})

    @classmethod
    def of(cls, given: Given, *, check: Callable[[Meant], Iterable[Mistake]] = lambda _: ()) -> Policy:
        """A policy as it is, from a TOML file, or from a dictionary with the same keys; see `load` for `check`."""
        if isinstance(given, str | Path):
            return cls.load(given, check=check)
        if not isinstance(given, Policy | Mapping):
            raise InputError(
                f"a policy cannot be a {type(given).__name__}",
                hint="pass a Policy, the path of a TOML file, or a dictionary with the same keys",
            )
        values = given._given() if isinstance(given, Policy) else {str(key): each for key, each in given.items()}  # noqa: SLF001
        found = [*mistakes(values), *check(Meant.of(values))]
        if found:
            raise PolicyError(found)
        return given if isinstance(given, Policy) else cls(**values)

    def save(self, path: str | Path) -> None:
        """Write the policy to a TOML file, which is never one that is there already and says something else."""
        target = Path(path)
        unsaid = {key.name: {} if key.default is MISSING else key.default for key in fields(self)}
        values = {key: plain(value) for key, value in self._given().items() if value != unsaid[key]}
        for name, spec in values.get("hierarchies", {}).items():
            if isinstance(spec, str):  # a file is looked for beside the policy
                values["hierarchies"][name] = os.path.relpath(spec, target.parent)
        store(target, written(values))

    @property
    def grouping(self) -> str:
        """The partition by its own name: what "auto" stands for, and "none" where there are no groups."""
        return grouping(self.publication, self.partition, self.guarantee, several=self.person is not None)

    @property
    def blind(self) -> bool:
        """Whether cuts tell nothing but groups' values, and the manifest says so; of people's it says nothing."""
        if self.grouping == "mixed":
            return "cells" in self.options
        partition = PARTITIONS.get(self.grouping)
        return partition is not None and self.person is None and partition.cuts(self.options) == "blind"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are published: the quasi-identifiers, and the sensitive one if there is one."""
        return (*self.quasi, *([] if self.sensitive is None else [self.sensitive]))

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that are read to publish: those that are published, the person, and what a join is made by."""
        return (*self.columns, *(name for name in (self.person, self.join) if name is not None))

    @property
    def sensitive_column(self) -> str:
        """The sensitive column of a publication that must have one."""
        if self.sensitive is None:
            raise InternalError(f"`{self.publication}` was to be made without a sensitive column")
        return self.sensitive

    def fit(self, columns: Iterable[Any], *, vault: bool = False, look: Callable[[str], Any] = lambda _: None) -> None:
        """Raise unless every column of the table has one role, every role a column, and every option a use."""
        found = unfit(columns, vault=vault, look=look)(Meant.of(self._given()))
        if found:
            raise PolicyError(found)


Given: TypeAlias = Policy | str | Path | Mapping[str, Any]  # what can stand for a policy


def _fixed(value: Any) -> Any:
    """A value that stays as it is, at any depth."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: _fixed(each) for key, each in value.items()})
    return tuple(_fixed(each) for each in value) if isinstance(value, list | tuple) else value


def plain(value: Any) -> Any:
    """The same value in dictionaries and lists, as JSON and TOML have it."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def _located(mistake: Mistake, lines: Mapping[str, int]) -> Mistake:
    """A mistake with its line; of a key that is missing, that of the comment which suggests it."""
    suggested = lines.get(f"#{mistake.key}")
    if mistake.message.startswith("is missing") and suggested is not None:
        what = "is missing; a comment suggests it: look at it, and remove the `#` before it"
        return Mistake(mistake.key, what, suggested)
    return Mistake(mistake.key, mistake.message, lines.get(mistake.key))


def _made(values: dict[str, Any]) -> Policy:
    return Policy(**values)
