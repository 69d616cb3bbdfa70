"""A gate as an answer, and for what shows tests."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from gradelake.analyses.gate.gate import Block, Gate
from gradelake.analyses.gate.rules import ALL
from gradelake.analyses.gate.sample import ANY, FIXED, MOVED
from gradelake.analyses.gate.verdict import CANNOT_TELL, FELL, PASSED, Judged, worst
from gradelake.analyses.stats.better import queries_of_half
from gradelake.analyses.stats.boards import UNIT
from gradelake.sql.common.counted import counted
from gradelake.sql.shown import markdown
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown

_EXIT_CODES = {PASSED: 0, FELL: 4, CANNOT_TELL: 5}
_DECIDERS = [
    Column("label_set"),
    Column("segment"),
    Column("measure", is_key=True),
    Column("query_id", "query", "id", is_key=True),
    Column("text", "its words"),
    Column("baseline", kind="score"),
    Column("system", kind="score"),
    Column("difference", kind="difference"),
    Column("verdict_without", "without it"),
]


def answer(found: Gate, n_queries: int) -> Answer:
    """The verdict; of each label set and segment its own, each measure, what it means, and the
    `n_queries` that differ most. Differences are in a measure's own points, with 10 decimals."""
    several = len(found.blocks) > 1
    about = "" if several else f" {_by(found.blocks[0])}"
    facts = [("", _promise(found))] if several else []
    for block in found.blocks:
        whose = f"{worst(block.measures)} {_by(block)}" if several else ""
        facts += [(whose, line) for line in _sentences(found, block)]
    measures = [_measure(one) for one in found.verdict.measures]
    deciders = [one for block in found.blocks for one in _deciders(found, block, n_queries)]
    caption = "Queries that differ most, and the verdict without each"
    tables = [Table.of("measures", _columns(found, several), measures)]
    about_rows = [replace(c, is_title=several, is_detail=not several) for c in _DECIDERS[:2]]
    columns = [*about_rows, *_DECIDERS[2:]]
    tables.append(Table.of("queries", columns, deciders, caption=caption, is_extra=True))
    made = Answer(
        {"verdict": found.verdict.verdict},
        f"{found.verdict.verdict}: {_of(found, about)}",
        facts,
        tables,
        notes=[
            f"{_by(block)}: {note}" if several else note
            for block in found.blocks
            for note in block.notes
        ],
        details={
            **found.rule.model_dump(exclude={"measures", "level", "queries"}),
            "queries_are": found.rule.queries,
            "baseline": found.baseline,
            "release": found.release,
            "baseline_release": found.baseline_release,
        },
        exit_code=_EXIT_CODES[found.verdict.verdict],
    )
    title = f"### Gate {found.verdict.verdict}\n\n"
    own = {
        "junit": lambda: junit(found, n_queries),
        "markdown": lambda: title + markdown.render(made, level=4),
    }
    return replace(made, forms=own)


def _columns(found: Gate, several: bool) -> list[Column]:
    """The columns of the table of measures; fixed queries leave nothing in doubt."""
    is_fixed = found.rule.way == FIXED
    confidence = f"{shown('percent', 1 - 2 * found.rule.alpha)} interval"
    return [
        Column("label_set", is_title=several, is_detail=not several),
        Column("segment", is_title=several, is_detail=not several),
        Column("measure", is_key=True),
        Column("level", kind="label"),
        Column("n_queries", "queries", "count"),
        Column("n_effective", kind="ratio", is_detail=True),
        Column("n_worse", "worse", "count"),
        Column("n_better", "better", "count"),
        Column("baseline", kind="score"),
        Column("system", kind="score"),
        Column("difference", kind="difference"),
        Column("interval", confidence, "interval", ends="difference", is_detail=is_fixed),
        Column("p_passed", kind="p", is_detail=True),
        Column("p_fell", kind="p", is_detail=True),
        Column("unseen_share", kind="share", is_detail=True),
        Column("queries_as_seen", kind="count", is_detail=True),
        Column("queries_if_equal", kind="count", is_detail=True),
        Column("verdict"),
    ]


def _measure(judged: Judged) -> dict[str, Any]:
    pair, found = judged.pair, judged.difference
    low, high = found.bounds or (None, None)
    system, baseline = pair.units.means / UNIT
    none = "same rankings" if not found.p_passed else ""
    return {
        "label_set": pair.label_set,
        "segment": pair.segment or ALL,
        "measure": pair.measure,
        "level": pair.level,
        "verdict": judged.verdict,
        "n_queries": len(pair.queries),
        "n_effective": round(found.n, 2) if pair.counting else None,
        "n_worse": pair.outcomes["losses"],
        "n_better": pair.outcomes["wins"],
        "baseline": round(float(baseline), 10),
        "system": round(float(system), 10),
        "difference": round(found.mean, 10),
        "interval": Interval(_rounded(low), _rounded(high), "" if found.bounds else none),
        "p_passed": found.p_passed if found.bounds else None,
        "p_fell": judged.p_fell if found.bounds else None,
        "unseen_share": _rounded(found.unseen if found.bounds else None),
        "queries_as_seen": judged.queries_as_seen,
        "queries_if_equal": judged.queries_if_equal,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 10)


