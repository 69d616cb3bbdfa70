"""Questions of the book and statements over HTTP: pages, CSV and JSON of any release, for whom."""

import csv
import html
import io
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.exceptions import HTTPException

from gradelake.serve import statement
from gradelake.sql.ask import book, confined, question
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.serve.hostile import PASSAGES, QUERIES, SYSTEM, XSS, Seen
from tests.sql.escapes import REFUSED, STATEMENTS, filled_in, state
from tests.sql.small_lake import small_lake

SCORES = "/c/odd/ask/leaderboard"
LONG = "select count(*) from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 8"


@pytest.fixture(scope="module")
def reader(odd):
    return odd.browser("rita", "reader")


@pytest.fixture(scope="module")
def editor(odd):
    return odd.browser("ed", "editor")


def said(editor, sql: str, **more: str):
    """What the page answers to a statement."""
    return editor.get("/sql", params={"sql": sql, **more})


def alert(page: str) -> str:
    """What a page says is wrong."""
    return " ".join("".join(Seen(page.partition('role="alert">')[2]).texts).split())


def chosen(page: str) -> dict[str, str]:
    """What a form's selects have chosen."""
    selects = re.findall(r'<select name="(\w+)".*?>(.*?)</select>', page, re.DOTALL)
    found = {name: re.search(r'value="([^"]*)" selected', of) for name, of in selects}
    return {name: one[1] if one else "" for name, one in found.items()}


@pytest.mark.slow
def test_every_question_of_the_book_has_a_page_and_a_json_and_csv_has_the_same_rows(reader):
    listed = reader.get("/c/odd/ask/").text
    for name, entry in book.entries().items():
        if "collection" not in entry.parameters:
            continue
        assert f'href="/c/odd/ask/{name}"' in listed
        page = reader.get(f"/c/odd/ask/{name}")
        assert page.status_code == 200, name
        assert Seen(page.text).is_clean
    as_csv = reader.get(f"{SCORES}.csv")
    assert as_csv.headers["content-type"] == "text/csv; charset=utf-8"
    head, *rows = csv.reader(io.StringIO(as_csv.text, newline=""))
    as_json = reader.get(f"{SCORES}.json")
    assert as_json.headers["content-type"] == "application/json"
    records = as_json.json()
    assert len(records) == len(rows) > 0
    assert all(list(record) == head for record in records)


def test_an_answer_is_that_of_the_lake(reader, odd_lake):
    entry = book.entry("leaderboard")
    with Lake.published(Project.find(odd_lake)) as lake:
        lake.connection.execute("use lake.marts")
        values = entry.values({"collection": "odd", "measure": "AP"})
        expected = lake.objects(entry.sql, **values)

    found = reader.get(f"{SCORES}.json", params={"measure": "AP"}).json()
    assert {row["system"] for row in found} == {"plain", SYSTEM}
    assert found == json.loads(json.dumps(expected))


@pytest.mark.slow
def test_ids_are_values_whatever_they_hold(reader):
    query_id = QUERIES[2]
    given = {"query_id": query_id, "tau": "any"}
    found = reader.get("/c/odd/ask/verify_grades.json", params=given).json()

    assert {row["query_id"] for row in found} == {query_id}
    assert {row["passage_id"] for row in found} == set(PASSAGES)
    page = reader.get("/c/odd/ask/verify_grades", params=given)
    assert query_id in Seen(page.text).texts
    # the links to files ask the same
    (link,) = [to for to in Seen(page.text).links if ".json" in to]
    assert reader.get(link).json() == found


def test_a_release_is_named_in_the_address(reader):
    assert reader.get(f"{SCORES}.csv?release=r1").text == reader.get(f"{SCORES}.csv").text
    nothing = reader.get(f"{SCORES}?release=r0")
    assert nothing.status_code == 404  # start_lake takes it away
    assert "there is no release" in nothing.text


@pytest.mark.slow
def test_what_cannot_be_asked_is_said_in_words(reader):
    for path, status, words in (
        ("/c/nowhere/ask/", 404, "the lake has no collection"),
        ("/c/nowhere/ask/leaderboard", 404, "the lake has no collection"),
        ("/c/odd/ask/nothing", 404, "the query book has no @nothing"),
        ("/c/odd/ask/leaderboard.exe", 404, "a .csv or .json file"),
        ("/c/odd/ask/leaderboard?colour=red", 400, "has no parameter &#39;colour&#39;"),
        ("/c/odd/ask/leaderboard?measure=AQ", 400, "there is none"),
        ("/c/odd/ask/leaderboard.csv?level=x", 400, "a whole number is needed"),
        (f"/c/odd/ask/leaderboard?measure={XSS}", 400, "there is none"),
    ):
        answer = reader.get(path)
        assert (answer.status_code, words in answer.text) == (status, True), path
        assert Seen(answer.text).is_clean


