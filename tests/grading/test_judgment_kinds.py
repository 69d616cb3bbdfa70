"""Kinds of judgment are files of grading/kinds: code and dbt read them, and nothing lists them."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from gradelake.grading.engines.lexical import Engine as Lexical
from gradelake.grading.prompts.prompt_file import SLOTS, shipped_prompts
from gradelake.sql.build import seeds
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import FOLDER, WRITING, judgment_kinds, kind_of, targets
from gradelake.sql.common.project import Project
from tests.places import REPOSITORY
from tests.projects import project

ROOMS = ("analyses", "dbt_project", "gradelake", "grading", "ingest", "sql")
CODE = {".py", ".sql", ".js", ".jinja"}
OF_ANSWERS = "criterion|conversation|sentence|battle"


@pytest.mark.parametrize("kind", judgment_kinds().values(), ids=judgment_kinds())
def test_a_shipped_prompt_asks_about_each_kind(kind):
    asking = [
        prompt
        for prompt in shipped_prompts().values()
        if prompt.target == kind.target and prompt.judgment_kind is kind
    ]
    assert asking
    for prompt in asking:
        slots = {*kind.slots} - {"items" if prompt.window is None else "item"}
        assert slots <= {*prompt.slots, "items"}, prompt.name


def test_no_two_kinds_have_the_same_prompts_or_label_sets():
    for one, other in combinations(judgment_kinds().values(), 2):
        assert (one.target, one.item_kind) != (other.target, other.item_kind)
        assert one.label_sets is None or one.label_sets != other.label_sets


def test_every_target_of_a_judgment_is_one_that_prompts_and_engines_know():
    judging = {*targets()} - {*WRITING}
    assert judging < SLOTS.keys()
    assert {each.target for each in judgment_kinds().values()} == Lexical.targets
    for target in ("extract", "verify"):
        assert [kind_of(target, items).kind for items in ("question", "nugget")] == [
            "question",
            "nugget",
        ]
    with pytest.raises(KeyError):
        kind_of("generate", "question")


def test_dbt_has_all_of_them_and_nobody_has_a_seed_of_their_own(tmp_path):
    project(tmp_path, {})
    found = seeds.contents(Project.find(tmp_path / "gradelake.toml"))["judgment_kinds"].decode()
    assert [line.split('"')[1] for line in found.splitlines()[1:]] == [*judgment_kinds()]
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "judgment_kinds.csv").write_text(found)
    with pytest.raises(BadInput, match="no seed has this name"):
        seeds.contents(Project.find(tmp_path / "gradelake.toml"))


def test_nothing_else_lists_them():
    """Two of those that are of answers, in quotes within three lines, are a list."""
    lists = []
    for room in ROOMS:
        for file in sorted((REPOSITORY / room).rglob("*")):
            if file.suffix in CODE and "tests" not in file.parts:
                lines = file.read_text(encoding="utf-8").split("\n")
                for n in range(len(lines)):
                    near = "\n".join(lines[n : n + 3])
                    if len({*re.findall(f"['\"]({OF_ANSWERS})['\"]", near)}) > 1:
                        lists.append(f"{file.relative_to(REPOSITORY)}:{n + 1}")
    assert lists == []


def test_their_page_says_what_each_key_is():
    page = Path(FOLDER, "README.md").read_text(encoding="utf-8")
    for file in FOLDER.glob("*.yaml"):
        for key in re.findall(r"^(\w+):", file.read_text(encoding="utf-8"), re.MULTILINE):
            assert f"`{key}`" in page, key
