"""A copy of a release, and the means to change it so that only the change itself can give it away."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from discreet.release.files import digest
from discreet.release.layouts import manifest_fault
from discreet.release.manifest import Manifest
from discreet.release.readme import readme


@dataclass(frozen=True)
class Forger:
    """The folder of a copy, and by which columns the rows of its files are sorted."""

    path: Path
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def table(self, name):
        return pq.read_table(self.path / f"{name}.parquet")

    def put(self, name, table, *, notes=False):
        """Write a data file anew and mend its size and digest in the manifest."""
        pq.write_table(table, self.path / f"{name}.parquet", store_schema=notes)
        self.mend()

    def change(self, name, act):
        """Change a data file as a table."""
        self.put(name, act(self.table(name)))

    def rows(self, name, change, *, sort=True):
        """Change the rows of a data file, given and returned as dictionaries; they are sorted again."""
        table = self.table(name)
        rows = change(table.to_pylist())
        if sort:
            rows = sorted(rows, key=lambda row: [(row[key] is None, row[key]) for key in self.keys[name]])
        self.put(name, pa.Table.from_pylist(rows, schema=table.schema))

    def mend(self):
        def change(manifest):
            for resource in manifest["resources"]:
                if isinstance(resource["path"], list):
                    resource["hashes"] = [digest(self.path / path) for path in resource["path"]]
                    continue
                path = self.path / resource["path"]
                resource["bytes"], resource["hash"] = path.stat().st_size, digest(path)

        self.manifest(change)

    def manifest(self, change):
        """Change the manifest in place, and make the README the one that belongs to it."""
        path = self.path / "datapackage.json"
        values = json.loads(path.read_text())
        change(values)
        try:
            manifest = Manifest.model_validate(values)
        except ValidationError:
            path.write_text(json.dumps(values, indent=2))
            return
        path.write_text(manifest.to_json())
        if manifest_fault(manifest) is None:
            (self.path / "README.md").write_text(readme(manifest))

    def promise(self, **changes):
        self.manifest(lambda values: values["discreet"].update(changes))

    def window(self, **changes):
        self.manifest(lambda values: values["discreet"]["window"].update(changes))

    def text(self, name, change):
        """Change the text of a file."""
        path = self.path / name
        path.write_text(change(path.read_text()))