@pytest.mark.slow
def test_a_wrong_value_stays_in_the_form_that_asks_again(reader):
    page = reader.get("/c/odd/ask/leaderboard?measure=AQ&level=2").text
    assert chosen(page) == {"label_set": "", "measure": "AQ", "level": "2"}
    assert re.search(r'name="measure"[^>]*aria-invalid="true"', page)
    assert alert(page).startswith("measure 'AQ': there is none. There are: nDCG")
    both = reader.get("/c/odd/ask/verify_grades?tau=x&grader=nobody").text
    assert re.findall(r'name="(\w+)"[^>]*aria-invalid="true"', both) == ["grader", "tau"]


def test_what_exists_in_the_collection_can_be_chosen(reader, odd_lake):
    page = reader.get("/c/odd/ask/verify_grades").text
    options = {
        name: [html.unescape(one) for one in re.findall("<option[^>]*>(.*?)</option>", of)]
        for name, of in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', page, re.DOTALL)
    }
    assert options["query_id"] == ["any", *sorted(QUERIES)]
    assert options["rubric_version"] == ["newest", "any", "0", "1"]
    with Lake.published(Project.find(odd_lake)) as lake:
        assert book.known(lake, "query_id", "another") == set()


def test_the_book_is_in_six_groups_and_filtered_without_a_script(reader):
    assert sorted(one.name for group in book.grouped().values() for one in group) == sorted(
        name for name, one in book.entries().items() if "collection" in one.parameters
    )
    page = reader.get("/c/odd/ask/").text
    assert page.count("<section") == 7
    assert 'leaderboard">Which system is best, under which labels?</a>' in page
    found = reader.get("/c/odd/ask/?filter=best SYSTEM").text
    assert re.findall(r'<li><a href="/c/odd/ask/(\w+)"', found) == ["leaderboard", "segments"]
    assert len(re.findall("<section[^>]* hidden>", found)) == 6
    assert "Nothing matches “no such words”" in reader.get("/c/odd/ask/?filter=no such words").text


@pytest.mark.slow
def test_rows_lead_to_the_pages_of_what_they_name(reader):
    page = reader.get("/c/odd/ask/verify_grades?tau=any&release=r1").text
    links = [
        to for to in Seen(page).links if to.startswith(("/c/odd/queries/", "/c/odd/passages/"))
    ]
    assert len(links) >= 2 * len(PASSAGES)
    for to in {*links, *[to for to in Seen(reader.get(SCORES).text).links if "/systems/" in to]}:
        assert reader.get(to).status_code in (200, 202), to


@pytest.mark.slow
def test_each_question_opens_as_sql_that_a_statement_may_say_and_finds_the_same(odd_lake):
    asked = {"leaderboard": {"measure": "AP"}, "verify_grades": {"query_id": QUERIES[0]}}
    with Lake.published(Project.find(odd_lake)) as lake:
        confined.prepare(lake, allow_files=False)
        n_rows = 0
        for name, entry in book.entries().items():
            if entry.live or "collection" not in entry.parameters:
                continue
            values = entry.values({"collection": "odd"} | asked.get(name, {}))
            written = entry.written_out(values)
            assert "$" not in written, name
            found = question.rows(lake, written).fetchall()
            assert found == lake.rows(entry.sql, **values), name
            n_rows += len(found)
        assert n_rows > 100


def test_only_those_who_may_write_sql_are_led_to_it(reader, editor):
    assert "Open as SQL" in editor.get(SCORES).text
    assert "Open as SQL" not in reader.get(SCORES).text


@pytest.mark.slow
def test_the_page_for_sql_has_examples_that_run_and_the_tables(editor):
    page = editor.get("/sql").text
    for name in ("leaderboard", "raw.queries"):
        assert f'<span class="id">{name}</span>' in page
    examples = [to for to in Seen(page).links if to.startswith("/sql?sql=")]
    assert len(examples) == 3
    for to in examples:
        assert editor.get(to).status_code == 200, to


def test_a_statement_in_the_link_of_another_site_is_not_run(editor):
    params = {"sql": "select 6 * 7 as found"}
    assert "42" in editor.get("/sql", params=params).text
    from_elsewhere = editor.get(
        "/sql", params=params, headers={"sec-fetch-site": "cross-site"}
    ).text
    assert "select 6 * 7 as found</textarea>" in from_elsewhere
    assert "1 row." not in from_elsewhere


