"""What pages show of a person at a terminal, typed at one."""

import shlex
import shutil

import pytest

from tests.documentation.pages import Block, Step, blocks
from tests.documentation.shell import Shell, difference
from tests.grading.typed_review import ASKED, TypedReview
from tests.sql.terminal import ENTER, Terminal


@pytest.fixture
def demo(made, tmp_path):
    shutil.copytree(made / "demo", tmp_path / "demo")
    return tmp_path / "demo"


def transcript(page: str, command: str) -> Block:
    """The transcript of a page that begins with a command."""
    (found,) = (b for b in blocks(page) if b.text.startswith(f"$ {command}"))
    return found


@pytest.mark.slow
def test_the_shells_transcript_is_what_the_shell_answers(demo):
    (step,) = transcript("sql/ask/README.md", "gradelake sql\n").steps()
    typed, answers = [], []
    for line in step.shown:
        if line.startswith(("lake> ", "...> ")):
            typed.append(line)
            answers.append([])
        elif typed:
            answers[-1].append(line)
    assert len(typed) >= 6
    with Terminal(demo, width=100) as terminal:
        for line, answer in zip(typed, answers, strict=True):
            if answer or line.startswith("lake> ."):
                terminal.enter(line[6:])
                shown = terminal.wait_for("lake>").removesuffix("lake>")
                why = difference(Step(line, tuple(answer)), shown.replace("\r", ""))
                assert not why, f"{line}\n{why}\n{shown}"
            else:  # the statement goes on
                terminal.type(line[6:].strip() + ENTER)
                terminal.wait_for("...>")
        assert terminal.leave() == 0


@pytest.mark.slow
def test_the_reviews_transcript_is_what_the_review_shows(demo):
    (step,) = transcript("grading/review/README.md", "gradelake review").steps()
    (after,) = transcript(
        "grading/review/README.md", "gradelake sql --live @review_agreement --assessor kim"
    ).steps()
    typed = TypedReview(demo, *shlex.split(step.command)[5:])
    shown = typed.wait_for(ASKED)
    note = next(line.removeprefix("note: ") for line in step.shown if line.startswith("note: "))
    for keys, then in (("a", ASKED), ("a", ASKED), ("n", "note: ")):
        shown += typed.press(keys, then)
    shown += typed.write(f"{note}\r")
    for keys, then in (("d", "b]ack: "), ("5", ASKED), ("d", "b]ack: "), ("0", ASKED)):
        shown += typed.press(keys, then)
    shown = (shown + typed.quit()).replace("\r", "")
    assert not (why := difference(step, shown)), f"{why}\n{shown}"
    with Shell(demo) as shell:
        printed, code = shell.run(after.command)
        assert (code, difference(after, printed)) == (0, ""), printed
