"""The address of a database, and perhaps of a release in it: user, password and options are never shown."""

from __future__ import annotations

import re
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from discreet.errors import ReleaseError

SCHEME = re.compile(r"postgres(ql)?://")


class Address:
    """A URL as libpq reads it, and the `release` that is meant, which may stand in it behind `#`.

    It is no dataclass: what prints those field by field would print a password.
    """

    __slots__ = ("release", "url")

    def __init__(self, url: str, release: str | None = None) -> None:
        self.url, self.release = url, release

    @classmethod
    def of(cls, place: Any, release: str | None = None) -> Self | None:
        """The address that a text is; None if it is none, but the path of a file or folder."""
        if isinstance(place, cls):
            return place if release is None else cls(place.url, release)
        if not isinstance(place, str) or not SCHEME.match(place):
            return None
        url, _, behind = place.partition("#")
        if release is not None and behind not in ("", release):
            raise ReleaseError("two releases are named", hint="name one: behind `#` in the URL, or by itself")
        return cls(url, release or behind or None)

    @property
    def name(self) -> str:
        """The release that is meant; raise if none is."""
        if not self.release:
            raise ReleaseError(
                "the release in the database is not named", hint="add `--release NAME`, or `#NAME` to the URL"
            )
        return self.release

    @property
    def has_password(self) -> bool:
        """Whether a password stands in the URL, where whoever sees the URL sees it."""
        try:
            parts = urlsplit(self.url)
            return bool(parts.password) or "password" in {key for key, _ in parse_qsl(parts.query)}
        except ValueError:
            return False

    def __repr__(self) -> str:
        return f"<Address {self}>"

    def __str__(self) -> str:
        try:
            parts = urlsplit(self.url)
            host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
            path = parts.path
        except ValueError:
            host, path = "…", ""
        return f"postgresql://{host}{path}" + (f"#{self.release}" if self.release else "")
