"""Charts as inline SVG: a few marks whose places are shares of the width, so that text keeps its size on any page.

Colours are those of the page, light or dark, and no chart needs them: marks differ in shape, and figures stand in a
table beside each chart. Every chart has a title and a description for those who do not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from discreet.report.markup import Html, joined, tag

LANE = 46  # pixels of a line of marks, and of the name above it
BAR = 18
PLOT = 150  # the height of a histogram or of lines
AXIS = 26
WIDEST = 0.92  # of the width, for the end of a scale
BESIDE = 0.68  # the same where figures stand beside the marks
FEWEST = 10  # columns that a histogram has room for, however few it has
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
Shape: TypeAlias = Literal["dot", "diamond", "triangle", "square"]
SHAPES: dict[Shape, str] = {
    "dot": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "diamond": "M0-6L6 0L0 6L-6 0z",
    "triangle": "M-6-5H6L0 6z",
    "square": "M-4.5-4.5h9v9h-9z",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A share on a lane, and between what it lies, if that is known."""

    share: float
    shape: Shape
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """A line of marks with its name; the last mark is drawn over the others."""

    name: str
    marks: tuple[Mark, ...]


def lanes(title: str, described: str, lines: Sequence[Lane]) -> Html:
    """Shares side by side on one scale: a lane for each name."""
    reach = _reach([end for line in lines for mark in line.marks for end in (mark.share, mark.high or 0)])
    height = LANE * len(lines) + AXIS
    drawn = [_grid(reach, height - AXIS)]
    for number, line in enumerate(lines):
        top = number * LANE
        drawn.append(tag("text", line.name, x="0", y=str(top + 16), class_="label"))
        drawn += [_mark(mark, reach, top + 32) for mark in line.marks]
    return _svg(title, described, height, drawn)


def key(entries: Sequence[tuple[Shape, str]]) -> Html:
    """What the shapes stand for."""
    items = (
        tag("li", tag("svg", _shape(shape), width="14", height="14", viewBox="-7 -7 14 14", aria_hidden="true"), told)
        for shape, told in entries
    )
    return tag("ul", *items, class_="key")


def bars(title: str, described: str, rows: Sequence[tuple[str, Sequence[tuple[str, float | None]]]]) -> Html:
    """For each name a bar per series, such as before and after, with its share beside it."""
    many = max(len(series) for _, series in rows)
    reach = _reach([share or 0 for _, series in rows for _, share in series])
    lane = 22 + BAR * many + 8
    drawn = []
    for number, (name, series) in enumerate(rows):
        drawn.append(tag("text", name, x="0", y=str(number * lane + 16), class_="label"))
        for place, (told, share) in enumerate(series):
            y = number * lane + 22 + place * BAR
            width = _at((share or 0) / reach, BESIDE)
            drawn.append(tag("rect", x="0", y=str(y), width=width, height=str(BAR - 4), class_=f"bar series-{place}"))
            figure = f"{told}: {_share(share)}"
            drawn.append(tag("text", figure, x=width, dx="6", y=str(y + 11), class_="beside"))
    return _svg(title, described, lane * len(rows), drawn)


