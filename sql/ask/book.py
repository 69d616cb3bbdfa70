"""The query book, run as `gradelake sql @name`: `book.yaml`, and what is more than columns of one
mart as a file of SQL in `queries/`.

Such a file begins with the question and its parameters: `:name = default  what it means`, or
`:name` of one that means what book.yaml says; `kinds column:kind ...` says how figures look whose
columns have names that do not (`kind_of`). Those that its SQL does not use itself ask for rows
of the table that `$asked_of_TABLE` names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

import duckdb

from gradelake.sql.ask.not_in_release import not_built_yet
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.project import TO_GRADE, TO_LABEL, TO_RANK, did_you_mean, require_known
from gradelake.sql.common.words import has_words
from gradelake.sql.lake.connection import quote
from gradelake.sql.lake.dictionary import words_of
from gradelake.sql.lake.opening import Lake

# what brings in what a parameter names, where a lake has none of it
_TO_HAVE = {"label_set": TO_LABEL, "grader": TO_GRADE, "system": TO_RANK}
_HEAD = re.compile(r"(?:--.*\n)*")  # of a file of SQL
_PARAMETER = re.compile(r":(\w+)(?: *= *(\S+) +(.*))?")
# in a question's SQL: the rows of a table that its parameters ask for
_ASKED = re.compile(r"\$asked_of_(\w+)")
_USED = re.compile(r"\$(\w+)")
_READ = re.compile(r"\b(?:from|join)\s+(?:(\w+)\.)?(\w+)")  # schema and table
# a column of a question in the book's data: name, name=column, and :kind of its figures
_COLUMN = re.compile(r"^(?:(\S+)=)?([\w.]+)(?::(\w+))?$")
# in the head of a file of SQL: the kinds of columns
_LOOKS = re.compile(r"(\w+):(\w+)")


@dataclass(frozen=True)
class BookEntry:
    """A question with its SQL and its parameters (name -> (default, what it means)).

    `live`: it is about the working catalog, and a release is read only where one is named. `note`:
    what to keep in mind of its answers. `looks`: column -> kind of its figures, where its name does
    not say it. `columns`: column -> that of a table that it is, where it has another name.
    """

    name: str
    question: str
    sql: str
    parameters: dict[str, tuple[str, str]]
    live: bool = False
    note: str = ""
    looks: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

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
            words = declared("parameters")[name].get("numbers")
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
        return has_words(f"{self.name} {self.question}", words)

    def meanings(self, lake: Lake, columns: Iterable[str]) -> dict[str, str]:
        """What the columns of its answer mean: the words of the tables that it reads."""
        tables = (
            name if schema in ("", "marts") else f"{schema}.{name}"
            for schema, name in _READ.findall(self.sql)
        )
        words = words_of(lake, tables)
        return {name: words.get(self.columns.get(name, name), "") for name in columns}

    def written_out(self, values: dict[str, str | None]) -> str:
        """Its SQL with each value in the place of its parameter, and without filters for any."""
        sql = "".join(f"-- {line}\n" for line in (self.question, self.note) if line) + self.sql
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
            for name, each in declared("parameters").items()
            if name in self.parameters
            and (value := str(each.get("example", "any"))) not in ("any", self.parameters[name][0])
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
    of = declared("parameters").get(name, {})
    if "known" not in of:
        return set(of["words"].split()) if "words" in of else None
    try:
        rows = lake.rows(of["known"])
        mine = ((), (collection,))
        found = {str(row[0]) for row in rows if collection is None or row[1:] in mine}
        return found.union(of.get("numbers", []), of.get("also", [])) - {"any"}
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
    seed = declared("parameters")[name].get("seed")
    if hint.startswith("Known") and seed:
        hint += f" A file seeds/{seed}.csv next to gradelake.toml can add others."
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


@cache
def declared(part: str) -> dict[str, Any]:
    """A part of book.yaml."""
    import yaml

    text = Path(__file__).with_name("book.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.CSafeLoader)[part]


@cache
def entries() -> dict[str, BookEntry]:
    """All entries by name."""
    found = [_of_columns(name, of) for name, of in declared("questions").items()]
    for file in Path(__file__).parent.glob("queries/*.sql"):
        found.append(_of_file(file.stem, file.read_text(encoding="utf-8")))
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def grouped() -> dict[str, list[BookEntry]]:
    """The questions about a collection by what they are about."""
    found = entries()
    return {
        title: [found[name] for name in names.split() if "collection" in found[name].parameters]
        for title, names in declared("groups").items()
    }


def _of_file(name: str, text: str) -> BookEntry:
    """The question that a file of SQL is."""
    sql = _HEAD.sub("", text, count=1)
    question, *lines = text.removesuffix(sql).replace("-- ", "").splitlines()
    asked = "\n".join(line for line in lines if line.startswith(":"))
    parameters = {
        name: (default, what) if default else _usual(name)
        for name, default, what in _PARAMETER.findall(asked)
    }
    note = " ".join(line for line in lines if not line.startswith((":", "kinds ")))
    kinds = " ".join(line for line in lines if line.startswith("kinds "))
    looks = dict(_LOOKS.findall(kinds))
    sql = _with_filters(sql, parameters)
    return BookEntry(name, question, sql, parameters, note=note, looks=looks)


def _of_columns(name: str, written: dict[str, Any]) -> BookEntry:
    """The question that book.yaml says the columns of."""
    parameters = {}
    for word in written.get("parameters", "").split():
        parameter, _, own = word.partition("=")
        default, means = _usual(parameter)
        parameters[parameter] = own or default, written.get("means", {}).get(parameter, means)
    sql = _with_filters(_select(written.get("mart", name), written), parameters)
    looks = {_shown(word): kind for word in written["columns"].split() if (kind := _parts(word)[2])}
    columns = {
        _shown(word): _parts(word)[1].rpartition(".")[2] for word in written["columns"].split()
    }
    note, live = written.get("note", ""), written.get("live", False)
    return BookEntry(name, written["asks"], sql, parameters, live, note, looks, columns)


def _parts(word: str) -> tuple[str, str, str]:
    """The name of a column of the book's data where it has another, the column, and its kind."""
    return _COLUMN.findall(word)[0]


