"""The development half of the LLMJudge challenge: its grades in plain Python, and a lake of it."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

from tests.command_line import gradelake
from tests.places import LLMJUDGE

QUESTIONS = "flan-t5-large.QuestionSelfRatedUnanswerablePromptWithChoices"
NUGGETS = "flan-t5-large.NuggetSelfRatedPrompt"
JUDGE = "flan-t5-large.exampp-llmjudge-labelling"
EXTRACTORS = {
    "QuestionCompleteConciseUnanswerablePromptWithChoices": QUESTIONS,
    "NuggetExtractionPrompt": NUGGETS,
}
TAU = 4
RELEVANT = 1
POLICIES = """\
policy,rule,m,tau,mapping
best,best,,,
second_best,mth_best,2,,
mapped,mth_best,2,,5:3 4:1
"""


class Published:
    """dev.jsonl.gz as plain dictionaries; a pair is (query, passage)."""

    def __init__(self):
        self.texts = {}  # passage -> text
        self.judgments = {}  # pair -> 0-3
        self.classified = {}  # pair -> 0-3, by the authors' classifier
        self.ratings = {QUESTIONS: {}, NUGGETS: {}}  # grader -> pair -> item -> 0-5
        self.answers = {}  # (pair, item) -> extracted text
        with gzip.open(LLMJUDGE / "dev.jsonl.gz", "rt", encoding="utf-8") as stream:
            for query, paragraphs in map(json.loads, stream):
                for given in paragraphs:
                    self._add((query, given["paragraph_id"]), given)
        self.items = {grader: defaultdict(set) for grader in self.ratings}  # grader -> query -> ids
        for grader, pairs in self.ratings.items():
            for (query, _), ratings in pairs.items():
                self.items[grader][query] |= ratings.keys()

    def _add(self, pair, given):
        self.texts[pair[1]] = given["text"]
        (self.judgments[pair],) = {j["relevance"] for j in given["paragraph_data"]["judgments"]}
        (self.classified[pair],) = {entry["self_ratings"] for entry in given["grades"]}
        for entry in given["exam_grades"]:
            prompt = entry["prompt_info"]["prompt_class"]
            if prompt in EXTRACTORS:
                self.answers |= {(pair, item): answer for item, answer in entry["answers"]}
                continue
            self.ratings[f"flan-t5-large.{prompt}"][pair] = {
                rating.get("question_id") or rating["nugget_id"]: rating["self_rating"]
                for rating in entry["self_ratings"]
            }

    def best(self, grader, m=1):
        """The m-th best rating of every pair."""
        return {
            pair: sorted(ratings.values(), reverse=True)[m - 1]
            for pair, ratings in self.ratings[grader].items()
        }

    def is_complete(self, grader, pair):
        return self.ratings[grader][pair].keys() == self.items[grader][pair[0]]


def make_lake(folder: Path, published: Published) -> None:
    """Ingest the collection, import its grades by both raters, build with three label policies."""
    with (folder / "passages.jsonl").open("w") as stream:
        for passage, text in published.texts.items():
            stream.write(json.dumps({"passage_id": passage, "text": text}) + "\n")
    (folder / "gradelake.toml").write_text(
        f"""
[collections.llmjudge]
queries = "{LLMJUDGE}/dev_queries.tsv"
passages = "passages.jsonl"
judgments = {{ human = "{LLMJUDGE}/dev_qrels.txt" }}
min_relevant = {RELEVANT}
""",
        encoding="utf-8",
    )
    (folder / "seeds").mkdir()
    (folder / "seeds" / "label_policies.csv").write_text(POLICIES)
    gradelake(folder, "ingest", "llmjudge")
    file = str(LLMJUDGE / "dev.jsonl.gz")
    gradelake(folder, "import", "grades", "llmjudge", file, "--rater", "both")
    gradelake(folder, "build")
