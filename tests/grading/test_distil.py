"""`gradelake distil`: judgments are explained, explanations become rubrics, all is stored or none.

The collection has judgments 2 (p1, p5), 1 (p3) and 0 (p2, p4); a scripted server writes.
"""

import json
import re
import shlex
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradelake.grading.distil import distil as distilling
from gradelake.grading.distil.distil_store import DistilRequest
from gradelake.grading.distil.rubric_file import read_rubric_file
from gradelake.grading.graders.configured import configured, judges, writing
from gradelake.grading.graders.label_rubrics import find_label_rubric
from gradelake.grading.prompts.prompt_file import find_prompt
from gradelake.grading.prompts.written_reply import FEATURES
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.problems import Rejected
from tests.grading.misbehaving import Server, answer
from tests.grading.project import copy_of
from tests.grading.test_generate import extra

pytestmark = pytest.mark.slow

EXPLAIN, DISTIL = "Explain why this passage", "Write the rubric of the label"


def explanation(word: str) -> str:
    return json.dumps({feature: f"{word} in {feature}" for feature in FEATURES})


def label_of(asked) -> str:
    return re.search(r"rubric of the label (\d)", asked.text)[1]


def iteration_of(asked) -> int:
    """1 where there are no rubrics yet; later ones are told the number that the last one wrote."""
    found = re.search(r"Label 0: version (\d)", asked.text)
    return int(found[1]) + 1 if found else 1


def a_rubric(asked):
    return answer(json.dumps({"rubric": f"version {iteration_of(asked)} of {label_of(asked)}"}))


def scripted() -> Server:
    """Explains with the passage's first words; numbers the rubrics it writes."""
    server = Server()
    server.on(DISTIL, a_rubric)
    server.on(
        "", lambda asked: answer(explanation(re.search(r"Passage: (\w+ \w+ \w+)", asked.text)[1]))
    )
    return server


@pytest.fixture
def server():
    with scripted() as server:
        yield server


def with_explainer(judged, server: Server):
    judged.graders["explainer"] = {
        "engine": "openai",
        "model": "m",
        "prompt": "true_explain",
        "base_url": server.url,
        "pause": 0.01,
        "timeout": 20.0,
    }
    return judged


@pytest.fixture
def judged(judged, server):
    return with_explainer(judged, server)


@dataclass
class Distilled:
    """A lake with the rubric `trec`, how it was made, and what the server was asked for it."""

    lake: Path
    outcome: distilling.DistilRun
    server: Server


@pytest.fixture(scope="module")
def distilled(judged_lake, tmp_path_factory) -> Distilled:
    folder = tmp_path_factory.mktemp("distilled")
    with (
        scripted() as server,
        closing(with_explainer(copy_of(judged_lake, folder), server)) as judged,
    ):
        outcome = distil(judged)
    return Distilled(folder / "lake", outcome, server)


@pytest.fixture
def trec(distilled, server, tmp_path):
    """The collection with that rubric."""
    with closing(with_explainer(copy_of(distilled.lake, tmp_path / "trec"), server)) as judged:
        yield judged


def distil(judged, name: str = "trec", **options) -> distilling.DistilRun:
    project = judged.project
    options = {"per_label": 2, **options}
    prompt = find_prompt(project, options.pop("distil_prompt", "true_distil"))
    grader = writing(project, "explainer", "explain")
    request = DistilRequest(judged.name, "nist", grader, name, prompt, **options)
    return distilling.distil(project, request, ["distil"])


def judge(judged, prompt: str = "true_direct", **settings):
    """A grader without a model, that judges by the rubric `trec`."""
    judged.graders["true"] = {
        "engine": "lexical",
        "prompt": prompt,
        "label_rubrics": "trec",
        **settings,
    }
    return configured(judged.project, judged.lake, "true")


# --- the plain case -------------------------------------------------------------------------------


def test_every_pair_is_explained_and_every_label_gets_a_rubric_refined_three_times(trec, distilled):
    outcome, server = distilled.outcome, distilled.server
    assert (outcome.explained, outcome.iterations, outcome.failed) == (5, 3, {})
    assert outcome.rubrics == {label: f"version 3 of {label}" for label in range(3)}
    assert len(server.about(EXPLAIN)) == 5
    assert len(server.about(DISTIL)) == 9
    rows = trec.rows(
        "select iteration, label, text, n_explanations from lake.raw.label_rubrics "
        "order by iteration, label"
    )
    # labels 0 and 2 have two explanations, label 1 has one: fewer than iterations, so all are read
    assert rows == [
        (iteration, label, f"version {iteration} of {label}", n)
        for iteration in (1, 2, 3)
        for label, n in ((0, 2), (1, 1), (2, 2))
    ]


