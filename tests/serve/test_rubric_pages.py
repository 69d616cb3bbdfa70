"""Editing a rubric over HTTP: as `gradelake rubric edit` does it, by several people at once."""

import csv
import json
import re
import shutil
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
from lxml import html

from gradelake.serve.rubric_jobs import path_to
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import author
from tests.command_line import gradelake
from tests.moved_demo import HOSTILE
from tests.reading import live
from tests.serve.server import own_server

pytestmark = pytest.mark.slow
QUERY = "sourdough-sour-rise"
AT = f"/c/demo/rubric/{QUERY}"
OLD, NEW = "give the bread its taste", "make sourdough bread taste sour"
NASTY = [
    HOSTILE,
    '"quoted" at the start',
    "=cmd|' /C calc'!A0",
    "+ 2 nugget Another one",
    "# not in force",
    "@query other @bank questions @base 00000000",
    "line one\n@query bird-navigation @bank questions @base 00000000\n+ question Smuggled?",
    "line one\n+ 2 question Smuggled?",
    "a [answers: smuggled]",
    "\\u0041 \\n {{ 7 * 7 }}",
    "a\u2028b\u0085c",
]


def form_of(page: httpx.Response) -> dict[str, str]:
    """What a browser would send of a page's form of the rubric."""
    (form,) = html.document_fromstring(page.text).xpath("//form[@id='rubric']")
    for area in form.iter("textarea"):
        area.text = (area.text or "").removeprefix("\n")
    return {name: re.sub("\r?\n", "\r\n", value) for name, value in form.form_values()}


def name_of(form: dict[str, str], text: str) -> str:
    """The field's name, but for its last part, of the item with this in its text."""
    (name,) = (name for name, value in form.items() if text in value and name.endswith(".text"))
    return name.removesuffix(".text")


def items_of(page: httpx.Response) -> list[str]:
    """How a page heads each item that is there."""
    heads = [each.text_content() for each in html.document_fromstring(page.text).iter("legend")]
    return [head for head in heads if not head.startswith("New item")]


def post(client: httpx.Client, form: dict[str, str], do: str = "save", at: str = AT):
    return client.post(at, data=form | {"do": do})


def ended(client: httpx.Client, started: httpx.Response) -> str:
    """The page of work that began, once it ended."""
    assert started.status_code == 303, words(started.text)
    path = started.headers["location"]
    for _ in range(600):
        if client.get(f"{path}/state").json()["ended"]:
            return client.get(path).text
        time.sleep(0.1)
    raise AssertionError("it does not end")


