"""Where things are that tests read and the repository does not hold."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
_SHARED = [folder / "shared" / "data" for folder in REPOSITORY.parents]  # beside it, or further up
SHARED = next((folder for folder in _SHARED if folder.is_dir()), _SHARED[0])
DL19 = SHARED / "dl19"
LLMJUDGE = SHARED / "llmjudge"


def missing_dl19() -> str | None:
    """Why the tests on TREC DL 2019 cannot run, or None."""
    if (DL19 / "qrels.txt").is_file():
        return None
    return f"no TREC DL 2019 data at {DL19} (it may not be redistributed)"


def missing_llmjudge() -> str | None:
    """Why the tests on the LLMJudge challenge cannot run, or None."""
    if (LLMJUDGE / "dev.jsonl.gz").is_file():
        return None
    return f"no LLMJudge data at {LLMJUDGE} (it may not be redistributed)"