def test_the_explainer_reads_query_passage_and_label_and_is_held_to_the_five_features(distilled):
    (asked,) = distilled.server.about("Bees find their way home by the sun.")
    assert "from 0 (not relevant at all) to 2 (perfectly relevant)" in asked.text
    assert "why this passage has the label 1 for this query" in asked.text
    assert "Query: how do bees find home\n" in asked.text
    schema = asked.body["response_format"]["json_schema"]
    assert (schema["name"], schema["schema"]["required"]) == ("explanation", list(FEATURES))


def test_a_rubric_is_made_of_the_explanations_of_its_label_and_the_rubrics_so_far(distilled):
    first, second, _ = (asked for asked in distilled.server.about("rubric of the label 0"))
    assert "The rubrics of all labels so far:\nnone yet\n" in first.text
    for text in (first.text, second.text):
        assert "intent alignment: Bees remember landmarks in intent_alignment" in text  # p2
        assert "usefulness: Cars are made in usefulness" in text  # p4
        assert "The sky is" not in text
    rubrics = "Label 0: version 1 of 0\nLabel 1: version 1 of 1\nLabel 2: version 1 of 2\n"
    assert rubrics in second.text
    schema = first.body["response_format"]["json_schema"]
    assert (schema["name"], schema["schema"]["required"]) == ("rubric", ["rubric"])


@pytest.mark.fast
def test_each_iteration_reads_another_part_of_the_explanations():
    explanations = [{"coverage": str(n)} for n in range(7)]
    parts = [distilling.part_of(explanations, iteration, 3) for iteration in (1, 2, 3)]
    assert [[one["coverage"] for one in part] for part in parts] == [
        ["0", "3", "6"],
        ["1", "4"],
        ["2", "5"],
    ]
    assert distilling.part_of(explanations[:2], 3, 3) == explanations[:2]


def test_the_pairs_and_who_explained_them_can_be_found(trec, distilled):
    pairs = trec.lake.rows(
        "select query_id, passage_id, label, explanation->>'$.accuracy' from "
        "lake.raw.label_rubric_pairs where rubric_id = ? order by passage_id",
        distilled.outcome.rubric_id,
    )
    assert pairs == [
        ("q1", "p1", 2, "The sky is in accuracy"),
        ("q1", "p2", 0, "Bees remember landmarks in accuracy"),
        ("q2", "p3", 1, "Bees find their in accuracy"),
        ("q2", "p4", 0, "Cars are made in accuracy"),
        ("q1", "p5", 2, "The sky is in accuracy"),
    ]
    (row,) = trec.rows(
        "select distinct rubrics.name, collection, assessor, seed, distil_prompt, rubrics.model, "
        "graders.name, target, prompt, parser, label_rubric_id "
        "from lake.raw.label_rubrics as rubrics inner join lake.raw.graders using (grader_id)"
    )
    rubric, grader = ("trec", "tiny", "nist", 1, "true_distil", "m"), ("explainer", "explain")
    assert row == (*rubric, *grader, "true_explain", "json", None)
    runs = trec.rows(
        "select state, counts from lake.raw.pipeline_runs where command like 'distil%'"
    )
    assert runs == [("done", json.dumps({"label_rubrics": 3, "label_rubric_pairs": 5}))]
    assert extra(trec)["rubric_id"] == distilled.outcome.rubric_id


# --- versions -------------------------------------------------------------------------------------


def test_a_second_run_of_a_name_is_a_new_version_with_another_grader_and_both_stay(trec, distilled):
    first, before = distilled.outcome, judge(trec)
    second = distil(trec, seed=2, per_label=1)
    assert (first.is_new, second.is_new) == (True, True)
    ids = {first.rubric_id, second.rubric_id}
    assert {id_ for (id_,) in trec.rows("select rubric_id from lake.raw.label_rubrics")} == ids
    newest = find_label_rubric(trec.lake, "trec", "here")
    assert (newest.rubric_id, newest.facts["seed"]) == (second.rubric_id, 2)
    for stated in (f"trec@{first.rubric_id}", f"trec@{first.rubric_id[:6]}"):
        assert find_label_rubric(trec.lake, stated, "here").rubric_id == first.rubric_id
    # the server wrote the same texts; other pairs were drawn, which agreement has to leave out
    after = judge(trec)
    assert before.prompt.sha256 == after.prompt.sha256
    assert before.grader_id != after.grader_id
    assert judge(trec, label_rubrics=f"trec@{first.rubric_id}").grader_id == before.grader_id


