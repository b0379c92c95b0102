"""The manifest of a release: a Frictionless Data Package with a `discreet` member.

It holds nothing about the private table that the data files do not show.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from discreet.errors import ReleaseError
from discreet.release.files import content
from discreet.values.columns import Word

FORMAT = 2  # the newest: some table is a list of parts
WHOLE = 1  # every table is one file
NAME = "datapackage.json"
MOST = 4 << 20  # bytes; one of a thousand columns has a tenth of that
MOST_PARTS = 5000  # of a table; a manifest of several tables has room for them
NEARLY_ALL = 0.9  # a share from which on a value is called known
# By what chance rows came to their groups. `dealt`: which rows of a value take which of its places is drawn uniformly,
# and which places there are was decided without looking at quasi-identifiers; `cells`: the same inside each cell of a
# cut that the release shows; `near`: rows were grouped by their quasi-identifiers.
Randomness: TypeAlias = Literal["dealt", "cells", "near"]
Estimator: TypeAlias = Literal["design", "learned", "even"]
SCHEMA = "https://datapackage.org/profiles/2.0/datapackage.json"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class FieldSpec(_Model):
    """A column of a data file.

    Whole numbers of which some are missing are called a `number` in a Parquet file, and said to be `whole`: validators
    of Data Packages read such a file through pandas, where they are fractions, and would report every missing one.
    """

    name: str
    type: Word
    whole: bool | None = None

    @property
    def kind(self) -> Word:
        return "integer" if self.whole and self.type == "number" else self.type


class Reference(_Model):
    """The columns of another data file."""

    resource: str
    fields: tuple[str, ...]


class ForeignKey(_Model):
    """Columns whose values stand in another data file."""

    fields: tuple[str, ...]
    reference: Reference


class TableSpec(_Model):
    """The columns of a data file and how it hangs together with the others."""

    fields: tuple[FieldSpec, ...]
    foreign_keys: tuple[ForeignKey, ...] | None = Field(None, alias="foreignKeys")

    def names(self) -> list[str]:
        return [field.name for field in self.fields]


class Resource(_Model):
    """A table: the path and the digest of its file, or those of its parts, whose rows follow one another; its columns.

    Whoever reads it asks for `paths` and `digests`, and need not know whether there is one file or many.
    """

    name: str
    path: str | tuple[str, ...]
    format: Literal["parquet", "csv"]
    bytes: int | None = None  # of CSV files; validators of Data Packages cannot tell that of Parquet files
    hash: str | None = None
    hashes: tuple[str, ...] | None = None  # of the parts; a Data Package has no word for them
    table: TableSpec = Field(alias="schema")

    @model_validator(mode="after")
    def _has_its_digests(self) -> Self:
        if (self.hash is None) != self.in_parts or (self.hashes is not None) != self.in_parts:
            raise ValueError("a file has a `hash`, and parts have `hashes`")
        if len(self.paths) != len(self.digests) or (self.in_parts and not 2 <= len(self.paths) <= MOST_PARTS):
            raise ValueError(f"there are 2 to {MOST_PARTS:,} parts, each with its digest")
        return self

    @property
    def in_parts(self) -> bool:
        return not isinstance(self.path, str)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its files, in the order of their rows."""
        return (self.path,) if isinstance(self.path, str) else self.path

    @property
    def digests(self) -> tuple[str, ...]:
        """The digest of each of its files."""
        return self.hashes or (self.hash or "",)

    @property
    def pattern(self) -> str:
        """Its files in a word, as people and engines read it."""
        return self.path if isinstance(self.path, str) else f"{self.name}-*.{self.format}"

    def kinds(self) -> dict[str, str]:
        """The type of every column."""
        return {field.name: field.kind for field in self.table.fields}


class Window(_Model):
    """What the windows of a swapped table were sized to, which promises nothing, and the columns of their ends."""

    k: int
    e: int | float
    low: str
    high: str


