"""The query book: `sql/ask/queries/*.sql`, one question per file, run as `gradelake sql @name`.

A file begins with the question and its parameters: `:name = default  what it means`, or `:name` of
one that says the same in many (`_COMMON`). Those that its SQL does not use itself ask for values of
columns of the table that `$asked_of_TABLE` names.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

import duckdb

from gradelake.sql.ask.not_in_release import not_built_yet
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.project import (
    TO_BANK,
    TO_GRADE,
    TO_LABEL,
    TO_RANK,
    did_you_mean,
    require_known,
)
from gradelake.sql.lake.connection import quote
from gradelake.sql.lake.opening import Lake

# what the questions are about, those asked most often first
_GROUPS = {
    "Systems": "leaderboard boards segments hardest_queries coverage facet_coverage battles",
    "Judges": """compare_judges kappa ceiling agreement correlation confusion disagreements
        calibration consistency noise drift probes system_bias group_bias family_correlation
        label_bias""",
    "Rubric": """rubric rubric_history rubric_impact leaderboard_shift item_grades grade_grid
        spurious_items uncovered_passages never_covered_items criteria_failures""",
    "Grades and labels": """labels verify_grades missing_labels missing_grades backlog failed_grades
        failures imported_grades unsupported_sentences uncited_sentences support_disagreements""",
    "Reviews": "queues review_agreement assessor_agreement battle_agreement review_conflicts",
    "Runs and costs": "freshness nights grading_runs replies cost system_cost board_cost",
}
# parameters that most questions have: (default, what it means)
_COMMON = {
    "collection": ("any", "a collection"),
    "query_id": ("any", "a query"),
    "system": ("any", "a system"),
    "grader": ("any", "a grader's name"),
    "assessor": ("any", "an assessor"),
    "label_set": ("any", "judge:NAME, or GRADER/vN/POLICY"),
    "policy": ("best", "a label policy"),
    "rubric_version": ("newest", "a version of the rubric, or any"),
    "measure": ("nDCG@10", "as in the leaderboard's measure column"),
    "level": ("usual", "labels at or above it are relevant, such as 2 (no effect on nDCG)"),
    "tau": ("4", "a grade of tau or more covers an item"),
    "k": ("20", "how many passages of each ranking count"),
}
# parameters that are whole numbers, and the words that may stand for one
_NUMBERS = {
    "below": ("min_relevant",),
    "cut": (),
    "k": (),
    "least_labelled": (),
    "level": ("usual",),
    "m": (),
    "tau": (),
    "rubric_version": ("newest", "any"),
}
# what a parameter may name: a typing error should not look like an empty answer; and in which
# collection, where another may have others
_KNOWN = {
    "collection": "select collection from lake.raw.collections",
    "query_id": "select query_id, collection from lake.raw.queries",
    "system": "select system, collection from lake.raw.systems",
    "below": "select min_relevant, collection from lake.raw.collections union select "
    "unnest(range(1, max_relevance + 1)), collection from lake.raw.collections",
    "cut": "select cut, collection from lake.marts.judge_calibration",
    "assessor": "select assessor, collection from lake.raw.judgments "
    "union select assessor, collection from lake.raw.grade_reviews",
    "grader": "select grader from lake.intermediate.int_graders",
    "label_set": "select label_set, collection from lake.intermediate.int_label_sets "
    "union select label_set, collection from lake.marts.imported_scores",
    "reference": "select label_set, collection from lake.intermediate.int_label_sets",
    "policy": "select policy from lake.intermediate.int_label_policies",
    "measure": "select measure from lake.intermediate.evaluation_grid",
    "level": "select level from lake.intermediate.evaluation_levels",
    "tau": "select level from lake.intermediate.evaluation_levels",
    "k": "select cutoff from lake.intermediate.int_measures where family = 'Cover'",
    "rubric_version": "select unnest(names), collection from lake.marts.rubric_versions union "
    "select rubric_version::varchar, collection from lake.intermediate.int_rubric_versions",
    "least_labelled": "select unnest(range(101))",
    "m": "select unnest(range(1, 1 + max(n_items))) from lake.intermediate.int_rubric_labels",
    "item_id": "select distinct item_id, collection from lake.marts.rubric_items_effective",
    "grouping": "select grouping, collection from lake.intermediate.int_system_groups",
    "segment": "select unnest(segments), collection from lake.raw.query_weights",
    "kind": "select unnest(['graded', 'linear', 'quadratic', 'binary', 'collapsed', 'boxed'])",
    "reveal": "select unnest(['before', 'after'])",
    "part": "select unnest(['all', 'query', 'item'])",
    "property": "select unnest(['length', 'position'])",
    "status": "select unnest(['missing', 'failed'])",
    "sentinel": "select sentinel from lake.raw.sentinels",
    "probe": "select distinct sentinel, collection from lake.raw.probe_variants",
}
# 0 filters no grade out; usual is each label set's own level; version 0 is the banks
_TO_HAVE = {"label_set": TO_LABEL, "grader": TO_GRADE, "system": TO_RANK, "bank": TO_BANK}
_ALSO = {
    "below": {"min_relevant"},
    "tau": {"0"},
    "level": {"usual"},
    "rubric_version": {"0", "newest"},
}
# what an example line may say in every lake
_EXAMPLES = {
    "measure": "AP",
    "level": "2",
    "tau": "3",
    "k": "10",
    "kind": "linear",
    "property": "length",
    "reveal": "before",
    "status": "failed",
    "rubric_version": "0",
    "collection": "demo",
}
# parameters whose values seeds of a project can add to
_SEEDS = {"level": "evaluation_levels", "tau": "evaluation_levels", "policy": "label_policies"}
# a line of a question that a release cannot answer: its answer is always as of now
_LIVE = "-- Reads the working catalog, as with --live"
_PARAMETER_LINE = re.compile(r"^-- +:\w+.*\n", re.MULTILINE)
_PARAMETER = re.compile(r":(\w+)(?: *= *(\S+) +(.*))?")
# in a question's SQL: the rows of a table that its parameters ask for
_ASKED = re.compile(r"\$asked_of_(\w+)")
_USED = re.compile(r"\$(\w+)")
_OF_VERSION = """(
    $rubric_version is null
    or ({0}.collection, {0}.rubric_version) in (
        select (collection, rubric_version) from marts.rubric_versions
        where list_contains(names, $rubric_version)
    )
)"""


@dataclass(frozen=True)
class Entry:
    """A question with its SQL and its parameters (name -> (default, what it means)).

    `live`: it is about the working catalog, and a release is read only where one is named.
    """

    name: str
    question: str
    sql: str
    parameters: dict[str, tuple[str, str]]
    live: bool = False

    def values(self, arguments: dict[str, str], also: Iterable[str] = ()) -> dict[str, str | None]:
        """Defaults overridden by the arguments.

        Raises `BadInput` for an unknown parameter (`also`: what else may have been meant), and
        for a value that should be a whole number.
        """
        chosen = {}
        for name, value in arguments.items():
            if name not in self.parameters:
                missing = f"@{self.name} has no parameter {name!r}"
                raise BadInput(missing, did_you_mean(name, [*self.parameters, *also]))
            words = _NUMBERS.get(name)
            if words is not None and value not in (*words, self.parameters[name][0]):
                if not re.fullmatch(r"-?\d{1,9}", value):
                    raise BadInput(
                        f"--{name} {value!r}: a whole number is needed"
                        + "".join(f", or {word}" for word in words)
                    )
                value = str(int(value))
            chosen[name] = value
        defaults = {name: default for name, (default, _) in self.parameters.items()}
        return {
            name: None if value == "any" else value for name, value in (defaults | chosen).items()
        }

    def has(self, words: str) -> bool:
        """Whether each of these words is in its name or question."""
        text = f"{self.name} {self.question}".lower()
        return all(word in text for word in words.lower().split())

    def written_out(self, values: dict[str, str | None]) -> str:
        """Its SQL with each value in the place of its parameter, and without filters for any."""
        sql = _PARAMETER_LINE.sub("", self.sql)
        for name, value in values.items():
            for_any = rf"\(\${name} is null or ([\w.]+ = \${name})\)"
            if value is None:
                sql = re.sub(rf"\n +and {for_any}", "", sql)
            sql = re.sub(for_any, r"\1" if value is not None else "true", sql)

        def literal(found: re.Match[str]) -> str:
            value = values.get(found[1])
            return "null" if value is None else quote(value)

        return _USED.sub(literal, sql)

    @property
    def example(self) -> str:
        """How it may be asked: the question with up to two parameters, none of them its default."""
        shown = [
            f"--{name} {value}"
            for name, value in _EXAMPLES.items()
            if name in self.parameters and value != self.parameters[name][0]
        ]
        return " ".join([f"@{self.name}", *shown[:2]])

    def measured_by(self, arguments: Iterable[str]) -> str:
        """What an answer has of other measures' answers, where none was asked for: which it is."""
        if "measure" not in self.parameters or "measure" in arguments:
            return ""
        default, meaning = self.parameters["measure"]
        every = ", any has all" if meaning.endswith("or any") else ""
        return f" by {default}; --measure NAME has another{every}"

    def help(self, command: str = "") -> str:
        """The question, its parameters with defaults and meanings, and an example for `command`."""
        lines = [f"@{self.name}: {self.question}"]
        if self.parameters:
            names = max(len(name) for name in self.parameters)
            defaults = max(len(default) for default, _ in self.parameters.values())
            lines += ["", f"  {'parameter':<{names + 2}}  {'default':<{max(defaults, 7)}}"]
            lines += [
                f"  --{name:<{names}}  {default:<{max(defaults, 7)}}  {what}"
                for name, (default, what) in self.parameters.items()
            ]
            if "any" in (default for default, _ in self.parameters.values()):
                lines += ["", "  any: no restriction"]
        else:
            lines += ["", "  It has no parameters."]
        if self.live:
            lines += ["", "  It reads the working catalog, as with --live, or a named release."]
        return "\n".join([*lines, "", f"Example: {command}{self.example}"])


