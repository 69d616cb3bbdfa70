"""What `gradelake plan` says grading will cost, beside what an endpoint then bills.

The endpoint is made up: a prompt has a token for every 3.5 to 5 characters, depending on its text;
replies are of one token, or of about 120, exponentially distributed. Each grader is planned before
anything is graded, and after 50, 200 and 500 pairs; then all the rest is graded and billed.

    python -m tests.benchmarks.money
"""

import json
import os
import random
import sys
import tempfile
import threading
from pathlib import Path

from rich.table import Table

from tests.benchmarks.leaderboards import command, console
from tests.conftest import start_demo
from tests.grading.misbehaving import Asked, Server, answer

AFTER = (0, 50, 200, 500)  # pairs graded when it is planned
MODELS = {"brief": 1, "wordy": 120}  # tokens of their replies
INPUT, OUTPUT = 2.5e-6, 10e-6
PRICES = "model,from_date,currency,input,cached,output,batch\n" + "".join(
    f"{model},2026-01-01,USD,2.5,,10,\n" for model in MODELS
)


class Billing:
    """An endpoint that writes down what it would charge, by model."""

    def __init__(self) -> None:
        self.server = Server()
        self.billed = dict.fromkeys(MODELS, 0.0)
        self._lock = threading.Lock()
        self.server.on("", self.reply)

    def reply(self, asked: Asked):
        """A grade of 3, with tokens that depend on the prompt's text and nothing else."""
        model = asked.body["model"]
        chance = random.Random(model + asked.text)
        prompt = round(len(asked.text) / chance.uniform(3.5, 5))
        longest = asked.body["max_tokens"]
        completion = min(longest, round(chance.expovariate(1 / MODELS[model])) + 1)
        with self._lock:
            self.billed[model] += prompt * INPUT + completion * OUTPUT
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        return answer("3", usage=usage)


def graders(url: str) -> str:
    """Their tables in gradelake.toml."""
    return "".join(
        f'\n[graders.{model}]\nengine = "openai"\nmodel = "{model}"\nbase_url = "{url}"\n'
        f'prompt = "question_self_rating"\nconstrain = "none"\n'
        f"decoding = {{ max_tokens = {1 if tokens == 1 else 512} }}\n"
        for model, tokens in MODELS.items()
    )


def compare(folder: Path, billing: Billing, model: str) -> list[tuple]:
    """(pairs graded before, low, high, billed from then on) of each plan."""
    plans: list[tuple] = []
    graded = 0
    for after in AFTER:
        if after > graded:
            command(folder, "grade", "demo", "--grader", model, "--limit", str(after - graded))
            graded = after
        (plan,) = json.loads(command(folder, "plan", "demo", "--grader", model, "--json"))["plans"]
        plans.append((after, plan["cost"]["low"], plan["cost"]["high"], billing.billed[model]))
    command(folder, "grade", "demo", "--grader", model)
    total = billing.billed[model]
    return [(after, low, high, total - before) for after, low, high, before in plans]


def main() -> int:
    """Print the table; 1 where the lake counts another sum than was billed."""
    os.environ["OPENAI_API_KEY"] = "none"
    billing = Billing()
    table = Table("replies", "graded", "planned, USD", "billed", "middle / billed")
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "demo"
        start_demo(folder)
        command(folder, "import", "bank", "demo", "question_bank.jsonl", "--name", "questions")
        (folder / "seeds").mkdir()
        (folder / "seeds" / "prices.csv").write_text(PRICES)
        with (folder / "gradelake.toml").open("a") as config:
            config.write(graders(billing.server.url))
        for model in MODELS:
            for after, low, high, billed in compare(folder, billing, model):
                ratio = (low + high) / 2 / billed
                planned = f"{low:.3f} to {high:.3f}"
                table.add_row(model, f"{after}", planned, f"{billed:.3f}", f"{ratio:.2f}")
        counted = command(
            folder,
            *("sql", "--live", "--format", "json"),
            "select grader, sum(cost) as cost from marts.grading_cost group by all",
        )
        for row in json.loads(counted):
            model, cost = row["grader"], row["cost"]
            console.print(f"{model}: billed {billing.billed[model]:.6f}, the lake has {cost:.6f}")
            wrong += abs(cost - billing.billed[model]) > 1e-6
    billing.server.stop()
    console.print(table)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
