"""The table that the sixty questions are about, its code lists, and a release of it by every publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from docs_sessions import same_chance

import discreet

ROWS = 3_000
GRADES = ("trainee", "junior", "senior", "lead", "manager")
REASONS = ("back pain", "burnout", "covid", "flu", "heart", "injury", "migraine", "stomach", "surgery", "teeth")
QUASI = ("age", "sex", "grade", "dept", "region", "hired", "hours")
DEPARTMENTS = pa.table(
    {
        "dept": [f"D{i:02}" for i in range(1, 9)],
        "name": ["Wards", "Theatre", "Emergency", "Laboratory", "Kitchen", "Accounts", "Night ward", "Transport"],
        "division": ["care", "care", "care", "support", "support", "office", "care", "support"],
    }
)
REGIONS = pa.table(
    {
        "region": ["Northam", "Nordby", "Easton", "Westing", "Southport", "Sandhill"],
        "part": ["north", "north", "east", "west", "south", "south"],
    }
)
CHAPTERS = pa.table(
    {
        "reason": list(REASONS),
        "chapter": [
            "bones",
            "mind",
            "infection",
            "infection",
            "circulation",
            "bones",
            "mind",
            "other",
            "other",
            "other",
        ],
    }
)
CODE_LISTS: Mapping[str, pa.Table] = {"departments": DEPARTMENTS, "regions": REGIONS, "chapters": CHAPTERS}


def staff(rows: int = ROWS, seed: int = 15) -> pa.Table:
    """Invented people of a hospital: with dates, missing values, codes, pay, and why they were last off sick."""
    chance = np.random.default_rng(seed)
    age = np.clip(chance.gamma(9, 4.6, rows), 18, 66).astype(np.int32)
    woman = chance.random(rows) < 0.6
    grade = np.clip(np.floor((age - 18) / 12 + chance.normal(0.4, 0.9, rows)), 0, 4).astype(np.int64)
    dept = chance.choice(8, rows, p=[0.24, 0.1, 0.14, 0.09, 0.08, 0.12, 0.15, 0.08])
    region = chance.choice(6, rows, p=[0.3, 0.1, 0.2, 0.15, 0.15, 0.1])
    hired = np.datetime64("2016-01-01") + (3652 * chance.beta(1.6, 1.1, rows)).astype(np.int64)
    hours = chance.choice([20, 25, 30, 36, 40], rows, p=[0.1, 0.1, 0.15, 0.15, 0.5]).astype(np.int32)
    worth = 10.15 + 0.2 * grade + 0.004 * (age - 18) - 0.07 * woman + 0.12 * np.isin(dept, [1, 5])
    pay = np.exp(worth + 0.6 * np.log(hours / 40) + chance.normal(0, 0.22, rows))
    likely = np.array([0.9, 0.5, 0.5, 0.9, -0.4, 0.1, 0.4, 0.3, 0.1, 0.2]) + np.outer(age - 40, _BY_AGE)
    likely[np.isin(dept, [2, 6])] += np.array([0.2, 0.7, 0, 0, 0, 0.8, 0, 0, 0, 0])
    reason = np.argmax(likely + chance.gumbel(size=likely.shape), axis=1)
    return pa.table(
        {
            "number": pa.array([f"E{i:05}" for i in chance.permutation(rows)]),
            "age": age,
            "sex": pa.array(["m", "f"]).take(pa.array(woman.astype(np.int64))),
            "grade": pa.array(GRADES).take(pa.array(grade)),
            "dept": DEPARTMENTS["dept"].combine_chunks().take(pa.array(dept)),
            "region": REGIONS["region"].combine_chunks().take(pa.array(region, mask=chance.random(rows) < 0.04)),
            "hired": pa.array(hired.astype("datetime64[D]")),
            "hours": pa.array(hours, mask=chance.random(rows) < 0.03),
            "salary": (np.round(pay / 500) * 500).astype(np.int32),
            "reason": pa.array(REASONS).take(pa.array(reason)),
        }
    )


_BY_AGE = np.array([0.01, -0.01, 0, -0.01, 0.05, -0.01, -0.02, 0, 0.02, 0])

# How the table is published.
POLICIES: Mapping[str, Mapping[str, Any]] = {
    "anatomy": {"publication": "anatomy", "guarantee": {"l": 4}},
    "mixed": {"publication": "anatomy", "guarantee": {"l": 4}, "partition": "mixed"},
    "permutation": {"publication": "permutation", "guarantee": {"l": 4}},
    "slicing": {
        "publication": "slicing",
        "guarantee": {"l": 4},
        "together": [["age", "grade", "hired"], ["sex", "hours"], ["dept", "region"]],
    },
    "full_permutation": {"publication": "full_permutation", "guarantee": {"l": 4}},
    "generalization": {"publication": "generalization", "guarantee": {"k": 5, "l": 3}},
    "join": {
        "publication": "join",
        "guarantee": {"k": 8, "l": 3},
        "join": "number",
        "partition": "mondrian",
        "options": {"variant": "refinement"},
    },
    "swap": {"publication": "swap", "guarantee": {"k": 4, "e": 2_000}},
}
NUMBERS_ONLY = ("permutation", "swap")  # publications that need a sensitive column with an order


@dataclass(frozen=True)
class Asking:
    """Of which release questions are asked, and by what estimator."""

    policy: str
    estimator: str | None = None

    @property
    def sensitive(self) -> tuple[str, ...]:
        return ("salary",) if self.policy in NUMBERS_ONLY else ("salary", "reason")


# The columns of the page; the first is shown in full.
ASKED: Mapping[str, Asking] = {
    **{name: Asking(name) for name in POLICIES if name != "mixed"},
    "`design`": Asking("mixed", "design"),
    "`shrunk`": Asking("mixed", "shrunk"),
}


def released(name: str, sensitive: str, to: Path) -> discreet.Release:
    """The table, published as a column of the page says, with the one or the other sensitive column."""
    [other] = {"salary", "reason"} - {sensitive}
    policy = discreet.Policy(
        name="staff",
        identifiers=["number"],
        quasi=QUASI,
        sensitive=sensitive,
        drop=[other],
        **POLICIES[name],
    )
    public = _register() if POLICIES[name]["publication"] == "join" else None
    with same_chance():
        return discreet.publish(staff(), policy, to=to, public=public)


def _register() -> pa.Table:
    """A public register: everybody of the table, and as many others."""
    others = staff(seed=16).set_column(0, "number", pa.array([f"O{i:05}" for i in range(ROWS)]))
    return pa.concat_tables([staff(), others]).drop_columns(["salary", "reason"])
