"""The import rules that turn the waist into a check: who may see raw rows, and who may touch a driver."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
PRIVATE = {
    *("table", "policy", "guarantees", "hierarchies", "partition", "publication", "vault", "warnings", "experiments")
}
# A layer may import, at any depth of its modules' imports, nothing of these layers.
FORBIDDEN = {
    "values": PRIVATE | {"words", "risk", "engines", "release", "answer", "learn", "audit", "comparison", "cli"},
    "errors": PRIVATE | {"values", "engines", "release", "answer", "learn", "audit", "cli"},
    "words": PRIVATE | {"values", "engines", "release", "answer", "learn", "audit", "cli"},
    "visible": PRIVATE | {"values", "engines", "release", "answer", "learn", "audit", "cli"},
    "scratch": PRIVATE | {"values", "engines", "release", "answer", "learn", "audit", "cli"},
    "risk": PRIVATE | {"engines", "release", "answer", "learn", "audit", "comparison", "cli"},
    "engines": PRIVATE | {"release", "answer", "learn", "audit", "cli"},
    "table": (PRIVATE - {"table"}) | {"release", "answer", "learn", "audit", "cli"},
    "hierarchies": (PRIVATE - {"hierarchies"}) | {"engines", "release", "answer", "learn", "audit", "cli"},
    "guarantees": (PRIVATE - {"guarantees"}) | {"release", "answer", "learn", "audit", "cli"},
    "partition": (PRIVATE - {"partition", "guarantees"}) | {"release", "answer", "learn", "audit", "cli"},
    "policy": {"table", "answer", "audit", "vault", "cli"},
    "publication": {"vault", "cli"},  # it audits a release beside earlier ones before it appears
    "warnings": {"vault", "comparison", "cli"},  # they attack groups before these are written
    "vault": {"cli"},  # it audits a release before it appears
    "release": PRIVATE | {"comparison", "audit", "cli"},
    "answer": PRIVATE | {"comparison", "audit", "cli"},
    "learn": PRIVATE | {"comparison", "audit", "cli"},
    "audit": PRIVATE | {"comparison", "report", "cli"},
    "report": PRIVATE | {"comparison", "cli"},
}
# How groups are formed is no secret, so who attacks may know it, too: this module alone may run what sees codes only.
# Behind that door nothing is private but these rooms, since neither may reach a table, a policy or a publication.
DOORS = {("audit", "discreet.audit.replay.played"): {"partition", "guarantees"}}
DRIVERS = {
    "duckdb": "discreet.engines.duckdb",
    "psycopg": "discreet.engines.postgres",
    "pyspark": "discreet.engines.spark",
    "py4j": "discreet.engines.spark",
    "sqlite3": "discreet.vault.store.file",
}


def modules(source: Path) -> dict[str, Path]:
    """Every module of the package and its file."""
    found = {}
    for path in sorted((source / "discreet").rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[tuple[str, bool]]:
    """The modules that a file imports, and whether it does so for types only."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for level, module, names, for_types in statements(path.read_text(encoding="utf-8")):
        home = package[: len(package) - level + 1] if level else []
        source = ".".join([*home, *([module] if module else [])])
        for each in names or (source,):
            found = f"{source}.{each}"
            yield (found if names and found in known else source), for_types


@cache
def statements(text: str) -> list[tuple[int, str, tuple[str, ...], bool]]:
    """The imports of a module: how many packages up, from what, which names, and whether for types only."""
    tree = ast.parse(text)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found: list[tuple[int, str, tuple[str, ...], bool]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, (), id(node) in for_types) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append((node.level, node.module or "", names, id(node) in for_types))
        elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func) and node.args:
            [first, *_] = node.args
            if isinstance(first, ast.Constant):
                found.append((0, str(first.value), (), id(node) in for_types))
    return found


def layer(module: str) -> str:
    """The room a module is in."""
    return module.split(".")[1] if "." in module else ""


def faults(source: Path = SOURCE) -> list[str]:
    """Every import that breaks a rule, directly or through other modules."""
    known = modules(source)
    edges = {name: {found for found, typed in imports(name, path, known) if not typed} for name, path in known.items()}
    wrong = []
    for name in known:
        for driver, home in DRIVERS.items():
            if (
                name != home
                and not name.startswith(f"{home}.")
                and any(found.split(".")[0] == driver for found in edges[name])
            ):
                wrong.append(f"{name} imports the driver {driver}; only {home} may")
        reached, waiting = set(), [name]
        while waiting:
            at = waiting.pop()
            opened = DOORS.get((layer(name), at), set())
            for found in edges.get(at, ()):
                if found in known and found not in reached and layer(found) not in opened:
                    reached.add(found)
                    waiting.append(found)
        banned = FORBIDDEN.get(layer(name), set())
        if banned and "discreet" in edges[name]:
            wrong.append(f"{name} imports the front door, behind which everything lies")
        wrong += [f"{name} reaches {found}" for found in sorted(reached) if layer(found) in banned]
    return wrong


if __name__ == "__main__":
    found = faults()
    print("\n".join(found) or "imports: every layer keeps to its side of the waist")
    sys.exit(1 if found else 0)