def _deciders(found: Gate, block: Block, n: int) -> list[dict[str, Any]]:
    """The `n` queries of each measure that differ most."""
    about = {"label_set": block.label_set, "segment": block.segment}
    return [
        about
        | {"text": found.texts[one["query_id"]]}
        | {key: round(v, 10) if isinstance(v, float) else v for key, v in one.items()}
        for one in found.verdict.deciders(n, block.measures)
    ]


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
            element.text = _xml("\n".join(map(_decider_line, told)))
        ElementTree.SubElement(suite, "system-out").text = _xml(
            "\n".join([*_sentences(found, block), *(f"note: {note}" for note in block.notes)])
        )
    ElementTree.indent(suites)
    # what is not ASCII becomes a reference: whatever the terminal's or the file's encoding
    return ElementTree.tostring(suites, encoding="us-ascii", xml_declaration=True).decode("ascii")


def _decider_line(decider: dict[str, Any]) -> str:
    was, is_now = shown("score", decider["baseline"]), shown("score", decider["system"])
    return f"{decider['query_id']}: {was} -> {is_now} ({decider['text']})"


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


def _by(block: Block) -> str:
    """The label set and the segment of one of a gate's blocks."""
    of_segment = f", segment {block.segment}" if block.segment != ALL else ""
    return f"by {block.label_set}{of_segment}"


def _limits(found: Gate) -> str:
    rule = found.rule
    if rule.way == FIXED:
        return f"tolerance {rule.tolerance:g}, on these queries"
    any_ = ", however differences are distributed" if rule.way == ANY else ""
    return f"tolerance {rule.tolerance:g}, alpha {rule.alpha:g}{any_}"


def _promise(found: Gate) -> str:
    """How errors are bounded where a gate has several blocks."""
    n = len(found.verdict.measures)
    if found.rule.way == FIXED:
        return f"All {n} must pass"
    return (
        f"All {n} tests must pass, each at alpha, which then bounds how often the gate as a whole "
        f"passes wrongly; that any fell is corrected for all {n} (Holm)"
    )


def _sentences(found: Gate, block: Block) -> list[str]:
    is_fixed, measures = found.rule.way == FIXED, block.measures
    sentences = [_sentence(found, one) for one in measures if is_fixed or one.verdict != PASSED]
    if any(one.pair.counting for one in measures):
        sentences.append("queries count by their weights, and clusters of queries as one")
        if found.rule.way == ANY:
            sentences[-1] += "; nothing is said of queries that weigh more than these"
    sentences += dict.fromkeys(_unseen(one) for one in measures if one.difference.bounds)
    return sentences


def _unseen(judged: Judged) -> str:
    """What so many queries cannot show, whatever their differences are."""
    found = judged.difference
    what = {PASSED: "losses", FELL: "gains"}.get(judged.verdict, "losses or gains")
    kind, noun = ("ratio", " effective queries") if judged.pair.counting else ("count", "")
    share = shown("percent", found.unseen)
    return f"{what} on fewer than {share} of queries may not show in {shown(kind, found.n)}{noun}"


def _sentence(found: Gate, judged: Judged) -> str:
    """What a measure's verdict means, and what would help."""
    row, tolerance = _measure(judged), found.rule.tolerance
    moved = f"{shown('score', row['baseline'])} to {shown('score', row['system'])}"
    if found.rule.way == FIXED:
        return _fact(judged, row, moved, tolerance)
    if judged.difference.is_one:
        what = "query" if row["n_queries"] == len(judged.pair.units.sizes) else "cluster of queries"
        share = shown("percent", judged.difference.greatest_share)
        return f"one {what} carries {share} of the weight: {row['measure']} tells nothing of others"
    if judged.verdict == FELL:
        by = shown("difference", -row["difference"])
        return f"{row['measure']} fell by {by} ({moved}), more than {tolerance:g}"
    needed = []
    if judged.queries_as_seen:
        needed.append(
            f"{counted(judged.queries_as_seen, 'queries')} if the differences stayed like these"
        )
    if judged.queries_if_equal:
        needed.append(
            f"{counted(judged.queries_if_equal, 'queries')} for an equal system to pass in four of "
            "five cases"
        )
    moves = "is lower" if row["interval"].high < 0 else "may be lower"
    if row["difference"] >= 0:
        moves = "is higher here" if row["difference"] else "is equal here"
    few = ""
    if judged.difference.few:
        few = f", as too few of them moved by {MOVED:g} to show how far queries go"
    return (
        f"{row['measure']} {moves} ({moved}), and {counted(row['n_queries'], 'queries')} cannot "
        f"tell whether it fell by more than {tolerance:g}{few}; it would take "
        f"{', or '.join(needed) or 'more than a million queries'}"
    )


def _fact(judged: Judged, row: dict[str, Any], moved: str, tolerance: float) -> str:
    """What is true of these queries, whatever others do, and how much of it hangs on few."""
    found = row["difference"]
    said = "did not change"
    if found:
        by = shown("difference", abs(found))
        said = f"{'rose' if found > 0 else 'fell'} by {by} ({moved})"
    if found < 0:
        said += f", {'less' if row['verdict'] == PASSED else 'no less'} than {tolerance:g}"
    system, baseline = judged.pair.units.totals.T
    if n_half := queries_of_half(system - baseline):
        said += f"; {counted(n_half, 'queries', 'carry')} half of it"
    return f"on these {counted(row['n_queries'], 'queries')} {row['measure']} {said}"


def _xml(text: str) -> str:
    """A text without the characters that XML cannot have, even escaped."""
    return "".join(
        c if c in "\n\t" or (c >= "\x20" and c not in "\ufffe\uffff") else f"\\u{ord(c):04x}"
        for c in text.encode(errors="backslashreplace").decode()
    )
