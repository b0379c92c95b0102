"""A release in DCAT, which catalogues of open data read, as JSON-LD.

Source: W3C, "Data Catalog Vocabulary (DCAT) - Version 3"; sums as in DCAT-AP, the profile of European portals.
"""

from __future__ import annotations

from typing import Any

from discreet.release.manifest import Manifest, Resource
from discreet.release.portals import facts

CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
MEDIA_TYPES = "https://www.iana.org/assignments/media-types/"


def dcat(manifest: Manifest) -> dict[str, Any]:
    """The description of a release."""
    about = {
        "@context": CONTEXT,
        "@id": ".",
        "@type": "dcat:Dataset",
        "dct:title": facts.title(manifest),
        "dct:description": facts.description(manifest),
        "dct:provenance": {"@type": "dct:ProvenanceStatement", "dct:description": facts.protocol(manifest)},
        "dct:conformsTo": {"@id": manifest.schema_},
        "dcat:version": manifest.version or facts.FIRST,
        "dct:issued": _typed(manifest.created and manifest.created[:10], "xsd:date"),
        "dct:bibliographicCitation": facts.citation(manifest),
        "dcat:keyword": list(manifest.keywords) if manifest.keywords else None,
        "dcat:landingPage": manifest.homepage and {"@id": manifest.homepage},
        "dcat:contactPoint": _contact(manifest),
        "dcat:distribution": [
            _distribution(manifest, resource, *file)
            for resource in manifest.resources
            for file in zip(resource.paths, resource.digests, strict=True)
        ],
    }
    return _told(about)


def _distribution(manifest: Manifest, resource: Resource, path: str, digest: str) -> dict[str, Any]:
    licence, bytes_ = facts.licence(manifest), resource.bytes
    about = {
        "@type": "dcat:Distribution",
        "dct:title": path,
        "dcat:accessURL": {"@id": path},
        "dcat:downloadURL": {"@id": path},
        "dcat:mediaType": {"@id": MEDIA_TYPES + facts.MEDIA[resource.format]},
        "dcat:byteSize": _typed(None if bytes_ is None else str(bytes_), "xsd:nonNegativeInteger"),
        "dct:license": {"@id": licence} if licence is not None and "://" in licence else licence,
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": _typed(digest.removeprefix("sha256:"), "xsd:hexBinary"),
        },
    }
    return _told(about)


def _contact(manifest: Manifest) -> dict[str, Any] | None:
    who = next(iter(manifest.contributors or ()), None)
    if who is None:
        return None
    mail, page = who.get("email"), who.get("path")
    about = {
        "@type": "vcard:Kind",
        "vcard:fn": who.get("title"),
        "vcard:hasEmail": mail and {"@id": f"mailto:{mail}"},
        "vcard:hasURL": page and {"@id": page},
    }
    return _told(about)


def _typed(value: str | None, type_: str) -> dict[str, str] | None:
    return None if not value else {"@type": type_, "@value": value}


def _told(about: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in about.items() if value}
