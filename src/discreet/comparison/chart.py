"""The chart of a comparison: how far answers are off, how wide their bounds are, and what the release loses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.comparison.comparison import NOTE, Comparison, Outcome
from discreet.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = (".png", ".svg")
BAR, MARK, GREY, INK = "#4c78a8", "#e4572e", "#8a8a8a", "#222222"
WIDE = 30  # largest figure over smallest beyond which a scale is logarithmic
LEAST = 1e-4  # what a logarithmic scale shows at least


def check(path: Path) -> None:
    """Raise unless a chart can be drawn here: better before the work than after it."""
    if path.suffix.lower() not in FORMS:
        raise InputError(f"`{path.name}` is not a chart", hint="name a file that ends in `.png` or `.svg`")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder `{path.parent}`", hint="make it first")
    try:
        import matplotlib.figure  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtraError("matplotlib is not installed", hint="pip install 'discreet[charts]'") from None


def draw(comparison: Comparison, path: Path) -> Path:
    """Draw a comparison into a file."""
    check(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    outcomes = comparison.outcomes
    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(11, 2.1 + 0.42 * len(outcomes)), layout="constrained")
        figure.suptitle(comparison.title, fontsize=12, fontweight="bold", color=INK)
        errors, losses = figure.subplots(1, 2, sharey=True)
        _panel(
            errors,
            outcomes,
            "How far answers are off",
            ("median error", [outcome.error for outcome in outcomes]),
            ("mean error", [outcome.mean_error for outcome in outcomes]),
        )
        _panel(
            losses,
            outcomes,
            "How wide bounds are, and what is blurred",
            ("mean width of bounds", [outcome.width for outcome in outcomes]),
            ("loss (NCP)", [outcome.loss for outcome in outcomes]),
        )
        errors.set_yticks(range(len(outcomes)), [outcome.method for outcome in outcomes])
        errors.set_ylim(len(outcomes) - 0.4, -0.6)  # the first method on top
        figure.supxlabel(NOTE, fontsize=8, color=GREY)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    return path


def _panel(
    axes: Axes,
    outcomes: Sequence[Outcome],
    title: str,
    bars: tuple[str, Sequence[float | None]],
    marks: tuple[str, Sequence[float | None]],
) -> None:
    """A bar and a mark for each method, both shares."""
    shown = [value for value in (*bars[1], *marks[1]) if value]
    wide = bool(shown) and max(shown) > WIDE * min(shown)
    least = max(min(shown, default=1.0) / 3, LEAST) if wide else 0.0
    axes.set_title(title, fontsize=10, loc="left", color=INK)
    axes.barh(range(len(outcomes)), [value or 0 for value in bars[1]], height=0.62, color=BAR, label=bars[0])
    known = [(value, place) for place, value in enumerate(marks[1]) if value is not None and value >= least]
    axes.plot(*(zip(*known, strict=True) if known else ([], [])), "D", ms=6, color=MARK, mec="white", label=marks[0])
    if wide:
        axes.set_xscale("log")
        axes.set_xlim(left=least, right=max(shown) * 3)
    else:
        axes.set_xlim(0, max(shown, default=1.0) * 1.18)
    for place, (outcome, value) in enumerate(zip(outcomes, bars[1], strict=True)):
        said = "refused" if outcome.refused else "no answers" if value is None else f"{value:,.1%}"
        beside = max(value or 0, marks[1][place] or 0, least)
        axes.annotate(
            said,
            (beside, place),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK if value is not None else GREY,
        )
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0%}" if x >= 0.1 or x == 0 else f"{x:.2g}%".replace(f"{x:.2g}", f"{100 * x:g}"))
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", length=0, colors=INK)
    for edge in ("top", "right", "left", "bottom"):
        axes.spines[edge].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False, fontsize=9)
