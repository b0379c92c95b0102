"""Print, as constraints for pip, the lowest version of every library that `pyproject.toml` says is enough."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest(text: str, extras: tuple[str, ...]) -> list[str]:
    """A line `name==version` for each requirement of the package and of some extras."""
    project = tomllib.loads(text)["project"]
    wanted = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    floors: dict[str, str] = {}
    for line in wanted:
        found = re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)", line)
        if found is None:
            sys.exit(f"`{line}` in pyproject.toml has no plain lowest version; write it as `name>=version`")
        name, version = found.groups()
        if floors.setdefault(name, version) != version:
            sys.exit(f"`{name}` has two lowest versions in pyproject.toml, {floors[name]} and {version}; write one")
    return [f"{name}=={version}" for name, version in sorted(floors.items())]


if __name__ == "__main__":
    print("\n".join(lowest(PROJECT.read_text(encoding="utf-8"), tuple(sys.argv[1:]))))
