"""What an import of grades did, and what a person should know of the file."""

from dataclasses import dataclass, field
from typing import Any

NOTES = {
    "query_ids_converted": "{n:,} query ids are numbers; taken as text",
    "replies_no_bare_digit": "{n:,} replies to rating prompts are no bare digit 0-5",
    "marked_unlike_rated": "{n:,} items are marked correct but rated 0, or wrong but rated "
    "higher; the rating counts",
    "errors_without_item": "{n:,} errors name no item; left out",
    "repeated_grades": "{n:,} grades are there twice; the first was kept",
    "grades_in_lake_already": "{n:,} grades are in the lake from elsewhere; those were kept",
    "paragraphs_without_text": "{n:,} paragraphs have no text",
    "markup_left_out": "{n:,} paragraphs have markup; only their text is kept",
    "other_text_in_file": "{n:,} paragraphs have another text than the first of their id",
    "other_text_in_lake": "{n:,} passages have another text in the lake; that one was kept",
    "judgments_left_out": "{n:,} judgments were left out; --assessor NAME takes them in",
    "judgments_of_others": "{n:,} judgments are other assessors'; left out",
    "judgments_contradicting": "{n:,} judgments repeat a pair; the highest was kept",
    "rankings_left_out": "{n:,} ranking entries were left out; --systems takes them in",
    "systems_in_lake_already": "{n:,} systems of the file are in the lake; those were kept",
    "systems_with_unusable_names": "{n:,} systems have names that cannot be used; left out",
    "pairs_without_criterion": "{n:,} pairs have no criterion",
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
    seen: dict[str, int] = field(default_factory=dict)
    unknown_queries: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 done; 3 some queries of the file are not in the lake and were left out."""
        return 3 if self.unknown_queries else 0

    def notes(self) -> list[str]:
        """What a person should know of the file, a sentence each."""
        said = [text.format(n=n) for key, text in NOTES.items() if (n := self.seen.get(key))]
        if self.unknown_queries:
            shown = ", ".join(self.unknown_queries[:5])
            more = " ..." if len(self.unknown_queries) > 5 else ""
            said.append(
                f"{len(self.unknown_queries):,} queries are not in the collection; left out: "
                f"{shown}{more}"
            )
        return said
