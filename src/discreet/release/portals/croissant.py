"""A release in Croissant, which repositories of data for machine learning read, with its fields on responsible AI.

Source: MLCommons, "Croissant format specification", version 1.1, and "Croissant RAI", version 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.release.manifest import Manifest, Resource
from discreet.release.portals import facts

TYPES = {
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "string": "sc:Text",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "time": "sc:Time",
}
CONFORMS = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_OWN = (
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileProperty"),
    *("fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
    *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator"),
    *("source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{word: f"cr:{word}" for word in _OWN},
}


def croissant(manifest: Manifest) -> dict[str, Any] | None:
    """The description of a release; none if its licence or its date is not stated, since Croissant requires them."""
    if not (facts.licence(manifest) and manifest.created):
        return None
    about = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS),
        "name": facts.title(manifest),
        "description": facts.description(manifest),
        "license": facts.licence(manifest),
        "url": manifest.homepage,
        "version": manifest.version or facts.FIRST,
        "datePublished": manifest.created[:10],
        "keywords": list(manifest.keywords) if manifest.keywords else None,
        "creator": _creator(manifest),
        "citeAs": facts.citation(manifest),
        "isLiveDataset": False,
        "rai:personalSensitiveInformation": list(facts.personal(manifest)),
        "rai:dataPreprocessingProtocol": [facts.protocol(manifest)],
        "rai:dataLimitations": list(facts.limitations(manifest)),
        "rai:dataUseCases": ["Questions about many people: counts, sums, averages, and models fitted to them."],
        "rai:dataSocialImpact": "Whoever uses the files to find out what holds of a single person misuses them.",
        "rai:dataReleaseMaintenancePlan": "A release is never changed; what comes later is a release of its own.",
        "distribution": [file for resource in manifest.resources for file in _files(resource)],
        "recordSet": [_records(resource) for resource in manifest.resources],
    }
    return {key: value for key, value in about.items() if value is not None}


def _creator(manifest: Manifest) -> dict[str, Any] | None:
    who = next(iter(manifest.contributors or ()), {})
    found = {"name": who.get("title"), "email": who.get("email"), "url": who.get("path")}
    told = {key: value for key, value in found.items() if value}
    return {"@type": "sc:Organization", **told} if told else None


def _files(resource: Resource) -> Iterator[dict[str, Any]]:
    """Every file; and the parts of a table as a set of files, from which its records come."""
    encoding = "application/x-parquet" if resource.format == "parquet" else "text/csv"
    for path, digest in zip(resource.paths, resource.digests, strict=True):
        about = {
            "@type": "cr:FileObject",
            "@id": path,
            "name": path,
            "contentUrl": path,
            "encodingFormat": encoding,
            "sha256": digest.removeprefix("sha256:"),
        }
        yield about if resource.bytes is None else {**about, "contentSize": f"{resource.bytes} B"}
    if resource.in_parts:
        parts = {"@type": "cr:FileSet", "@id": resource.pattern, "name": resource.pattern}
        yield {**parts, "encodingFormat": encoding, "includes": resource.pattern}


def _records(resource: Resource) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": resource.name, "name": resource.name, "field": list(_fields(resource))}


def _fields(resource: Resource) -> Iterator[dict[str, Any]]:
    """The columns; they are numbered, since a name may hold signs that no identifier has."""
    linked = {
        key.fields[0]: f"{key.reference.resource}/{key.reference.fields[0]}"
        for key in resource.table.foreign_keys or ()
    }
    source = "fileSet" if resource.in_parts else "fileObject"
    for number, field in enumerate(resource.table.fields, start=1):
        about = {
            "@type": "cr:Field",
            "@id": f"{resource.name}/{number}",
            "name": field.name,
            "dataType": TYPES[field.kind],
            "source": {source: {"@id": resource.pattern}, "extract": {"column": field.name}},
        }
        if field.name in linked:
            about["description"] = f"Its values stand in {linked[field.name]}."
        yield about
