"""Charts: of a comparison errors, widths of bounds, loss and time; of a sweep risk against error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.comparison.comparison import NOTE, Comparison, Outcome
from discreet.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.comparison.sweep import Sweep

FORMS = (".png", ".svg")
COLORS, GREY, INK = ("#2f5d8a", "#a9c4de"), "#7a7a7a", "#222222"
LINES = ("#2f5d8a", "#c0622b", "#3f8a4c", "#7d4f9e", "#8a7a2f", "#b03a5b", "#4a9aa5", "#555555")
WIDE = 30  # largest figure over smallest beyond which a scale is logarithmic
TICKS = 6  # on a scale, at most
RIGHT = "share of people of whom the worst attacker is right"
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

    outcomes, attacked = comparison.outcomes, comparison.attacked
    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(21 if attacked else 16, 1.6 + 0.55 * len(outcomes)), layout="constrained")
        figure.suptitle(comparison.title, fontsize=12, fontweight="bold", color=INK, wrap=True)
        errors, *between, losses, times = figure.subplots(1, 4 if attacked else 3, sharey=True)
        _panel(
            errors,
            outcomes,
            "How far answers are off",
            _share,
            ("median error", [outcome.error for outcome in outcomes]),
            ("90th percentile", [outcome.error_90 for outcome in outcomes]),
        )
        for attackers in between:
            _attackers(attackers, outcomes)
        _panel(
            losses,
            outcomes,
            "Bounds and loss",
            _share,
            ("mean width", [outcome.width for outcome in outcomes]),
            ("loss (NCP)", [outcome.loss for outcome in outcomes]),
        )
        _panel(
            times,
            outcomes,
            "Time",
            _time,
            ("to publish", [outcome.publish_seconds for outcome in outcomes]),
            ("per query", [outcome.query_seconds for outcome in outcomes]),
        )
        errors.set_yticks(range(len(outcomes)), [outcome.name for outcome in outcomes])
        errors.set_ylim(len(outcomes) - 0.5, -0.5)  # the first method on top
        figure.supxlabel(NOTE, fontsize=8, color=GREY)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    return path


def _attackers(axes: Axes, outcomes: Sequence[Outcome]) -> None:
    """How often the worst attacker of each method is right, with the name, beside a blind guess."""
    made = [outcome.attacked for outcome in outcomes]
    _panel(
        axes,
        outcomes,
        "Attacks that are right",
        _share,
        ("worst attacker", [each.right.share if each and each.right else None for each in made]),
        ("blind guess", [each.blind if each else None for each in made]),
        names=[each.name or "" if each else "" for each in made],
        missing="not attacked",
    )


def draw_sweep(sweep: Sweep, path: Path) -> Path:
    """Draw the errors of a sweep over the risk, a line for each method, into a file."""
    check(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(9, 9.5 if sweep.attacked else 6), layout="constrained")
        figure.suptitle(sweep.title, fontsize=12, fontweight="bold", color=INK, wrap=True)
        errors, *below = figure.subplots(2 if sweep.attacked else 1, squeeze=False)[:, 0]
        for number, name in enumerate(sweep.names()):
            _line(errors, sweep, name, LINES[number % len(LINES)])
            for attackers in below:
                _worst_line(attackers, sweep, name, LINES[number % len(LINES)], above=number % 2 == 0)
        for axes, shown in ((errors, "error of answers that are not exact"), *((each, RIGHT) for each in below)):
            _by_risk(axes, sweep, shown)
        figure.supxlabel(NOTE, fontsize=8, color=GREY)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    return path


def _by_risk(axes: Axes, sweep: Sweep, shown: str) -> None:
    """What a panel of a sweep has around its lines: risk to the right, and what is `shown` upwards."""
    axes.set_xlabel("risk: the largest share that one sensitive value has of a group", color=INK)
    axes.set_ylabel(shown, color=INK)
    axes.margins(x=0.08, y=0.12)
    axes.set_ylim(bottom=0)
    _risks(axes, sweep)
    axes.yaxis.set_major_formatter(lambda y, _: _share(y))
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for edge in ("top", "right"):
        axes.spines[edge].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=9)


def _line(axes: Axes, sweep: Sweep, name: str, color: str) -> None:
    """The median errors of one method, and the 90th percentiles dotted; where all is exact, there is none."""
    told = [each for _, each in sweep.outcomes() if each.name == name and each.share is not None]
    if not told:
        return
    risks = [each.share or 0 for each in told]
    medians, highs = [each.error or 0 for each in told], [each.error_90 or 0 for each in told]
    axes.plot(risks, medians, "o-", color=color, label=f"{name}: median")
    axes.plot(risks, highs, "o:", color=color, markersize=3, label=f"{name}: 90th percentile")


def _worst_line(axes: Axes, sweep: Sweep, name: str, color: str, *, above: bool) -> None:
    """How often the worst attacker of one method is right, with its name at each point, and a blind guess dotted."""
    points = [
        (each.share, each.attacked.right.share, each.attacked.blind or 0, each.attacked.name)
        for _, each in sweep.outcomes()
        if each.name == name
        and each.share is not None
        and each.attacked is not None
        and each.attacked.right is not None
    ]
    if not points:
        return
    risks, rights, blind, _ = zip(*points, strict=True)
    axes.plot(risks, rights, "o-", color=color, label=f"{name}: worst attacker")
    axes.plot(risks, blind, "o:", color=color, markersize=3, label=f"{name}: blind guess")
    for risk, right, _, attack in points:
        axes.annotate(
            f"{attack} {_share(right)}",
            (risk, right),
            xytext=(0, 7 if above else -7),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=8,
            color=color,
        )


def _risks(axes: Axes, sweep: Sweep) -> None:
    """Risks on a logarithmic scale, with the thresholds that they belong to."""
    ticks: dict[float, str] = {}
    for step, outcome in sweep.outcomes():
        if outcome.share is not None:
            threshold = f"{sweep.name} = {step.guarantee[sweep.name]:,}"
            ticks.setdefault(round(outcome.share, 3), f"{_share(outcome.share)}\n{threshold}")
    if ticks:
        axes.set_xscale("log")
        axes.set_xticks([*ticks], [*ticks.values()])
        axes.xaxis.set_minor_formatter(lambda *_: "")
        axes.tick_params(axis="x", which="minor", length=0)


def _panel(
    axes: Axes,
    outcomes: Sequence[Outcome],
    title: str,
    told: Callable[[float], str],
    *measures: tuple[str, Sequence[float | None]],
    names: Sequence[str] = (),
    missing: str = "no answers",
) -> None:
    """For each method two bars, one for each measure, with the figures beside them, and `names` beside the first."""
    shown = [value for _, values in measures for value in values if value]
    wide = bool(shown) and max(shown) > WIDE * max(min(shown), LEAST)
    least = max(min(shown), LEAST) / 3 if wide else 0.0
    called = names or [""] * len(outcomes)
    for (label, values), color, shift, beside in zip(
        measures, COLORS, (-0.19, 0.19), (called, [""] * len(outcomes)), strict=True
    ):
        places = [place + shift for place in range(len(outcomes))]
        axes.barh(places, [value or 0 for value in values], height=0.36, color=color, label=label)
        for place, value, name in zip(places, values, beside, strict=True):
            if value is not None:
                _beside(axes, max(value, least), place, f"{told(value)} {name}".rstrip(), INK)
    for place, (outcome, first) in enumerate(zip(outcomes, measures[0][1], strict=True)):
        if first is None:
            _beside(axes, least, place - 0.19 * (outcome.refused is None), _why(outcome, missing), GREY)
    if wide:
        axes.set_xscale("log")
        axes.set_xlabel("logarithmic scale", fontsize=8, color=GREY)
    else:
        axes.locator_params(axis="x", nbins=TICKS)
    axes.set_xlim(least, max(shown, default=1.0) * (4 if wide else 1.5 if names else 1.18))
    axes.set_title(title, fontsize=10, loc="left", color=INK)
    axes.xaxis.set_major_formatter(lambda x, _: told(x))
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", which="both", length=0, colors=INK)
    for edge in ("top", "right", "bottom"):
        axes.spines[edge].set_visible(False)
    axes.spines["left"].set_color(GREY)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=9, borderaxespad=0.1)


def _beside(axes: Axes, x: float, y: float, text: str, color: str) -> None:
    """A text to the right of a point."""
    axes.annotate(
        text, (x, y), xytext=(4, 0), textcoords="offset points", va="center_baseline", fontsize=8, color=color
    )


def _share(value: float) -> str:
    return f"{100 * value:.3g}%" if value < 9.995 else f"{value:,.0%}"


def _time(seconds: float) -> str:
    if 0 < seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:,.0f} s"


def _why(outcome: Outcome, missing: str) -> str:
    return missing if outcome.refused is None else "refused"