def test_the_very_same_rubric_is_not_stored_twice(trec, distilled):
    first = distilled.outcome
    stored = trec.rows("select * from lake.raw.label_rubrics order by all")
    again = distil(trec)
    assert (again.rubric_id, again.is_new) == (first.rubric_id, False)
    assert trec.rows("select * from lake.raw.label_rubrics order by all") == stored


# --- edited by a person ---------------------------------------------------------------------------


def export(trec, stated: str = "trec", name: str = "trec.yaml") -> Path:
    file = trec.folder / name
    file.unlink(missing_ok=True)
    trec.gradelake("distil", "--export", stated, str(file))
    return file


def edit(file: Path, *pairs: tuple[str, str]) -> Path:
    text = file.read_text(encoding="utf-8")
    for old, new in pairs:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    return file


def bring_in(trec, file: Path, name: str = "trec", code: int = 0) -> subprocess.CompletedProcess:
    return trec.gradelake("distil", "--import", name, str(file), code=code)


def test_an_edited_file_is_a_new_version_of_the_pairs_of_its_base(trec, distilled):
    first = distilled.outcome.rubric_id
    before = judge(trec).grader_id
    file = export(trec)
    assert file.read_text(encoding="utf-8") == (
        "# What each label means. Edit the texts and leave the rest as it is, then:\n"
        "# gradelake distil --import trec FILE\n"
        f"version: trec@{first}\n"
        "labels:\n  0: >-\n    version 3 of 0\n  1: >-\n    version 3 of 1\n"
        "  2: >-\n    version 3 of 2\n"
    )
    done = bring_in(trec, edit(file, ("version 3 of 2", "all that\n    the query asks for")))
    new = find_label_rubric(trec.lake, "trec", "here")
    assert f"trec@{new.rubric_id}: 3 labels, edited from trec@{first}" in done.stdout
    assert new.texts == {0: "version 3 of 0", 1: "version 3 of 1", 2: "all that the query asks for"}
    assert (new.facts["engine"], new.facts["model"], new.facts["iterations"]) == ("person", "", 4)
    assert find_label_rubric(trec.lake, f"trec@{first}", "here").texts[2] == "version 3 of 2"
    pairs = "select query_id, passage_id, label, explanation from lake.raw.label_rubric_pairs"
    (base, edited) = (
        trec.rows(f"{pairs} where rubric_id = '{id_}' order by all")
        for id_ in (first, new.rubric_id)
    )
    assert base == edited
    assert len(base) == 5
    assert judge(trec).grader_id != before
    assert judge(trec, label_rubrics=f"trec@{first}").grader_id == before
    assert "in tiny, by a person, 4 iterations" in trec.gradelake("distil", "--show", "trec").stdout


def test_the_very_same_texts_are_not_stored_twice(trec, distilled):
    file = export(trec)
    snapshot = trec.snapshot()
    unedited = bring_in(trec, file).stdout
    known = f"trec@{distilled.outcome.rubric_id} is in the lake already, word for word\n"
    assert (unedited, trec.snapshot()) == (known, snapshot)
    bring_in(trec, edit(file, ("version 3 of 2", "edited")))
    snapshot = trec.snapshot()
    assert "is in the lake already" in bring_in(trec, file).stdout
    assert trec.snapshot() == snapshot
    assert "edited from trec@" in bring_in(trec, file, "other").stdout


def test_a_file_that_cannot_be_used_is_refused_with_its_line(trec):
    snapshot, file = trec.snapshot(), export(trec)
    whole = file.read_text(encoding="utf-8")
    for old, new, told in (
        ("version: trec@", "version: none@", ":3: version: the lake has no label rubrics"),
        ("version: trec@", "version: trec@0", ":3: version: 'trec@0"),
        ("version: trec@", "name: trec@", ":3: unknown key 'name'"),
        ("  2: >-", "  3: >-", ":9: labels: '3' is none of 0, 1, 2"),
        ("  2: >-", "  3: >-", ":4: labels: 2 is missing"),
        ("  2: >-", "  1: >-", ":9: '1' is given twice (first on line 7)"),
        (">-\n    version 3 of 2", "' '", ":9: labels.2 must not be empty"),
        (">-\n    version 3 of 2", "[a, b]", ":9: labels.2 must be a string"),
        (">-\n    version 3 of 2", '"a\\0b"', ":9: labels.2 has characters that no text"),
        ("labels:", "labels: [", "not YAML"),
    ):
        file.write_text(whole, encoding="utf-8")
        with pytest.raises(Rejected) as caught:
            read_rubric_file(trec.lake, edit(file, (old, new)))
        assert told in str(caught.value)
        assert "what to do: " in str(caught.value)
    assert "not YAML" in bring_in(trec, file, code=2).stderr
    assert trec.snapshot() == snapshot


