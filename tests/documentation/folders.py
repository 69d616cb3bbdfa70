"""The folders that the pages' commands run in."""

import gzip
import json
import os
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zlib import crc32

import duckdb
import polars as pl

from gradelake.grading.prompts.written_reply import FEATURES
from gradelake.sql.lake import extensions
from tests.command_line import gradelake
from tests.documentation.pages import blocks
from tests.grading.batch_server import BatchServer
from tests.grading.misbehaving import Asked, Reply, Server, answer
from tests.lakes import made_once_in, start_lake
from tests.places import REPOSITORY

# a line of the Makefile that runs a command of ours: (its folder, its arguments)
_OURS = re.compile(r"(?:cd (\w+) && \.\./)?\.venv/bin/gradelake (.*)")
FEW = ("bird-navigation", "rates-and-inflation", "sourdough-sour-rise")
OF_QUERIES = ("topics.tsv", "judgments.qrels", "question_bank.jsonl", "responses.jsonl")
CRITERIA = {
    "exactness": "Exactness",
    "topicality": "Topicality",
    "coverage": "Coverage",
    "contextual_fit": "Contextual Fit",
}


def clone(folder: Path) -> None:
    """A clone as a newcomer has it, after `make demo`; its commands of ours run in this process."""
    folder.mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements.lock", ".venv", "tests"):
        (folder / name).symlink_to(REPOSITORY / name)
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    said = partial(subprocess.check_output, cwd=folder, env=kept, text=True, timeout=60)
    # the tests' own .venv is as it should be, whichever file was changed last
    lines, printed = said(["make", "--dry-run", "-o", ".venv/.core", "demo"]), ""
    for line in lines.replace("\\\n", "").splitlines():
        if ours := _OURS.fullmatch(line):
            done = gradelake(folder / (ours[1] or ""), *shlex.split(ours[2]))
            printed += done.stdout + done.stderr
        else:
            printed += said(["sh", "-c", line])
    (folder / "make.out").write_text(printed, encoding="utf-8")


@contextmanager
def copied(made: Path, folder: Path) -> Iterator[Path]:
    """A clone of one's own, with the demo's lake."""
    shutil.copytree(made, folder, symlinks=True)
    yield folder


@contextmanager
def demo(made: Path, folder: Path) -> Iterator[Path]:
    """The demo's folder, in a clone of one's own."""
    with copied(made, folder):
        yield folder / "demo"


@contextmanager
def shop(made: Path, folder: Path) -> Iterator[Path]:
    """A shop's files as ingest/TABLES.md has them: results of two rankers, rated products."""
    place = folder / "shop"
    place.mkdir(parents=True)
    dice = random.Random(7)
    terms = ["running shoes", "rain jacket", "hiking boots", "usb-c cable", "desk lamp", "tea pot"]
    searches = [
        f"{term},{100 // n},{'head' if n < 3 else 'tail'}" for n, term in enumerate(terms, 1)
    ]
    (place / "searches.csv").write_text("\n".join(["search_term,traffic,segment", *searches]))
    worth = {
        (term, sku): dice.choice((0, 0, 0, 1, 2)) for term in terms for sku in range(1000, 1030)
    }
    products = [f"{sku},Product {sku},A thing of many uses" for sku in range(1000, 1030)]
    (place / "products.csv").write_text("\n".join(["sku,title,description", *products]))
    for name, noises in (("old", (0.5, 2.0)), ("new", (2.0, 0.5))):  # of the head, and of the tail
        rows = ["search_term,sku,position"]
        for number, term in enumerate(terms):
            noise = noises[number > 1]
            ranked = sorted(
                range(1000, 1030), key=lambda sku: worth[term, sku] + dice.gauss(0, noise)
            )
            rows += [f"{term},{sku},{rank}" for rank, sku in enumerate(ranked[:-11:-1], start=1)]
        (place / f"{name}.csv").write_text("\n".join(rows))
    rated = [(term, sku, float(said), "ann") for (term, sku), said in worth.items()]
    with duckdb.connect() as connection:
        extensions.load(connection, "excel")
        connection.register("rated", pl.DataFrame(rated, orient="row"))
        connection.execute(
            "copy (from rated as ratings(search_term, sku, rating, rater)) "
            f"to '{place}/ratings.xlsx' (format xlsx, header true)"
        )
    yield place


