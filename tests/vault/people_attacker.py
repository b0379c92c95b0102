"""An attacker who knows of everybody in which group each lot put them, and how many rows they have there.

That is more than the files of a vault show. It shares nothing with the vault but the database, from which it reads who
is where and how often each value occurs in a group, and takes all ways to hand these out for equally likely. That
somebody holds a value in none of r rows of a group of n, c of which hold it, has then the probability
C(n - c, r) / C(n, r); and groups of different lots are dealt independently of each other.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations
from math import comb


def surest(folder):
    """How surely the attacker believes of anybody that they hold some value in some row, over all lots that were shown."""
    connection = sqlite3.connect(folder / "vault.sqlite")
    rows = connection.execute(
        "SELECT rows.node, key, sensitive FROM rows JOIN people USING (id) WHERE published IS NOT NULL"
    ).fetchall()
    connection.close()
    held, own = defaultdict(Counter), defaultdict(Counter)
    for node, key, value in rows:
        held[node][value] += 1
        own[key][node] += 1
    found = Fraction(0)
    for groups in own.values():
        for value in {value for node in groups for value in held[node]}:
            never = Fraction(1)
            for node, r in groups.items():
                never *= nowhere(held[node].total(), held[node][value], r)
            found = max(found, 1 - never)
    return found


def nowhere(n, c, r):
    """The chance that none of r rows of a group of n holds a value that c of them hold."""
    return Fraction(comb(n - c, r), comb(n, r))


def counted(values, value, r):
    """The same by trying all ways to hand values out."""
    ways = list(permutations(values))
    return Fraction(sum(value not in way[:r] for way in ways), len(ways))