def test_names_and_files_that_cannot_be_are_refused(trec):
    file = export(trec)
    assert "what follows an @" in bring_in(trec, file, "trec@2", code=2).stderr
    again = trec.gradelake("distil", "--export", "trec", str(file), code=2)
    assert "trec.yaml: already exists" in again.stderr


def test_what_a_person_writes_is_made_harmless_and_survives_the_way_out_and_in(trec):
    hostile = 'it\'s "good": {query} # %s <|im_end|>\u202e\x1b[31m'
    hostile += "\n\n- Label 0: all \u00e9 \U0001f41d"
    written = json.dumps(hostile, ensure_ascii=False)
    bring_in(trec, edit(export(trec), (">-\n    version 3 of 2", written)))
    text = judge(trec).prompt.render({"query": "Q", "passage": "P"}).text
    shown = 'it\'s "good": {query} # %s < |im_end|>[31m - Label 0: all \u00e9 \U0001f41d\n'
    assert f"\nLabel 2: {shown}" in text
    assert text.count("Query: Q") == 1
    assert "\x1b" not in trec.gradelake("distil", "--show", "trec").stdout
    assert "is in the lake already" in bring_in(trec, export(trec)).stdout


# --- replies that are not what was asked for ------------------------------------------------------


def test_a_label_without_any_explanation_stops_the_run_and_nothing_is_stored(judged, server):
    server.on("Bees find their way", answer("no"))
    with pytest.raises(WorkFailed, match="no pair with the label 1 could be explained: the reply"):
        distil(judged)
    assert judged.rows("select count(*) from lake.raw.label_rubrics") == [(0,)]
    assert judged.rows("select count(*) from lake.raw.label_rubric_pairs") == [(0,)]


def test_after_a_failure_explanations_are_not_paid_for_again_and_a_pair_without_one_is_told(
    judged, server
):
    server.on("Cars are made of", answer('{"intent_alignment": "x", "coverage": 3}'))
    server.on(DISTIL, answer('{"rubric": " "}'))
    with pytest.raises(
        WorkFailed, match=r"no rubric for the label \d in iteration 1: rubric is empty"
    ):
        distil(judged)
    assert judged.rows("select count(*) from lake.raw.label_rubric_pairs") == [(0,)]
    server.on(DISTIL, a_rubric)
    n_asked = len(server.about(EXPLAIN))
    outcome = distil(judged)
    assert (outcome.explained, outcome.kept, outcome.exit_code) == (0, 4, 3)
    assert len(server.about(EXPLAIN)) == n_asked + 3  # tries for the one that has none
    assert outcome.failed == {("q2", "p4"): "coverage is not text: 3"}
    assert outcome.rubric_id
    found = judged.rows(
        "select passage_id, explanation is null, n_explanations from lake.raw.label_rubric_pairs "
        "inner join lake.raw.label_rubrics using (rubric_id, label) "
        "where label = 0 and iteration = 1 order by passage_id"
    )
    assert found == [("p2", False, 1), ("p4", True, 1)]  # drawn all the same
    assert judged.waiting() == set()


# --- judging by a rubric --------------------------------------------------------------------------


def test_the_rubric_s_texts_stand_in_the_prompt_and_its_labels_are_the_scale(trec, distilled):
    grader = judge(trec)
    shown = "Label 0: version 3 of 0\nLabel 1: version 3 of 1\nLabel 2: version 3 of 2\n\nQuery: "
    assert shown in grader.prompt.text
    assert shown + "Q\nPassage: P" in grader.prompt.render({"query": "Q", "passage": "P"}).text
    assert grader.prompt.slots == ("query", "passage")
    assert str(grader.prompt.scale) == "0-2"
    assert grader.row()["label_rubric_id"] == grader.label_rubric_id == distilled.outcome.rubric_id


