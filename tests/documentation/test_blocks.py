"""Every block of every page is tested, or says why not; every command that is shown exists."""

import itertools
import json
import shlex
import tomllib

import yaml

from tests.calls import calls, check
from tests.documentation.pages import blocks, commands_in_prose, pages
from tests.documentation.run import PAGES
from tests.places import REPOSITORY

BLOCKS = [block for page in pages() for block in blocks(page)]
COMMANDS = [block for block in BLOCKS if block.language in ("bash", "console")]
# run by a test that reads them from their page, each kind in its own way
OTHERS = {"text", "toml", "sql", "python", "csv", "mermaid", "r", "json", "yaml", "ini"}


def test_there_are_pages_and_blocks():
    assert len(pages()) > 10
    assert len(PAGES) > 10
    assert len(COMMANDS) > 40


def test_every_block_names_its_language():
    assert [b.place for b in BLOCKS if b.language not in {"bash", "console"} | OTHERS] == []


def test_what_no_test_here_runs_says_who_does_or_why_nobody():
    for block in BLOCKS:
        for reason in block.noted("elsewhere"):
            file, _, why = reason.partition(", ")
            assert (REPOSITORY / file).is_file(), f"{block.place}: no {file}"
            assert why, f"{block.place}: why there?"
        for reason in block.noted("never"):
            assert len(reason) > 10, f"{block.place}: why is it never run?"
        known = {"in", "first", "printed", "exits", "elsewhere", "never"}
        assert {word for word, _ in block.notes} <= known, block.place


def wrong(place: str, words: list[str], **more: bool) -> list[str]:
    """What is wrong with a call that a page shows."""
    try:
        check(words, **more)
    except AssertionError as error:
        return [f"{place}: {error}"]
    return []


def test_every_command_of_ours_exists_with_its_options():
    assert [
        each
        for block in COMMANDS
        for step in block.steps()
        for words in calls(step.command)
        for each in wrong(block.place, words)
    ] == []


def test_commands_in_prose_exist_with_their_options():
    found = []
    for page in pages():
        for command in commands_in_prose(page):
            _, *words = shlex.split(command)
            for chosen in itertools.product(*(w.split("|") for w in words)):  # `keep|drop`
                found += wrong(page, list(chosen), whole=False)
    assert found == []


def test_files_that_are_shown_can_be_read():
    for language, read in (("toml", tomllib.loads), ("json", json.loads), ("yaml", yaml.safe_load)):
        found = [block for block in BLOCKS if block.language == language]
        assert found
        for block in found:
            assert read(block.text), block.place
