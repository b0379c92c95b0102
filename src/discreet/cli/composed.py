"""Print what several releases that show rows tell together: for `discreet audit` with more than one."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from discreet.cli import show
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.audit.composition.report import Composed


def as_plain(found: Composed) -> dict[str, Any]:
    """What goes into JSON: all but the people one by one."""
    plain = asdict(replace(found, linked=None))
    del plain["linked"]
    return {"ok": found.ok, **plain}


def as_text(found: Composed) -> None:
    """Print a table of releases, what one of them gives beside what all give, and what it means."""
    same, alike = "everybody in one is in every larger one", "who agrees in all columns is taken to be the same"
    knows = same if found.same_people else alike
    print(f"{len(found.releases)} releases that show rows; {knows}\n")
    show.as_table(
        ["release", "rows", "groups", "promised", "largest share"],
        [
            [str(of.release), f"{of.rows:,}", f"{of.groups:,}", _told(of.guarantee), f"{of.posterior:.1%}"]
            for of in found.releases
        ],
    )
    columns = ", ".join(f"`{name}`" for name in found.quasi)
    print(f"\n{counted(found.people, 'person', 'people')} recognised in two or more of them by {columns}\n")
    if found.people:
        show.as_table(["", "one release", "all together"], _rows(found))
        print()
    _print_notes(found)
    if found.ok:
        told = _told(found.promise)
        more = f"tell of nobody more than {told} allows" if told else "leave nobody one value for whom each leaves more"
        print(f"nothing: together they {more}")
    else:
        if_so = "" if found.same_people else ", if they are in those releases"
        verb = "is" if found.vulnerable == 1 else "are"
        print(f"{counted(found.vulnerable, 'person', 'people')} {verb} given away{if_so}: {_promise(found)}")


def _rows(found: Composed) -> list[list[str]]:
    rows = [
        ["people with one value left", f"{found.pinned_alone:,}", f"{found.pinned:,}"],
        ["likeliest value of anybody", f"{found.posterior_alone:.1%}", f"{found.posterior:.1%}"],
        ["likeliest value, on average", f"{found.guess_alone:.1%}", f"{found.guess:.1%}"],
    ]
    if found.span is not None:
        rows.append(["shortest range of anybody", f"{found.promise['e']:,} or more", f"{found.span:,g}"])
    return rows


def _print_notes(found: Composed) -> None:
    if found.truth is not None:
        print(
            f"by the truth, {found.truth.pinned:,} of {found.pinned:,} with one value left have it;"
            f" the likeliest value is that of {found.truth.guessed:,} of {found.people:,}"
        )
    if found.impossible:
        print(
            f"{counted(found.impossible, 'person has', 'people have')} no possible value left:"
            " it is somebody else in the other release, or the value has changed"
        )
    if found.same_people and not found.counted:
        print("how many people hold a value was not counted: values changed, or there are too many cases")


def _promise(found: Composed) -> str:
    told = _told(found.promise)
    return f"more is told of them than {told} allows" if told else "one value is left"


def _told(guarantee: dict[str, int | float]) -> str:
    return ", ".join(f"{name} = {threshold:,}" for name, threshold in guarantee.items())
