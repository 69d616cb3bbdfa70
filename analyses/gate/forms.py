"""A gate for people, for programs, for pull requests, and for what shows tests."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from gradelake.analyses.gate.gate import Block, Gate
from gradelake.analyses.gate.rules import ALL
from gradelake.analyses.gate.sample import ANY, FIXED, MOVED
from gradelake.analyses.gate.verdict import CANNOT_TELL, FELL, PASSED, Judged, worst
from gradelake.analyses.stats.better import queries_of_half
from gradelake.analyses.stats.boards import UNIT
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.table_text import one_line

_EXIT_CODES = {PASSED: 0, FELL: 4, CANNOT_TELL: 5}
_MARKUP = re.compile(r"[^\w ().,;%?-]|_|(?<=w)\.")  # of www. GitHub makes links
_TITLES = "measure", "level", "queries", "worse", "better", "baseline", "system", "difference"
_DECIDERS = "measure", "query_id", "query", "baseline", "system", "difference", "without it"


@dataclass(frozen=True)
class Answer:
    """A gate in the form that was asked for, with `n_queries` of each measure."""

    found: Gate
    n_queries: int
    form: str = "json"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.found.verdict.verdict]

    def as_object(self) -> dict[str, Any]:
        """All of it; figures in points, with 10 decimals. `queries` are those that differ most."""
        found, blocks = self.found, self.found.blocks
        return {
            "verdict": found.verdict.verdict,
            **found.rule.model_dump(exclude={"measures", "level", "queries"}),
            "queries_are": found.rule.queries,
            "baseline": found.baseline,
            "release": found.release,
            "baseline_release": found.baseline_release,
            "measures": [_measure(one) for one in found.verdict.measures],
            "queries": [
                {"label_set": block.label_set, "segment": block.segment}
                | {key: round(v, 10) if isinstance(v, float) else v for key, v in one.items()}
                for block in blocks
                for one in _deciders(found, block, self.n_queries)
            ],
            "notes": [
                f"{_by(block)}: {note}" if blocks[1:] else note
                for block in blocks
                for note in block.notes
            ],
        }

    def show(self) -> None:
        if self.form == "json":
            console.print_json(self.as_object())
        elif self.form == "text":
            print_text(self.found, self.n_queries)
        else:
            write = markdown if self.form == "markdown" else junit
            console.say(write(self.found, self.n_queries))


def _measure(one: Judged) -> dict[str, Any]:
    pair, found = one.pair, one.difference
    low, high = found.bounds or (None, None)
    system, baseline = pair.units.means / UNIT
    return {
        "label_set": pair.label_set,
        "segment": pair.segment or ALL,
        "measure": pair.measure,
        "level": pair.level,
        "verdict": one.verdict,
        "n_queries": len(pair.queries),
        **({"n_effective": round(found.n, 2)} if pair.counting else {}),
        "n_worse": pair.outcomes["losses"],
        "n_better": pair.outcomes["wins"],
        "baseline": round(float(baseline), 10),
        "system": round(float(system), 10),
        "difference": round(found.mean, 10),
        "low": _rounded(low),
        "high": _rounded(high),
        "p_passed": found.p_passed if found.bounds else None,
        "p_fell": one.p_fell if found.bounds else None,
        "unseen_share": _rounded(found.unseen if found.bounds else None),
        "queries_as_seen": one.queries_as_seen,
        "queries_if_equal": one.queries_if_equal,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 10)


def _deciders(found: Gate, block: Block, n: int) -> list[dict[str, Any]]:
    """Of each measure the `n` queries that differ most, in the order of `_DECIDERS`."""
    return [
        {name: one[name] for name in ("measure", "query_id")}
        | {"text": found.texts[one["query_id"]]}
        | one
        for one in found.verdict.deciders(n, block.measures)
    ]


def print_text(found: Gate, n_queries: int) -> None:
    """The verdict; of each label set and segment its own, each measure, what it means, and the
    queries that decide."""
    several = found.blocks[1:]
    about = "" if several else f" {_by(found.blocks[0])}"
    console.say(f"{found.verdict.verdict}: {_of(found, about)}")
    if several:
        console.say(_promise(found), wrap=True)
    for block in found.blocks:
        if several:
            console.say(f"\n{worst(block.measures)}: {_by(block)}")
        console.print_table(_titles(found), [_row(found, one) for one in block.measures])
        for line in _sentences(found, block):
            console.say(line, wrap=True)
        if deciders := _deciders(found, block, n_queries):
            console.say("\nqueries that differ most, and the verdict without each")
            console.print_table(_DECIDERS, [tuple(map(_points, one.values())) for one in deciders])


def markdown(found: Gate, n_queries: int) -> str:
    """A comment for a pull request; names are shown as they are."""
    rule, several = found.rule, found.blocks[1:]
    against = _code(found.baseline)
    if found.baseline_release != found.release:
        against += f" of release {_code(found.baseline_release or '')}"
    by = "on" if several else f"{_by(found.blocks[0], _code)} on"
    lines = [f"### Gate {found.verdict.verdict}: {_code(rule.system)} against {against}", ""]
    lines += [f"{by.capitalize()} {_code(rule.collection)}; {_limits(found)}."]
    lines += ["", f"{_promise(found)}."] if several else []
    for block in found.blocks:
        if several:
            lines += ["", f"#### {worst(block.measures).capitalize()}: {_by(block, _code)}"]
        lines += ["", *_table(_titles(found), [_row(found, one) for one in block.measures]), ""]
        lines += [f"- {_plain(line)}" for line in _sentences(found, block)]
        if deciders := _deciders(found, block, n_queries):
            rows = [tuple(map(_points, one.values())) for one in deciders]
            summary = "Queries that differ most, and the verdict without each"
            lines += ["", f"<details><summary>{summary}</summary>", "", *_table(_DECIDERS, rows)]
            lines += ["", "</details>"]
    return "\n".join(lines)


def junit(found: Gate, n_queries: int) -> str:
    """A test case for each measure: a failure where it fell, an error where it cannot be told; a
    suite for each label set and segment."""
    suites = ElementTree.Element(
        "testsuites", {"name": "gradelake gate"} | _counts(found.verdict.measures)
    )
    classname = _xml(f"{found.rule.collection}.{found.rule.system}")
    for block in found.blocks:
        about = {"name": _xml(_of(found, f" {_by(block)}"))} | _counts(block.measures)
        suite = ElementTree.SubElement(suites, "testsuite", about)
        deciders = _deciders(found, block, n_queries)
        for one in block.measures:
            name = f"{one.pair.measure} level {one.pair.level}"
            case = ElementTree.SubElement(suite, "testcase", classname=classname, name=name)
            if one.verdict == PASSED:
                continue
            what = "failure" if one.verdict == FELL else "error"
            message = _xml(_sentence(found, one))
            element = ElementTree.SubElement(case, what, type=one.verdict, message=message)
            told = [each for each in deciders if each["measure"] == one.pair.measure]
            line = "{query_id}: {baseline:.4f} -> {system:.4f} ({text})"
            element.text = _xml("\n".join(map(line.format_map, told)))
        ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(_sentences(found, block)))
    ElementTree.indent(suites)
    # what is not ASCII becomes a reference: whatever the terminal's or the file's encoding
    return ElementTree.tostring(suites, encoding="us-ascii", xml_declaration=True).decode("ascii")


def _counts(measures: list[Judged]) -> dict[str, str]:
    verdicts = [one.verdict for one in measures]
    return {
        "tests": str(len(verdicts)),
        "failures": str(verdicts.count(FELL)),
        "errors": str(verdicts.count(CANNOT_TELL)),
    }


# --- words ----------------------------------------------------------------------------------------


def _of(found: Gate, by: str) -> str:
    return f"{found.rule.system} against {found.against}{by}; {_limits(found)}"


def _by(block: Block, name: Callable[[str], str] = str) -> str:
    """The label set and the segment of one of a gate's blocks."""
    of_segment = f", segment {name(block.segment)}" if block.segment != ALL else ""
    return f"by {name(block.label_set)}{of_segment}"


