"""An attacker with nothing but the files of releases and plain sets: independent of the auditor that it checks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pyarrow.parquet as pq


def rows_and_values(folder):
    """The rows of a release as (quasi-identifiers, group), and the values of each group."""
    about = json.loads((folder / "datapackage.json").read_text())["discreet"]
    quasi, group, sensitive = about["quasi"], about["group"], about["sensitive"]
    values = defaultdict(Counter)
    if about["publication"] == "anatomy":
        rows = pq.read_table(folder / "qit.parquet").to_pylist()
        for line in pq.read_table(folder / "st.parquet").to_pylist():
            values[line[group]][line[sensitive]] += line[about["count"]]
    else:
        rows = pq.read_table(folder / "permuted.parquet").to_pylist()
        of = {line[about["row"]]: line[group] for line in pq.read_table(folder / "mapping.parquet").to_pylist()}
        for row in rows:
            row[group] = of[row[about["row"]]]
            values[row[group]][row[sensitive]] += 1
    return [(tuple(row[name] for name in quasi), row[group]) for row in rows], values


def blocks_and_values(folder):
    """The blocks of a sliced release, each with its rows by group, and the values of each group."""
    about = json.loads((folder / "datapackage.json").read_text())["discreet"]
    values, group = defaultdict(Counter), about["group"]
    for line in pq.read_table(folder / "st.parquet").to_pylist():
        values[line[group]][line[about["sensitive"]]] += line[about["count"]]
    blocks = []
    for i, block in enumerate(about["slicing"]["together"], 1):
        held = defaultdict(set)
        for row in pq.read_table(folder / f"block_{i}.parquet").to_pylist():
            held[row[group]].add(tuple(row[name] for name in block))
        blocks.append(([about["quasi"].index(name) for name in block], held))
    return blocks, values


def intersect(*folders):
    """Of all who are in two releases or more: how many at most, and the values that all releases leave, with odds."""
    releases = [rows_and_values(folder) for folder in folders]
    everybody = sum((sum(values.values(), Counter()) for _, values in releases), Counter())
    groups = []
    for rows, _ in releases:
        where = defaultdict(list)
        for person, group in rows:
            where[person].append(group)
        groups.append(where)
    found = {}
    for person in {person for where in groups for person in where}:
        there = [
            (where[person], values) for where, (_, values) in zip(groups, releases, strict=True) if person in where
        ]
        if len(there) < 2:
            continue
        left = set.intersection(*({v for group in mine for v in values[group]} for mine, values in there))
        odds = {}
        for value in left:
            odds[value] = 1.0
            for mine, values in there:
                share = sum(values[g][value] / values[g].total() for g in mine) / len(mine)
                odds[value] *= share / (everybody[value] / everybody.total())
            odds[value] *= everybody[value] / everybody.total()
        total = sum(odds.values())
        people = min(len(mine) for mine, _ in there)
        found[person] = people, {value: odd / total for value, odd in odds.items()}
    return found
