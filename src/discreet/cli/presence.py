"""The part of `discreet audit` that tells how well a full permutation hides people."""

from __future__ import annotations

from typing import Any

from discreet.cli import show

SPREAD = ("least", "lower_quartile", "median", "upper_quartile", "most", "mean")
MEANINGS = {
    "presence": "that a given row of the group is like the person",
    "somebody": "that any row of the group is, at most",
    "disclosure": "that a guess of the value is right, in the group",
    "product": "both",
}


def print_presence(found: dict[str, Any]) -> None:
    """Probabilities over people, and the errors of rebuilt rows."""
    from discreet.answer.answer import measure

    people = (
        f"{found['people']:,} real people" if found["real"] else f"{found['people']:,} published rows, each as a person"
    )
    print(f"\nProbabilities, over {people}:\n")
    show.as_table(
        ["probability", "what it is", *(name.replace("_", " ") for name in SPREAD)],
        [
            [name, meaning, *(measure(found[name][part]) for part in SPREAD)]
            for name, meaning in MEANINGS.items()
            if found[name] is not None
        ],
        left=2,
    )
    print(f"\nPresence of the most exposed person whom any group could hold: {measure(found['largest'])}")
    if found["rce"] is not None:
        print(f"Error of rows rebuilt (RCE): {measure(found['rce'])}, with the bound {measure(found['rce_bound'])};")
        print(f"normalised, so that what is rebuilt adds up to the presence: {measure(found['rce_normalised'])}")
    if found["lone"] is not None:
        print(f"{found['lone']:,} people have quasi-identifiers that only one group could hold")
    if found["absent"]:
        print(f"{found['absent']:,} people of the truth are not in the release")
    if found["real"]:
        print(show.STEWARD)