def _limits(found: Gate) -> str:
    rule = found.rule
    if rule.way == FIXED:
        return f"tolerance {rule.tolerance:g}, on these queries"
    any_ = ", however differences are distributed" if rule.way == ANY else ""
    return f"tolerance {rule.tolerance:g}, alpha {rule.alpha:g}{any_}"


def _promise(found: Gate) -> str:
    """Of a gate with several blocks: how errors are bounded."""
    n = len(found.verdict.measures)
    if found.rule.way == FIXED:
        return f"All {n} must pass"
    return (
        f"All {n} tests must pass, each at alpha, which then bounds how often the gate as a whole "
        f"passes wrongly; that any fell is corrected for all {n} (Holm)"
    )


def _titles(found: Gate) -> tuple[str, ...]:
    if found.rule.way == FIXED:
        return *_TITLES, "verdict"
    return *_TITLES, f"{100 * (1 - 2 * found.rule.alpha):g}% interval", "verdict"


def _row(found: Gate, one: Judged) -> tuple[Any, ...]:
    row = _measure(one)
    shown = ["measure", "level", "n_queries", "n_worse", "n_better"]
    shown += ["baseline", "system", "difference"]
    interval = "none" if one.difference.p_passed else "same rankings"
    if row["low"] is not None:
        interval = f"{row['low']:z.4f} to {row['high']:z.4f}"
    ends = [one.verdict] if found.rule.way == FIXED else [interval, one.verdict]
    return *(_points(row[name]) for name in shown), *ends