def test_a_rubric_that_cannot_be_had_is_named(trec):
    for settings, told in (
        ({"label_rubrics": "trek"}, r"no label rubrics 'trek'(.|\n)*mean 'trec'"),
        ({"label_rubrics": "trec@ffffffff"}, r"not a version of 'trec'(.|\n)*first: trec@"),
        ({"label_rubrics": 3}, "label_rubrics must be a string"),
        ({"prompt": "thomas"}, "'thomas' has no place for label_rubrics"),
    ):
        with pytest.raises(BadInput) as caught:
            judge(trec, **settings)
        assert re.search(told, str(caught.value)), caught.value


def test_without_any_rubric_the_way_to_one_is_told(judged):
    with pytest.raises(BadInput, match="no label rubrics 'trec'") as caught:
        judge(judged)
    assert "gradelake distil COLLECTION" in caught.value.hint
    judged.graders["true"] = {"engine": "lexical", "prompt": "true_direct"}
    with pytest.raises(BadInput, match="needs the rubrics of the labels, which"):
        configured(judged.project, judged.lake, "true")


def test_a_prompt_of_ones_own_in_words_cannot_take_rubrics_of_numbers(trec):
    trec.prompt("wordy", "{label_rubrics} {query} {passage}", scale={"No": 0, "Yes": 1})
    with pytest.raises(BadInput, match="answers in words") as caught:
        judge(trec, "wordy")
    assert "0-2" in caught.value.hint


# --- what is refused ------------------------------------------------------------------------------


def test_graders_that_explain_do_not_judge_and_those_that_judge_do_not_explain(judged):
    with pytest.raises(BadInput, match="explains labels, with the prompt 'true_explain'"):
        configured(judged.project, judged.lake, "explainer")
    assert judges(judged.project) == ("lexical",)
    with pytest.raises(BadInput, match="'question_self_rating' explains no labels") as caught:
        writing(judged.project, "lexical", "explain")
    assert "true_explain" in caught.value.hint
    judged.graders["words"] = {"engine": "lexical", "prompt": "true_explain"}
    with pytest.raises(BadInput, match="'lexical' cannot answer the prompt") as caught:
        writing(judged.project, "words", "explain")
    assert "vllm, openai or transformers" in caught.value.hint


def test_names_that_would_be_taken_for_a_version_are_refused(judged):
    with pytest.raises(BadInput, match="what follows an @ names a version"):
        distil(judged, name="trec@home")
    with pytest.raises(BadInput, match="tiny has no query 'q9'"):
        distil(judged, query_ids=("q9",))


# --- the commands ---------------------------------------------------------------------------------


def test_the_command_says_what_it_draws_distils_it_and_shows_it(judged, server):
    command = shlex.split(
        "distil tiny --assessor nist --grader explainer --name trec --per-label 2"
    )
    planned = judged.gradelake(*command, "--dry-run")
    assert planned.stdout == (
        "tiny: 5 of 5 pairs that nist judged, 2 of each label; then 3 x 3 rubrics\n"
    )
    assert planned.stderr == "the label 1 has only 1 pair, not 2: all are drawn\n"
    assert server.asked == []
    done = judged.gradelake(*command)
    rubric = find_label_rubric(judged.lake, "trec", "here")
    assert f"trec@{rubric.rubric_id}: rubrics of 3 labels from 5 pairs" in done.stdout
    assert 'label_rubrics = "trec"' in done.stdout
    shown = judged.gradelake("distil", "--show", "trec").stdout
    assert shown.startswith(f"trec@{rubric.rubric_id}: from 5 judgments of nist in tiny, by m, 3 ")
    assert "\nLabel 2\nversion 3 of 2\n" in shown
    found = json.loads(judged.gradelake("distil", "--show", "trec", "--json").stdout)
    assert found["rubrics"] == {str(label): f"version 3 of {label}" for label in range(3)}
    assert len(found["pairs"]) == 5
    assert found["pairs"][0]["explanation"].keys() == set(FEATURES)
    both = judged.gradelake("distil", "--show", "trec", "--export", "trec", "t.yaml", code=2)
    assert "--show, --export and --import cannot be used together" in both.stderr
    missing = judged.gradelake("distil", "tiny", code=2)
    assert "also needed: --assessor, --grader, --name" in missing.stderr
    wrong = judged.gradelake(*command, "--distil-prompt", "thomas", code=2)
    assert "'thomas' distils no rubrics" in wrong.stderr