def histogram(title: str, described: str, columns: Sequence[tuple[str, float]], axis: str) -> Html:
    """How often each of a few sizes occurs."""
    most, width = max(height for _, height in columns), 100 / max(len(columns), FEWEST)
    every = -(-len(columns) // 8)  # more names would touch on a narrow page
    drawn = []
    for number, (name, height) in enumerate(columns):
        tall = PLOT * height / most
        place = {"x": f"{number * width + width * 0.08:.3f}%", "width": f"{width * 0.84:.3f}%"}
        drawn.append(tag("rect", y=f"{20 + PLOT - tall:.1f}", height=f"{tall:.1f}", class_="bar series-0", **place))
        if number % every == 0:
            x = f"{(number + 0.5) * width:.3f}%"
            drawn.append(tag("text", name, x=x, y=str(PLOT + 36), class_="tick", text_anchor="middle"))
    drawn.append(tag("text", f"{most:,.0f}", x="0", y="12", class_="tick"))
    drawn.append(tag("text", axis, x="50%", y=str(PLOT + 54), class_="tick", text_anchor="middle"))
    drawn.append(tag("line", x1="0", x2="100%", y1=str(PLOT + 20), y2=str(PLOT + 20), class_="axis"))
    return _svg(title, described, PLOT + 62, drawn)


def lines(title: str, described: str, series: Sequence[tuple[str, Sequence[tuple[float, float]]]], axis: str) -> Html:
    """A line for each series of thresholds and shares; thresholds stand at equal distances."""
    places = sorted({x for _, points in series for x, _ in points})
    reach = _reach([y for _, points in series for _, y in points])
    at = {x: 8 + 84 * (i / max(len(places) - 1, 1)) for i, x in enumerate(places)}
    drawn = [tag("line", x1="0", x2="100%", y1=str(PLOT + 20), y2=str(PLOT + 20), class_="axis")]
    drawn += [
        tag("text", f"{x:,g}", x=f"{at[x]:.2f}%", y=str(PLOT + 38), class_="tick", text_anchor="middle") for x in places
    ]
    for number, (_, points) in enumerate(series):
        ends = [(f"{at[x]:.2f}%", f"{20 + PLOT * (1 - y / reach):.1f}") for x, y in points]
        drawn += [
            tag("line", x1=a, y1=b, x2=c, y2=d, class_=f"line series-{number}") for (a, b), (c, d) in pairwise(ends)
        ]
        shape = [*SHAPES][number % len(SHAPES)]
        drawn += [_placed(_shape(shape), x, y) for x, y in ends]
        drawn += [
            tag("text", _share(y), x=x, y=str(float(to) - 10), class_="beside", text_anchor="middle")
            for (x, to), (_, y) in zip(ends, points, strict=True)
        ]
    drawn.append(tag("text", axis, x="50%", y=str(PLOT + 54), class_="tick", text_anchor="middle"))
    return _svg(title, described, PLOT + 62, drawn)


def _svg(title: str, described: str, height: int, drawn: Sequence[Html]) -> Html:
    inside = joined([tag("title", title), tag("desc", described), *drawn])
    return tag(
        "figure",
        tag("figcaption", title),
        tag("svg", inside, role="img", width="100%", height=str(height), aria_label=f"{title}. {described}"),
        class_="chart",
    )


def _grid(reach: float, height: int) -> Html:
    """Lines at round shares, and the shares below them."""
    step = next((each for each in STEPS if reach / each <= 5), 1.0)
    drawn = []
    for number in range(int(reach / step + 1e-9) + 1):
        x = _at(number * step / reach)
        drawn.append(tag("line", x1=x, x2=x, y1="0", y2=str(height), class_="grid"))
        anchor = "start" if number == 0 else "middle"
        drawn.append(tag("text", f"{number * step:.0%}", x=x, y=str(height + 18), class_="tick", text_anchor=anchor))
    return joined(drawn)


def _mark(mark: Mark, reach: float, y: int) -> Html:
    between = Html("")
    if mark.low is not None and mark.high is not None:
        ends = {"x1": _at(mark.low / reach), "x2": _at(mark.high / reach), "y1": str(y), "y2": str(y)}
        between = tag("line", class_="interval", **ends)
    return joined([between, _placed(_shape(mark.shape), _at(mark.share / reach), str(y))])


def _placed(shape: Html, x: str, y: str) -> Html:
    """A shape at a share of the width: a picture of its own, since paths know no shares."""
    return tag("svg", shape, x=x, y=y, overflow="visible", width="1", height="1")


def _shape(shape: Shape) -> Html:
    return tag("path", d=SHAPES[shape], class_=f"mark {shape}")


def _reach(shares: Sequence[float]) -> float:
    """The end of the scale: a round share that holds all of them, at most 1 unless one is larger."""
    most = max(shares, default=0.0)
    step = next((each for each in STEPS if most / each <= 5), 1.0)
    return max(step * -(-most // step), step)


def _at(share: float, widest: float = WIDEST) -> str:
    """A place on the scale, as a share of the width."""
    return f"{100 * widest * min(share, 1):.3f}%"


def _share(share: float | None) -> str:
    return "not known" if share is None else f"{share:.1%}"