class BoxColumn(_Model):
    """How boxes show one quasi-identifier, whose values had a `type`: from `low` to `high`, or by a `label`.

    `missing` says whether a value is missing, where any was. All of them name columns.
    """

    name: str
    type: Word
    low: str | None = None
    high: str | None = None
    missing: str | None = None
    label: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in (self.low, self.high, self.missing, self.label) if name is not None)


class Join(_Model):
    """How private rows were put together with public ones, and the column of their sensitive group."""

    variant: Literal["direct", "refinement"]
    group: str
    groups: int
    people: int


class PlausibleTables(_Model):
    """How many plausible tables there are, by which model, how far its chains were apart, and what is to be said."""

    tables: int
    model: Literal["learned", "even"]
    rhat: float | None = None  # 1 if they agree; none where there are no chains
    notes: tuple[str, ...] | None = None  # such as that nothing could be learned


Member = TypeVar("Member", bound=BaseModel)


class Promise(_Model):
    """What was published and what is promised.

    A publication may add one member of its own, which bears its name; its layout says what is in it.
    """

    model_config = ConfigDict(extra="allow")

    format: int
    publication: str
    partition: str
    guarantee: dict[str, int | float]
    table: str
    quasi: tuple[str, ...]
    sensitive: str | None = None  # none where every column is sensitive
    group: str
    count: str
    row: str
    rows: int
    groups: int
    people: int | None = None  # how many people the rows are of, where these may have several
    person: str | None = None  # and the column that numbers them
    missing_sensitive: Literal["error", "value", "withhold"]
    for_publication: bool
    harmless: tuple[bool | int | float | str, ...] | None = None  # values that need no protection, if any do not
    # Of (k,e): the largest share of a group that holds one value, rounded up to 1 in 10,000; harmless ones are no part.
    largest_share: float | None = None
    suppression: float | None = None  # the share of rows that the policy allowed to be left out
    cuts: Literal["blind"] | None = None  # not fitted to the values of the parts, as all were that do not say so
    randomness: Randomness | None = None  # nothing is said where none of them is surely so, nor by older releases
    cells: tuple[int, ...] | None = None  # how many groups each cell has, in the order of the groups' numbers
    estimator: Estimator | None = None  # what `ask` estimates by unless told otherwise, where it has a choice
    plausible: PlausibleTables | None = None
    window: Window | None = None
    boxes: tuple[BoxColumn, ...] | None = None
    join: Join | None = None
    sequence: str | None = None  # the random name of the sequence that it is one of, if any
    growth: Literal["insert"] | None = None  # of a vault whose groups take in rows after they were released
    lots: int | None = None  # of a vault whose people may have several rows: in how many lots somebody may have some
    predecessor: str | None = None  # the digest of the manifest of the release before it in that sequence

    @property
    def sensitive_column(self) -> str:
        """The sensitive column of a publication that must have one."""
        if self.sensitive is None:
            raise ReleaseError("the release has no sensitive column", hint="get a new copy from whoever published it")
        return self.sensitive

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are published: the quasi-identifiers, and the sensitive one if there is one."""
        return self.quasi if self.sensitive is None else (*self.quasi, self.sensitive)

    @property
    def shown(self) -> tuple[str, ...]:
        """What stands on a row as it is: the quasi-identifiers, and whose it is where people may have several."""
        return self.quasi if self.person is None else (*self.quasi, self.person)

    def member(self, kind: type[Member], name: str | None = None) -> Member:
        """What the manifest says of its publication alone, under the publication's name or another."""
        found = getattr(self, name or self.publication, None)
        try:
            return found if isinstance(found, kind) else kind.model_validate(found)
        except ValidationError:
            raise ReleaseError(
                f"the manifest does not say what `{self.publication}` needs",
                hint="get a new copy from whoever published it",
            ) from None

    @property
    def about(self) -> str:
        """How many rows there are, and of how many people."""
        if self.lots is not None:
            return f"{self.rows} rows of people who may have several"
        return f"{self.rows} people" if self.people is None else f"{self.rows} rows of {self.people} people"

    def told(self) -> str:
        """The guarantee in a line."""
        promises = (f"{name} = {threshold}" for name, threshold in self.guarantee.items())
        return (", ".join(promises) or "no guarantee") + (f" (harmless: {self.spared})" if self.harmless else "")

    @property
    def spared(self) -> str:
        """The harmless values as people read them."""
        return " or ".join(json.dumps(value).replace("`", "'") for value in self.harmless or ())

    def told_share(self) -> str:
        """The largest share in words."""
        share = self.largest_share or 0
        among = f" who do not hold {self.spared}" if self.harmless else ""
        sure = ": the value of everybody in it is almost certain" if share >= NEARLY_ALL else ""
        return f"in one group, {share:.1%} of those{among} hold the same value{sure}".replace("of those hold", "hold")