def parameters(words: Sequence[str]) -> dict[str, str]:
    """`--name value` and `--name=value` by name. Raises `BadInput` for anything else."""
    arguments, rest = {}, list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not (equals or rest):
            raise BadInput(f"unexpected argument {name!r}", "Parameters look like: --measure AP")
        arguments[name[2:].replace("-", "_")] = value if equals else rest.pop(0)
    return arguments


def known(lake: Lake, name: str, collection: str | None = None) -> set[str] | None:
    """What a parameter may name in this lake, or in a collection; None for one that names nothing
    in it, and where its table is not built yet."""
    if name not in _KNOWN:
        return None
    try:
        rows = lake.rows(_KNOWN[name])
        mine = ((), (collection,))
        found = {str(row[0]) for row in rows if collection is None or row[1:] in mine}
        return found | _ALSO.get(name, set())
    except duckdb.Error:
        return None


def check_names(lake: Lake, values: dict[str, str | None]) -> None:
    """Raise `BadInput` for a value that names nothing in the lake."""
    for name, value in values.items():
        names = known(lake, name)
        if value is None or names is None or value in names:
            continue
        if name != "item_id" or not any(f"/{value}" in each for each in names):
            hints = [_nearest(lake, name, value, names), not_built_yet(lake)]
            raise BadInput(f"--{name} {value!r}: there is none", "\n  ".join(filter(None, hints)))


