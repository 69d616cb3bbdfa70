"""What an import of grades did, and what a person should know of the file."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from gradelake.sql.common.counted import counted

# what the file held -> (of what, verb, what else is said)
NOTES = {
    "query_ids_converted": ("query ids", "are", "given as a number; taken as text"),
    "replies_no_bare_digit": ("replies", "are", "no bare digit 0-5 where a rating is asked for"),
    "marked_unlike_rated": (
        "items",
        "are",
        "marked correct but rated 0, or wrong but rated higher; the rating counts",
    ),
    "errors_without_item": ("errors", "name", "no item; left out"),
    "repeated_grades": ("grades", "are", "there twice; the first was kept"),
    "grades_in_lake_already": ("grades", "are", "in the lake from elsewhere; not replaced"),
    "paragraphs_without_text": ("paragraphs", "have", "no text"),
    "other_text_in_file": ("paragraphs", "have", "another text than the first of that id"),
    "other_text_in_lake": ("passages", "have", "another text in the lake; that one was kept"),
    "judgments_left_out": ("judgments", "were", "left out; --assessor NAME takes them in"),
    "judgments_of_others": ("judgments", "are", "of other assessors; left out"),
    "judgments_contradicting": ("judgments", "repeat", "a pair; the highest was kept"),
    "rankings_left_out": ("ranking entries", "were", "left out; --systems takes them in"),
    "systems_in_lake_already": ("systems of the file", "are", "in the lake; not replaced"),
    "systems_with_unusable_names": ("systems", "have", "a name that cannot be used; left out"),
    "other_importance": (
        "assignments",
        "are",
        "of a nugget that the rubric says is vital, and the file okay, or the other way round; the "
        "rubric counts",
    ),
    "assignments_not_in_file": (
        "assignments",
        "are",
        "not in the file, to nuggets of the rubric; they count as not held",
    ),
    "pairs_without_criterion": ("pairs", "have", "no criterion"),
}


@dataclass
class Imported:
    """What an import did. `snapshot` is None when the lake had all of it already.

    `graders` has a row per grader of the file: name, grader_id, target, and its grades here by
    status. `counts` are rows written, `seen` what the file held beside them.
    """

    collection: str
    file: str
    snapshot: int | None = None
    graders: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    unknown_queries: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 done; 3 some queries of the file are not in the lake and were left out."""
        return 3 if self.unknown_queries else 0

    def as_object(self) -> dict[str, Any]:
        return {
            "collection": self.collection,
            "file": self.file,
            "snapshot": self.snapshot,
            "written": self.counts,
            "graders": self.graders,
            "seen": self.seen,
            "unknown_queries": self.unknown_queries,
            "warnings": self.notes(),
        }

    def notes(self) -> list[str]:
        """What a person should know of the file, a sentence each."""
        notes = [
            f"{counted(n, what, verb)} {rest}"
            for key, (what, verb, rest) in NOTES.items()
            if (n := self.seen.get(key))
        ]
        if self.unknown_queries:
            shown = ", ".join(self.unknown_queries[:5])
            more = " ..." if len(self.unknown_queries) > 5 else ""
            notes.append(
                f"{self.file}: {counted(len(self.unknown_queries), 'queries', 'are')} not in the "
                f"collection; left out: {shown}{more}"
            )
        return notes