def words(page: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def rows(folder: Path) -> list[dict[str, str]]:
    file = folder / "seeds" / "rubric_edits.csv"
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def own(graded_demo, tmp_path):
    """A server of a lake of a test's own."""
    with own_server(graded_demo, tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def editor(server):
    return server.browser("ed", "editor")


def test_the_list_has_what_the_query_book_says(server, demo_lake):
    page = server.browser("rita", "reader").get("/c/demo/rubric/?grader=lexical&tau=3").text
    with Lake.published(Project.read(demo_lake / "gradelake.toml")) as lake:
        spurious = lake.rows(
            "select query_id, item_text, n_hits, n_non_relevant from lake.marts.spurious_items "
            "where collection = 'demo' and grader = 'lexical' and tau = 3 and is_usual"
        )
    listed = [
        (row.xpath("string(th/a)"), int(row.xpath("string(td[last()])")))
        for row in html.document_fromstring(page).xpath("//tbody/tr")
    ]
    assert Counter(dict(listed)) == Counter(row[0] for row in spurious)
    assert [n for _, n in listed] == sorted((n for _, n in listed), reverse=True)  # worst first
    page = server.browser("rita", "reader").get(f"{AT}?grader=lexical&tau=3").text
    assert "Save" not in page
    assert "5 of 17 non-relevant" in words(page)  # as ingest/rubric/README.md has it
    lines = html.document_fromstring(page).xpath("//ul[@class='lines']/li[details[2]]")
    shown = [
        (
            QUERY,
            line.xpath("string(details[1]/summary)"),
            len(line.xpath("details[2]//li")),
            int(line.xpath("string(details[2]/summary)").split()[2]),
        )
        for line in lines
    ]
    assert sorted(shown) == sorted(row for row in spurious if row[0] == QUERY)
    rates = [n / of for _, _, n, of in shown]
    assert rates == sorted(rates, reverse=True)


def test_what_is_unknown_is_said(editor):
    assert "no query" in editor.get("/c/demo/rubric/sourdough").text
    assert "no collection" in editor.get("/c/demos/rubric/").text
    assert editor.get("/jobs/0").status_code == 404
    form = form_of(editor.get(AT))
    assert post(editor, form | {"version": "x"}).status_code == 400
    assert "no rubric version 9" in post(editor, form | {"version": "9"}).text


def test_what_is_refused_stays_in_the_form_and_is_saved_nowhere(editor, demo_lake):
    whole = form_of(editor.get(AT))
    name = name_of(whole, OLD)
    refused = [
        ("text", "", "its text is empty"),
        ("weight", "heavy", "weight 'heavy' is not a number"),
        ("weight", "1 question Why?\r\n+ question Smuggled?", "is not a number"),
        ("kind", "question Why?\r\n+ question", "kind must be question, nugget or like criterion"),
        ("facet", "x question Why?\r\n+", "has no facet"),
    ]
    for n, (field, value, message) in enumerate(refused):
        at = "1.new.0" if field in ("kind", "facet") else name
        form = whole | {"1.new.0.text": "New?"} if at != name else whole
        form = form | {f"{at}.{field}": value, "reason": "kept, too"}
        page = post(editor, form, "preview" if n % 2 else "save")
        assert page.status_code == 400, value
        assert message in page.text.replace("&#39;", "'"), value
        again = form_of(page)
        assert again["reason"] == "kept, too"
        assert items_of(page) == items_of(editor.get(AT))
        if at == name:
            assert again[f"{name}.{field}"] == value.strip()
            assert f'id="{name}-error"' in page.text
    assert rows(demo_lake) == []


def test_another_item_is_added_without_a_script(editor, demo_lake):
    form = form_of(editor.get(AT)) | {"1.new.0.text": "New?", "1.item.0.text": "Changed?"}
    again = form_of(editor.post(AT, data=form | {"more": "1"}))
    assert again.items() >= form.items()
    assert again["1.new.1.text"] == ""
    assert all(name.startswith("1.new.1.") for name in again.keys() - form.keys())
    assert rows(demo_lake) == []


def test_a_preview_says_what_the_command_says_and_writes_nothing(editor, demo_lake, tmp_path):
    form = form_of(editor.get(AT))
    name = name_of(form, OLD)
    form[f"{name}.text"] = form[f"{name}.text"].replace(OLD, NEW)

    page = post(editor, form, "preview")

    assert rows(demo_lake) == []
    sheet = gradelake(demo_lake, "rubric", "edit", QUERY, "--print").stdout.replace(OLD, NEW)
    (tmp_path / "sheet.txt").write_text(sheet)
    said = gradelake(
        demo_lake, "rubric", "preview", "--from", str(tmp_path / "sheet.txt"), "--json"
    )
    (version,) = json.loads(said.stdout)["versions"]
    shown = words(page.text)
    for one in version["label_sets"]:
        moved = f"{one['n_boards_moved']} of {one['n_boards']}"
        ups = [str(one[f"n_labels_{way}"]) for way in ("up", "down", "new", "gone")]
        assert f"{one['label_set']} {' '.join(ups)} {moved}" in shown
    (grades,) = version["grades"]
    assert f"lexical {grades['n_items']} {grades['n_passages']} {grades['n_wanted']}" in shown
    assert f"<ins>{NEW.partition(' ')[0]}</ins>" in page.text
    assert form_of(page)[f"{name}.text"] == form[f"{name}.text"]
    assert "Nothing is changed" in post(editor, form_of(editor.get(AT)), "preview").text


def test_each_kind_of_edit_is_a_row_as_the_command_writes_it_and_hostile_texts_are_texts(own):
    ed = own.browser("ed", "operator")
    form = form_of(ed.get(AT))
    dropped = form["1.item.0.text"]
    form["1.item.0.drop"] = "on"
    for n, text in enumerate(NASTY):
        new = {"id": "", "text": text.replace("\n", "\r\n"), "kind": "question", "weight": "1"}
        form |= {f"1.new.{n}.{field}": value for field, value in new.items()}
        form[f"1.new.{n}.answers"] = HOSTILE + "] [answers: x\r\n+ question Smuggled?"
    form["reason"] = HOSTILE + "\r\n@query x\0"

    saved = ended(ed, post(ed, form))

    assert f"drop: {dropped}" in words(saved)
    found = rows(own.folder)
    assert {row["query_id"] for row in found} == {QUERY}
    assert [row["text"] for row in found if row["action"] == "add"] == NASTY
    assert [row["item_id"] for row in found if row["action"] != "add"] == [form["1.item.0.id"]]
    with Lake.published(Project.read(own.folder / "gradelake.toml")) as lake:
        in_force = set(
            lake.column("select text from lake.marts.rubric_items_effective where action = 'add'")
        )
    assert in_force == set(NASTY)
    pages = [saved, ed.get(AT).text, ed.get("/c/demo/rubric/").text]
    form = form_of(ed.get(AT))
    pages.append(post(ed, form, "preview").text)
    assert "Nothing is changed" in pages[-1]  # every text comes back as it was
    for page in pages:
        assert "<script>window" not in page
        assert "<img" not in page

    assert form["1.gone.0.text"] == dropped
    name = name_of(form, OLD)
    form[f"{name}.text"] = form[f"{name}.text"].replace(OLD, NEW)
    form["1.gone.0.restore"], form["1.gone.0.weight"] = "on", "2"
    form["0.item.0.weight"] = "0.5"
    form["0.item.1.answers"] = "odds|a \\| b"
    form["0.item.2.drop"] = "on"
    added = {"text": "What is new?", "kind": "nugget", "answers": "x|y", "weight": "3"}
    form |= {f"1.new.0.{field}": value for field, value in added.items()}
    form["reason"] = "  many\r\n things "
    page = words(ended(ed, post(ed, form)))
    assert "Saved as version 2" in page
    assert "grades of the changed items are missing; until they are made" in page
    assert "12 items have no grades by lexical" in words(ed.get(AT).text)

    others = [row for row in rows(own.folder) if row["rubric_version"] == "2"]
    of_item = {"collection": "demo", "editor": "ed", "reason": "many things"}
    for row in others:
        assert row.items() >= of_item.items()
    columns = ("action", "item_id", "text", "gold_answer", "weight")
    assert sorted(tuple(row[column] for column in columns) for row in others) == [
        ("add", "", "What is new?", "x|y", "3"),
        ("drop", form["0.item.2.id"], "", "", ""),
        ("reanswer", form["0.item.1.id"], "", "odds|a \\| b", ""),
        ("restore", form["1.gone.0.id"], "", "", "2"),
        ("reweight", form["0.item.0.id"], "", "", "0.5"),
        ("reword", form[f"{name}.id"], form[f"{name}.text"], "", ""),
    ]

    at, sent = f"/c/demo/grading/{QUERY}", {"token": form["token"]}
    assert ed.post(at, data=sent | {"grader": "--grader"}).status_code == 400
    started = ed.post(at, data=sent | {"grader": "lexical"})
    while "Stop</button>" not in ed.get(started.headers["location"]).text:
        time.sleep(0.05)
    ed.post(f"{started.headers['location']}/stop", data=sent)
    assert "Stopped. 0 grades were added" in words(ended(ed, started))
    everything = "/c/demo/grading/"
    told = ed.get(everything).text
    lacking = live(own.folder).column(
        "select count(*) from lake.marts.grading_backlog where query_id = ? and grader = 'lexical' "
        "and rubric_version = (select max(rubric_version) from lake.marts.rubric_versions)",
        QUERY,
    )
    missing = re.findall(rf'grading/{QUERY}">{QUERY}</a></th><td class="n">([\d,]+)</td>', told)
    assert [int(n.replace(",", "")) for n in missing] == lacking
    (all_graders,) = re.findall(r'name="grader" value="(\S+ [^"]+)"', told)
    started = ed.post(everything, data=sent | {"grader": all_graders})
    assert re.search(r"[1-9]\d* grades were added", words(ended(ed, started)))
    page = words(ed.get(everything).text)
    assert "No grades of demo are missing." in page
    done = live(own.folder).rows(
        "select strftime(started_at, '%Y-%m-%d %H:%M'), name, state from lake.raw.grading_runs "
        "inner join lake.raw.graders using (grader_id) where collection = 'demo'"
    )
    for at, grader, state in done:
        assert re.search(f"{at} grade with {grader} (ed|{author()}) {state}", page)
    assert re.findall(r"grade with \w+ (\w+) ", page) == ["ed"] * (len(done) - 3) + [author()] * 3
    releases = live(own.folder).column(
        "select counts ->> '$.release' from lake.raw.pipeline_runs where command = 'build'"
    )
    assert len(releases) > 3
    by = ["ed"] * (len(releases) - 2) + [author()] * 2
    built = re.findall(r" build (\w+) done [\d.]+ s release (\w+)", page)
    assert built == list(zip(by, sorted(releases, reverse=True), strict=True))


def test_two_people_edit_the_same_query_and_the_server_ends_in_a_build(own):
    ann, bob = own.browser("ann", "editor"), own.browser("bob", "editor")
    mine, yours = form_of(ann.get(AT)), form_of(bob.get(AT))
    others = form_of(ann.get("/c/demo/rubric/bird-navigation"))
    name = name_of(mine, OLD)
    mine[f"{name}.text"] = mine[f"{name}.text"].replace(OLD, NEW)
    mine["0.item.2.drop"] = "on"
    yours[f"{name}.text"] = "Which acids are in a sourdough?"
    yours["1.new.0.text"] = "How sour is it?"
    yours["0.item.0.weight"] = "2"
    yours["0.item.2.text"] = "Said otherwise"
    started = post(ann, mine)
    assert started.status_code == 303

    told = post(bob, yours)

    assert told.status_code == 409
    assert "somebody else edited this query" in told.text
    assert "<ins>sourdough</ins>" in told.text
    again = form_of(told)
    assert again["version"] == "1"
    kept = name_of(again, "Which acids are in a sourdough?")
    assert again[f"{kept}.id"] != yours[f"{name}.id"]  # it is ann's item that he rewords now
    assert again["1.new.0.text"] == "How sour is it?"
    assert again["0.new.0.text"] == "Said otherwise"  # what ann dropped comes as a new item
    assert again["0.item.0.weight"] == "2"
    assert {row["editor"] for row in rows(own.folder)} == {"ann"}
    ended(ann, started)
    # an edit of another query is no conflict
    others["0.item.0.weight"] = "2"
    another = post(ann, others, at="/c/demo/rubric/bird-navigation")
    assert another.status_code == 303
    while ann.get(f"{another.headers['location']}/state").json()["state"] == "waiting":
        time.sleep(0.01)  # what bob saves before it begins is in this build, and his has no work
    saved = post(bob, again)
    by = [(row["rubric_version"], row["action"], row["editor"]) for row in rows(own.folder)]
    assert sorted(by) == [
        ("1", "drop", "ann"),
        ("1", "reword", "ann"),
        ("2", "reweight", "ann"),
        ("3", "add", "bob"),
        ("3", "add", "bob"),
        ("3", "reweight", "bob"),
        ("3", "reword", "bob"),
    ]

    state = f"{saved.headers['location']}/state"
    while not bob.get(state).json()["total"]:
        time.sleep(0.05)
    before = time.monotonic()
    own.end()
    assert time.monotonic() - before < 20
    gradelake(own.folder, "build")
    with Lake.published(Project.read(own.folder / "gradelake.toml")) as lake:
        assert lake.value("select max(rubric_version) from lake.marts.rubric_versions") == 3


def test_a_build_that_fails_says_why(editor, demo_lake):
    seeds = demo_lake / "seeds"
    seeds.mkdir()
    (seeds / "nonsense.csv").write_text("a\n")
    token = editor.headers["x-token"]

    page = ended(editor, editor.post("/c/demo/build", data={"token": token}))

    assert "no seed has this name" in page
    assert "Build again" in page
    assert "no seed has this name" in editor.get(AT).text
    shutil.rmtree(seeds)


def test_a_query_whose_id_browsers_read_as_a_folder_has_another_address(editor):
    """Of other odd ids: test_guard.py."""
    assert path_to("rubric", "demo", "a/b") == "/c/demo/rubric/a%2Fb"
    assert path_to("rubric", "demo", "..") == "/c/demo/rubric/?query=.."
    at = f"/c/demo/rubric/?query={QUERY}"
    form = form_of(editor.get(at))
    assert form == form_of(editor.get(AT))
    assert post(editor, form, at=at, do="preview").status_code == 200