def _nearest(lake: Lake, name: str, value: str, names: set[str]) -> str:
    """The name that was meant, or those that there are and what can add to them."""
    if name == "measure":
        return measure_hint(value, names, lake.rows)
    hint = did_you_mean(value, names, _TO_HAVE.get(name, "There are none yet."))
    if hint.startswith("Known") and name in _SEEDS:
        hint += f" A file seeds/{_SEEDS[name]}.csv next to gradelake.toml can add others."
    return hint


def asked(
    lake: Lake, name: str, arguments: dict[str, str], also: Iterable[str] = ()
) -> tuple[str, dict[str, str | None]]:
    """A question's SQL and the values for its parameters.

    Raises `BadInput` for a question that is not in the book, a parameter that it does not have,
    and a value that names nothing in the lake.
    """
    found = entry(name)
    values = found.values(arguments, also)
    check_names(lake, {name: values[name] for name in values if name in arguments})
    return found.sql, values


def entries() -> dict[str, Entry]:
    """All entries by name."""
    found = {}
    for file in sorted(
        resources.files("gradelake.sql.ask.queries").iterdir(), key=lambda file: file.name
    ):
        if file.name.endswith(".sql"):
            text = file.read_text(encoding="utf-8")
            name = file.name.removesuffix(".sql")
            question = text.splitlines()[0].removeprefix("-- ")
            parameters = {
                name: (default, what) if default else _COMMON[name]
                for line in _PARAMETER_LINE.findall(text)
                for name, default, what in _PARAMETER.findall(line)
            }
            sql = _with_filters(text, parameters)
            found[name] = Entry(name, question, sql, parameters, live=_LIVE in text)
    return found


def grouped() -> dict[str, list[Entry]]:
    """The questions about a collection by what they are about."""
    found = entries()
    return {
        title: [found[name] for name in names.split() if "collection" in found[name].parameters]
        for title, names in _GROUPS.items()
    }


def _with_filters(text: str, parameters: Iterable[str]) -> str:
    """A question's SQL with a filter in the place of `$asked_of_TABLE`: each parameter that the SQL
    does not use itself is a column of that table, of which null asks for any value."""
    columns = [name for name in parameters if name not in _USED.findall(text)]

    def filters(found: re.Match[str]) -> str:
        table = found[1]
        each = (
            _OF_VERSION.format(table)
            if name == "rubric_version"
            else f"(${name} is null or {table}.{name} = ${name})"
            for name in columns
        )
        return "\n    and ".join(each)

    return _ASKED.sub(filters, text)


def entry(name: str) -> Entry:
    """One entry. Raises `BadInput` when there is none of that name."""
    book = entries()
    require_known(name, book, f"the query book has no @{name}", NotThere)
    return book[name]