class Manifest(_Model):
    """A release as its `datapackage.json` describes it.

    Between `name` and `resources` stands what whoever publishes it says of it; the rest is its `core`.
    """

    schema_: str = Field(SCHEMA, alias="$schema")
    name: str
    id: str | None = None
    title: str | None = None
    description: str | None = None
    homepage: str | None = None
    version: str | None = None
    created: str | None = None
    image: str | None = None
    keywords: tuple[str, ...] | None = None
    licenses: tuple[dict[str, Any], ...] | None = None
    contributors: tuple[dict[str, Any], ...] | None = None
    sources: tuple[dict[str, Any], ...] | None = None
    resources: tuple[Resource, ...]
    discreet: Promise

    def resource(self, name: str) -> Resource:
        return next(resource for resource in self.resources if resource.name == name)

    @property
    def described(self) -> dict[str, Any]:
        """What whoever publishes it says of it."""
        return {key: value for key in DESCRIPTIVE if (value := getattr(self, key)) is not None}

    def core(self) -> Manifest:
        """The same without that: what was published and what is promised."""
        return self.model_copy(update=dict.fromkeys(DESCRIPTIVE))

    def to_json(self) -> str:
        return self.model_dump_json(indent=2, by_alias=True, exclude_none=True) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a release; say plainly what is wrong with a folder that is none."""
        if not folder.is_dir():
            raise ReleaseError(f"there is no release `{folder}`", hint="name the folder that `discreet publish` made")
        try:
            values: Any = json.loads(content(folder / NAME, most=MOST).decode())
        except FileNotFoundError:
            raise ReleaseError(f"`{folder}` is not a release: it has no `{NAME}`") from None
        except (OSError, ValueError, RecursionError):
            raise ReleaseError(
                f"`{folder}` has a `{NAME}` that cannot be read", hint="get a new copy from whoever published it"
            ) from None
        promise = values.get("discreet") if isinstance(values, dict) else None
        version = promise.get("format") if isinstance(promise, dict) else None
        if isinstance(version, int) and version > FORMAT:
            raise ReleaseError(
                f"`{folder}` has format version {version}, newer than the {FORMAT} this software knows",
                hint="upgrade discreet",
            )
        try:
            manifest = cls.model_validate(values)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
        else:
            more = sorted((manifest.discreet.model_extra or {}).keys() - {manifest.discreet.publication})
            if not more:
                return manifest
            where = f"discreet.{more[0]}"
        raise ReleaseError(
            f"`{folder}` has a `{NAME}` with something missing or unexpected at `{where}`",
            hint="get a new copy from whoever published it",
        )


def paths_of(name: str, files: int, format: str = "parquet") -> tuple[str, ...]:
    """How the files of a table are called: as it is, or numbered if there are several."""
    return (f"{name}.{format}",) if files == 1 else tuple(f"{name}-{part:05}.{format}" for part in range(1, files + 1))


def format_of(resources: Iterable[Resource]) -> int:
    """The version of the format that these tables need."""
    return FORMAT if any(resource.in_parts for resource in resources) else WHOLE


DESCRIPTIVE = tuple(name for name in Manifest.model_fields if name not in {"schema_", "name", "resources", "discreet"})


def slug(name: str) -> str:
    """A table's name in the letters that a package's name may have."""
    return "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in name.lower()).strip("-") or "release"
