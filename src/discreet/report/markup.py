"""HTML in small pieces: text is escaped unless it is a piece itself, so that nothing from outside is ever markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from discreet.visible import visible

LONGEST = 240  # signs of a name or a text from outside; all of it stands in the JSON
ALONE = {"br", "meta", "rect", "line", "circle", "path"}


class Html(str):
    """A text that is markup already."""

    __slots__ = ()


def text(value: object) -> Html:
    """A text as it is shown: nothing in it is markup, or steers the page."""
    return value if isinstance(value, Html) else Html(escape(visible(str(value)).replace("\n", "\\n")))


def name(value: str) -> Html:
    """A name that came from outside: of any script, its direction its own, shortened if it is very long."""
    short = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    return tag("bdi", short, class_="name")


def tag(kind: str, *inside: object, **attributes: object) -> Html:
    """An element; an attribute is left out if it is None, and `aria_label` is written `aria-label`."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if kind in ALONE and not inside:
        return Html(f"<{kind}{told}/>" if kind not in {"br", "meta"} else f"<{kind}{told}>")
    return Html(f"<{kind}{told}>{''.join(map(text, inside))}</{kind}>")


def joined(pieces: Iterable[object]) -> Html:
    return Html("".join(map(text, pieces)))


def listed(items: Iterable[object], **attributes: object) -> Html:
    return tag("ul", *(tag("li", item) for item in items), **attributes)


def marked(sentence: str) -> Html:
    """A sentence in which names stand in backticks, as messages have them: they are shown as code."""
    parts = sentence.split("`")
    if len(parts) % 2 == 0:  # a name has a backtick in it: shown as it is
        return text(sentence)
    return joined(tag("code", part) if number % 2 else part for number, part in enumerate(parts))


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1) -> Html:
    """A table whose first `left` columns are flush left and the others figures; on a narrow page each row is a card."""
    head = tag("tr", *(tag("th", each, scope="col", class_=_side(i, left)) for i, each in enumerate(columns)))
    body = [
        tag(
            "tr",
            *(
                tag("th", cell, scope="row")
                if i == 0
                else tag("td", cell, class_=_side(i, left), data_label=columns[i])
                for i, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    return tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))


def _side(column: int, left: int) -> str | None:
    return None if column < left else "figure"