def _points(value: Any) -> Any:
    return round(value, 4) + 0.0 if isinstance(value, float) else value  # no -0


def _sentences(found: Gate, block: Block) -> list[str]:
    is_fixed, measures = found.rule.way == FIXED, block.measures
    sentences = [_sentence(found, one) for one in measures if is_fixed or one.verdict != PASSED]
    if any(one.pair.counting for one in measures):
        sentences.append("queries count by their weights, and clusters of queries as one")
        if found.rule.way == ANY:
            sentences[-1] += "; nothing is said of queries that weigh more than these"
    sentences += dict.fromkeys(_unseen(one) for one in measures if one.difference.bounds)
    return sentences + [f"note: {note}" for note in block.notes]


def _unseen(one: Judged) -> str:
    """What so many queries cannot show, whatever their differences are."""
    found, share = one.difference, 100 * one.difference.unseen
    what = {PASSED: "losses", FELL: "gains"}.get(one.verdict, "losses or gains")
    among = f"{found.n:.3g} effective queries" if one.pair.counting else f"{found.n:,.0f}"
    said = f"{share:.0f}%" if share >= 1 else f"{share:.1g}%"
    return f"{what} on fewer than {said} of queries may not show in {among}"


def _sentence(found: Gate, one: Judged) -> str:
    """What a measure's verdict means, and what would help."""
    row, tolerance = _measure(one), found.rule.tolerance
    moved = f"{row['baseline']:.4f} to {row['system']:.4f}"
    if found.rule.way == FIXED:
        return _fact(one, row, moved, tolerance)
    if one.difference.is_one:
        what = "query" if row["n_queries"] == len(one.pair.units.sizes) else "cluster of queries"
        share = f"{100 * one.difference.greatest_share:.0f}%"
        return f"one {what} carries {share} of the weight: {row['measure']} tells nothing of others"
    if one.verdict == FELL:
        return (
            f"{row['measure']} fell by {-row['difference']:.4f} ({moved}), more than {tolerance:g}"
        )
    needed = []
    if one.queries_as_seen:
        needed.append(
            f"{counted(one.queries_as_seen, 'queries')} if the differences stayed like these"
        )
    if one.queries_if_equal:
        needed.append(
            f"{counted(one.queries_if_equal, 'queries')} for an equal system to pass in four of "
            "five cases"
        )
    moves = "is lower" if row["high"] < 0 else "may be lower"
    if row["difference"] >= 0:
        moves = "is higher here" if row["difference"] else "is equal here"
    few = ""
    if one.difference.few:
        few = f", as too few of them moved by {MOVED:g} to show how far queries go"
    return (
        f"{row['measure']} {moves} ({moved}), and {counted(row['n_queries'], 'queries')} cannot "
        f"tell whether it fell by more than {tolerance:g}{few}; it would take "
        f"{', or '.join(needed) or 'more than a million queries'}"
    )


def _fact(one: Judged, row: dict[str, Any], moved: str, tolerance: float) -> str:
    """What is true of these queries, whatever others do, and how much of it hangs on few."""
    found = row["difference"]
    said = "did not change"
    if found:
        said = f"{'rose' if found > 0 else 'fell'} by {abs(found):.4f} ({moved})"
    if found < 0:
        said += f", {'less' if row['verdict'] == PASSED else 'no less'} than {tolerance:g}"
    system, baseline = one.pair.units.totals.T
    if n_half := queries_of_half(system - baseline):
        said += f"; {counted(n_half, 'queries', 'carry')} half of it"
    return f"on these {counted(row['n_queries'], 'queries')} {row['measure']} {said}"


# --- markdown and XML -----------------------------------------------------------------------------


def _table(titles: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = [titles, ("---",) * len(titles)]
    lines += [tuple(_cell(value) for value in row) for row in rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else _plain(str(value))


def _code(name: str) -> str:
    """A name as Markdown shows it: no markup, link or mention comes of it."""
    return f"<code>{_plain(name)}</code>"


def _plain(text: str) -> str:
    """A line as Markdown shows it: what could be markup, a link or a mention is an entity, which
    never is."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", one_line(text))


def _xml(text: str) -> str:
    """A text without the characters that XML cannot have, even escaped."""
    return "".join(
        c if c in "\n\t" or (c >= "\x20" and c not in "\ufffe\uffff") else f"\\u{ord(c):04x}"
        for c in text.encode(errors="backslashreplace").decode()
    )