def _shown(word: str) -> str:
    name, column, _ = _parts(word)
    return name or column.rpartition(".")[2]


def _select(mart: str, written: dict[str, Any]) -> str:
    """Columns of a mart as SQL, with `$asked_of_MART` where there are parameters."""
    joined, made, columns = written.get("join", []), written.get("made", {}), []
    for word in written["columns"].split():
        shown, column = _shown(word), _parts(word)[1]
        own = f"{mart}.{column}" if joined and "." not in column else column
        found = made.get(column, own)
        columns.append(found if found.rpartition(".")[2] == shown else f"{found} as {shown}")
    order = [
        f"{made.get(name[1:], name[1:])} desc" if name[0] == "-" else name
        for name in written.get("order", "all").split()
    ]
    where = written.get("where", []) + ([f"$asked_of_{mart}"] if "parameters" in written else [])
    clauses = {
        "select": ",\n".join(columns),
        "from": "\n".join([f"marts.{mart}", *joined]),
        "where": "\nand ".join(where),
        "group by": written.get("group"),
        "qualify": written.get("qualify"),
        "order by": ",\n".join(order),
    }
    return "".join(f"{word}\n{indent(what, '    ')}\n" for word, what in clauses.items() if what)


def _with_filters(text: str, parameters: Iterable[str]) -> str:
    """A question's SQL with a filter in the place of `$asked_of_TABLE`: each parameter that the SQL
    does not use itself asks for rows of that table; most name a value of its column, null any."""
    asking = [name for name in parameters if name not in _USED.findall(text)]

    def filters(found: re.Match[str]) -> str:
        rows = [
            declared("parameters")[name].get("rows", f"(${name} is null or MART.{name} = ${name})")
            for name in asking
        ]
        return indent("\nand ".join(rows), "    ").lstrip().replace("MART", found[1])

    return _ASKED.sub(filters, text)


def _usual(name: str) -> tuple[str, str]:
    """A parameter's default and what it means where a question does not say otherwise."""
    of = declared("parameters")[name]
    return str(of.get("default", "any")), of.get("means", "")


def entry(name: str) -> BookEntry:
    """One entry. Raises `BadInput` when there is none of that name."""
    book = entries()
    require_known(name, book, f"the query book has no @{name}", NotThere)
    return book[name]