@pytest.mark.slow
def test_an_editor_reads_a_release_in_sql(editor):
    page = said(editor, "select query_id, text from raw.queries order by text")
    assert page.status_code == 200
    assert [text for text in Seen(page.text).texts if text in QUERIES] == QUERIES
    assert Seen(page.text).is_clean
    files = [
        said(editor, "from leaderboard", format=each, release="r1") for each in ("csv", "json")
    ]
    assert len(files[1].json()) == len(files[0].text.splitlines()) - 1
    assert said(editor, "select 1", release="r9").status_code == 400


def test_statements_that_do_more_or_cannot_be_done_are_refused_in_words(editor):
    """What more can be: tests/sql/escapes.py."""
    for sql in (
        "delete from raw.grades",
        "select * from read_text('/etc/passwd')",
        "select 1; select 2",
        "",
        "nonsense",
        "select 'x'::int",
        "\ud83d".encode("utf-8", "surrogatepass").decode("latin-1"),
    ):
        answer = said(editor, sql)
        assert answer.status_code == 400, sql
        assert alert(answer.text), sql
        assert "Traceback" not in answer.text


@pytest.mark.slow
def test_an_error_in_the_middle_of_the_rows_is_said_in_words(editor):
    late = "select (case when i = 200000 then 'x' else '1' end)::int from range(300000) as t(i)"
    for format_ in ("csv", "json"):
        answer = said(editor, late, format=format_)
        assert answer.status_code == 400
        assert "Could not convert string 'x'" in alert(answer.text)


@pytest.mark.slow
def test_pages_and_files_have_limits_that_they_tell(editor):
    page = said(editor, "select i from range(1001) as t(i)").text
    assert "The first 1,000 rows; a file has all of them." in page
    page = said(editor, "select repeat('x', 1000000) as long").text
    assert "(1,000,000 letters; a file has all)" in page
    assert len(page) < 100_000
    formula = said(editor, "select '=cmd|x' as name, -1 as n", format="csv")
    assert formula.text == "name,n\n'=cmd|x,-1\n"
    whole = said(editor, "select i from range(150000) as t(i)", format="csv")
    assert len(whole.text.splitlines()) == 150_001
    large = said(editor, "select repeat('x', 1000) from range(100000)", format="json")
    assert large.status_code == 400
    assert "a file of this is larger than 64 MB" in alert(large.text)


@pytest.mark.slow
def test_what_does_more_than_read_the_lake_is_refused_on_the_page(tmp_path):
    """As in the shell and from a model: tests/sql/test_confined.py."""
    (tmp_path / "file.csv").write_text("a,b\n1,secret\n")
    project = small_lake(tmp_path)
    with Lake.live(project) as live:
        before = state(live)
        for each in STATEMENTS:
            with pytest.raises(BadInput, match=rf"{REFUSED}|one statement"):
                statement.run(project, None, filled_in(each, project), "csv")
        assert state(live) == before


NESTED = "repeat('[', 1000000) || repeat(']', 1000000)"
DEADLY = {
    "JSON a million deep": f"select json_structure({NESTED})",
    "JSON as a variant": f"select ({NESTED})::json::variant",
    "no interrupt is heeded": "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "long to parse": "select 1 where true" + " and true" * 50_000,
    "wide to plan": " union all ".join(["select 1"] * 20_000),
    "long to compute": LONG,
    "in a temporary table": f"create temp table x as {LONG}",
    "memory that DuckDB does not count": "select lpad('a', 2000000000, 'b')",
}


@pytest.fixture
def run(odd_lake, monkeypatch):
    """A statement as the server runs it, for 3 seconds."""
    monkeypatch.setattr(statement, "SECONDS", 3.0)
    return lambda sql: statement.run(Project.find(odd_lake), None, sql, "csv")


@pytest.mark.slow
@pytest.mark.parametrize("sql", DEADLY.values(), ids=DEADLY)
def test_no_statement_ends_the_server_or_goes_on_after_its_time(sql, run):
    started = time.monotonic()
    with pytest.raises(BadInput, match=r"(?i)timed out after 3 s|ended the process|memory"):
        run(sql)
    assert time.monotonic() - started < 20


@pytest.mark.slow
def test_the_server_answers_on_after_a_statement_that_killed_its_process(editor):
    killed = said(editor, f"select json_structure({NESTED})")
    assert killed.status_code == 400
    assert "this statement ended the process that ran it" in alert(killed.text)
    told = alert(said(editor, "select txid_current()").text)
    assert "INTERNAL Error" in told
    assert "0x" not in told, "DuckDB's own stack"


@pytest.mark.slow
def test_a_third_statement_at_once_is_told_to_wait(run):
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(run, LONG) for _ in range(2)]
        time.sleep(0.2)
        with pytest.raises(HTTPException, match="Two statements"):
            run("select 1")
        assert {type(each.exception()) for each in running} == {BadInput}
    assert run("select 1").file == ["1\n1\n", ""]
