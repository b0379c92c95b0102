"""What others make of releases: frictionless, mlcroissant and an RDF parser, in a process of their own.

Started with folders, it prints what each says of each as one JSON document: they are other people's programs, with
warnings and imports of their own.
"""

import json
import sys
from pathlib import Path


def of(folder):
    import mlcroissant
    import rdflib
    from frictionless import validate

    report = validate(str(folder / "datapackage.json"))
    errors, warnings, records = [], [], None
    if (folder / "croissant.json").exists():
        dataset = mlcroissant.Dataset(folder / "croissant.json")
        errors, warnings = sorted(dataset.metadata.issues.errors), sorted(dataset.metadata.issues.warnings)
        records = [next(iter(dataset.records(each.uuid)), None) is not None for each in dataset.metadata.record_sets]
    graph = rdflib.Graph().parse(folder / "dcat.jsonld", format="json-ld")
    told = {str(verb).rsplit("#", 1)[-1].rsplit("/", 1)[-1] for verb in graph.predicates()}
    return {
        "frictionless": [error.message for task in report.tasks for error in task.errors]
        + [error.message for error in report.errors]
        + [*report.warnings, *(warning for task in report.tasks for warning in task.warnings)],
        "errors": errors,
        "warnings": warnings,
        "records": records,
        "dcat": sorted(told),
    }


if __name__ == "__main__":
    print(json.dumps({folder: of(Path(folder)) for folder in sys.argv[1:]}))