@contextmanager
def thesis(made: Path, folder: Path) -> Iterator[Path]:
    """A student's files as analyses/README.md has them: runs, qrels, and labels of two judges."""
    place = folder / "thesis"
    shutil.copytree(made / "demo" / "runs", place / "runs")
    shutil.copy(made / "demo" / "topics.tsv", place)
    shutil.copy(made / "demo" / "judgments.qrels", place / "nist.qrels")
    (place / "labels").mkdir()
    shutil.copy(made / "demo" / "labels/rubric_overlap.qrels", place / "labels/rubric.qrels")
    lines = (made / "demo" / "labels/overlap.qrels").read_text(encoding="utf-8").splitlines()
    rows = ["query_id,passage_id,label"]
    rows += [",".join(each for n, each in enumerate(line.split()) if n != 1) for line in lines]
    (place / "labels/gpt.csv").write_text("\n".join(rows), encoding="utf-8")
    yield place


@contextmanager
def own(made: Path, folder: Path) -> Iterator[Path]:
    """A collection as a newcomer has it, in two shapes: `files` as ingest/README.md describes it,
    and `ten-lines` as README.md does, whose graders are in `graders.toml`.

    Only the models are others: a grader without one, and a server that answers for the others.
    """
    files = folder / "files"
    files.mkdir(parents=True)
    for theirs, ours in {
        "topics.tsv": "topics.tsv",
        "judgments.qrels": "qrels.txt",
        "official_ranks.json": "official_ranks.json",
        "near_duplicates.tsv": "clusters.tsv",
        "question_bank.jsonl": "questions.jsonl",
        "labels/overlap.qrels": "judge.qrels",
        "passages.jsonl": "passages.jsonl.gz",
        "responses.jsonl": "responses/answer_writer.jsonl",
        **{f"runs/{run.name}": f"runs/{run.name}.gz" for run in made.glob("demo/runs/*.run")},
    }.items():
        text = (made / "demo" / theirs).read_bytes()
        (files / ours).parent.mkdir(exist_ok=True)
        (files / ours).write_bytes(gzip.compress(text) if ours.endswith(".gz") else text)
    (settings,) = (b.text for b in blocks("ingest/README.md") if "[collections.mine]" in b.text)
    with replies() as url:
        settings = settings.replace('"transformers"', '"lexical"')
        settings = settings.replace('model = "google/flan-t5-large"\n', "")
        settings += f"""
[graders.writer]
engine = "openai"
model = "stand-in"
base_url = "{url}"
prompt = "generate_questions_dl"
"""
        (files / "gradelake.toml").write_text(settings, encoding="utf-8")
        _ten_lines(files, folder, url)
        yield folder


def _ten_lines(files: Path, folder: Path, url: str) -> None:
    """The same collection under the README's settings; its graders ask the server at `url`."""
    few = shutil.copytree(files, folder / "ten-lines")
    for file in few.rglob("*.gz"):
        file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        file.unlink()
    toml = [block.text for block in blocks("README.md") if block.language == "toml"]
    (settings,) = (text for text in toml if "[collections.mine]" in text)
    (graders,) = (text for text in toml if "[graders." in text)
    (few / "gradelake.toml").write_text(settings + "\n", encoding="utf-8")
    graders = re.sub(r"base_url = .*\n", "", graders)
    graders = graders.replace('"openai"\n', f'"openai"\nbase_url = "{url}"\n')
    (folder / "graders.toml").write_text(graders, encoding="utf-8")


@contextmanager
def dl19(made: Path, folder: Path) -> Iterator[Path]:
    """A project as the pages on judges have it: collection `dl19`, assessor `nist`, many graders.

    Its texts are those of a few of the demo's queries. A server that speaks OpenAI's API answers in
    the place of the large models that the pages name, which no test can run.
    """
    shutil.copytree(made_once_in(made.parent, "judged", partial(_judge, made / "demo")), folder)
    settings = (folder / "gradelake.toml").read_text(encoding="utf-8")
    with replies() as url:
        settings = re.sub(r'base_url = ".*"', f'base_url = "{url}"', settings)
        (folder / "gradelake.toml").write_text(settings, encoding="utf-8")
        yield folder


def _judge(demo: Path, folder: Path) -> None:
    """Make the lake of `dl19`."""
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("lake", "reports"))
    settings = (folder / "gradelake.toml").read_text(encoding="utf-8")
    settings = settings.replace("collections.demo", "collections.dl19").replace("human =", "nist =")
    settings, _, _ = settings.partition("# Three systems that write")
    with replies() as url:
        for name, prompt in {
            "umbrela": "umbrela",
            "umbrela_few": "umbrela_few",
            **{name: f"criteria_{name}" for name in CRITERIA},
            "criteria_prompt": "criteria_prompt",
            "explainer": "true_explain",
            "writer": "generate_questions_dl",
        }.items():
            settings += f'[graders.{name}]\nengine = "openai"\nmodel = "stand-in"\n'
            settings += f'base_url = "{url}"\nprompt = "{prompt}"\n'
        sources = (f'"{shown}" = "{name}"' for name, shown in CRITERIA.items())
        settings = settings.replace(
            'prompt = "criteria_prompt"\n',
            f'prompt = "criteria_prompt"\nscores_from = {{ {", ".join(sources)} }}\n',
        )
        settings += '[graders.flan]\nengine = "lexical"\nprompt = "question_self_rating"\n'
        settings += '[graders.true]\nengine = "lexical"\nprompt = "true_direct"\n'
        settings += 'label_rubrics = "trec"\n'
        (folder / "gradelake.toml").write_text(settings, encoding="utf-8")
        for file in (*map(folder.joinpath, OF_QUERIES), *folder.glob("[lr]*s/*")):
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            few = (line for line in lines if any(query in line for query in FEW))
            file.write_text("".join(few), encoding="utf-8")
        start_lake(folder)
        gradelake(folder, "ingest", "dl19")
        gradelake(folder, "import", "bank", "dl19", "question_bank.jsonl", "--name", "questions")
        for judge, file in (("Sun", "overlap"), ("Thomas", "rubric_overlap")):
            labels = f"labels/{file}.qrels"
            gradelake(folder, "import", "labels", "dl19", labels, "--judge", judge)
        for grader in ("flan", "umbrela"):
            gradelake(folder, "grade", "dl19", "--grader", grader)
        gradelake(folder, "build")


@contextmanager
def replies() -> Iterator[str]:
    """The address of a server that replies in the form that each prompt asks for."""
    explanation = json.dumps({feature: f"about {feature}" for feature in FEATURES})

    def questions(asked: Asked) -> Reply:
        words = list(set(re.findall(r"\w{6,}", asked.text)))[:5]
        return answer(json.dumps({"questions": [f"What of {word}?" for word in words]}))

    with Server() as server:
        server.on("Explain why this passage", answer(explanation))
        server.on("Write the rubric of the label", answer(json.dumps({"rubric": "It answers."})))
        server.on("Please rate how", lambda asked: answer(str(crc32(asked.text.encode()) % 4)))
        server.on("Can the question be answered", lambda asked: answer(str(len(asked.text) % 6)))
        server.on("final score", lambda asked: answer(f"##final score: {len(asked.text) % 4}"))
        server.on("", questions)
        yield server.url


@contextmanager
def batches(made: Path, folder: Path) -> Iterator[Path]:
    """The demo with the grader of the page on batches, and a server with a batch API."""
    with demo(made, folder) as place, BatchServer() as server:
        (settings,) = (b.text for b in blocks("grading/BATCHES.md") if b.language == "toml")
        with (place / "gradelake.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n{settings}\nbase_url = "{server.url}"\nbatch_poll = 0.1\n')
        server.on("", lambda asked: answer(f"##final score: {len(asked.text) % 4}"))
        yield place


MAKERS = {"clone": copied, "demo": demo, "own": own, "dl19": dl19, "batches": batches}
MAKERS |= {"shop": shop, "thesis": thesis}
