"""Which columns of a table a terminal has room for: what goes first, and what is said of it.

What a question asks for are numbers, and ids are what the next one needs. So columns that say the
same in every row go below the table first, then texts that tell no row from another, then numbers
from the right, and the texts that tell rows apart last.
"""

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from gradelake.sql.common.shortened import telling_width

GAP = 2  # spaces between columns
# what a shortened column keeps: cells for prose, for a name or id (more where different ones would
# become the same), for a header, and for one when room is scarce
_PROSE, _NAME, _HEAD, _TIGHT_HEAD = 24, 12, 16, 8
_ID = 24  # cells that an id gets where there is room
# numbers that stay as long as a text could go instead; those that do not go below
_NUMBERS, _NUMBERS_BELOW = 3, 2
_LISTED = 6  # columns that a note names


def needed(widths: Sequence[int], kept: Sequence[int]) -> int:
    """Cells of a line of these columns."""
    return sum(widths[i] for i in kept) + GAP * (len(kept) - 1)


class Room:
    """What a table of these texts shows in `width` cells; `numbers` says which columns are some.

    `kept` are its columns, `least` the least width of each column of the whole table in cells. All
    are kept until `make` has columns leave, one after the other, until the others fit.
    """

    def __init__(
        self,
        headers: Sequence[str],
        cells: Sequence[Sequence[str]],
        numbers: Sequence[bool],
        width: int,
    ):
        self.headers, self.numbers, self.width = headers, numbers, width
        self.columns = [[row[i] for row in cells] for i in range(len(headers))]
        self.distinct = [len(set(column)) for column in self.columns]
        self.prose = [any(" " in text for text in column) for column in self.columns]
        self.content = [max(map(cell_len, column), default=0) for column in self.columns]
        self._telling: dict[int, int] = {}
        self.kept: list[int] = list(range(len(headers)))
        self.below: list[int] = []
        self.left_out: list[int] = []
        self.least = [max(n, cell_len(head)) for n, head in zip(self.content, headers, strict=True)]
        if not self.fits:
            self.use(_HEAD, _PROSE)

    @property
    def fits(self) -> bool:
        """Whether the columns that are kept have room, some of their texts shortened."""
        return needed(self.least, self.kept) <= self.width

    def make(self) -> None:
        """Keep what there is room for."""
        steps: list[Callable[[], None]] = [
            self.texts_below,
            self.without_texts_of_ids,
            self.numbers_below,
            lambda: self.use(_TIGHT_HEAD, _PROSE),
            self.without_texts_that_tell_nothing,
            self.without_numbers,
            self.without_repeated_texts,
            lambda: self.use(_TIGHT_HEAD, _NAME),
            self.without_the_last,
        ]
        for step in steps:
            if self.fits:
                break
            step()
        self.whole_ids()

    def names(self, i: int) -> set[str]:
        """The different names or ids of a column, none of one that holds numbers or prose."""
        return set() if self.numbers[i] or self.prose[i] else set(self.columns[i])

    def telling(self, i: int) -> int:
        """The least width of a column of names: slow to find, and asked for when room is scarce."""
        if i not in self._telling:
            self._telling[i] = telling_width(self.names(i), _NAME)
        return self._telling[i]

    def use(self, head: int, prose: int) -> None:
        """Shorten headers and prose down to these, and names as long as they stay different."""
        self.least = [
            max(
                content
                if self.numbers[i]
                else min(content, prose if self.prose[i] else self.telling(i)),
                min(cell_len(self.headers[i]), head),
            )
            for i, content in enumerate(self.content)
        ]

    def kept_numbers(self) -> list[int]:
        return [i for i in self.kept if self.numbers[i]]

    def texts_below(self) -> None:
        """What has one text in all rows, or nothing: nothing is lost with it."""
        for i in list(self.kept):
            same = self.distinct[i] == 1
            if same and (not self.numbers[i] or not self.columns[i][0]) and len(self.kept) > 1:
                self.kept.remove(i)
                self.below.append(i)

    def numbers_below(self) -> None:
        """Numbers that are the same in all rows, as long as others stay: first those that stand
        among texts (a level, a version), then figures from the right."""
        last_text = max((i for i in self.kept if not self.numbers[i]), default=-1)
        same = [i for i in self.kept_numbers() if self.distinct[i] == 1]
        same = [i for i in same if i < last_text] + [i for i in same[::-1] if i > last_text]
        for i in same:
            if self.fits or len(self.kept_numbers()) <= _NUMBERS_BELOW:
                return
            self.kept.remove(i)
            self.below.append(i)

    def without_texts_of_ids(self) -> None:
        """A text such as `query` beside its `query_id`, where it repeats."""
        for i in list(self.kept):
            is_there = f"{self.headers[i]}_id" in self.headers
            if is_there and self.prose[i] and self.distinct[i] < len(self.columns[i]):
                self._leave(i)

    def without_texts_that_tell_nothing(self) -> None:
        """Texts without which the others tell as many rows apart."""
        self.without_repeated_texts(still_told=True)

    def without_repeated_texts(self, still_told: bool = False) -> None:
        """The texts with the fewest values; ids stay, and one text that tells rows apart."""
        texts = [i for i in self.kept if not self.numbers[i] and not self._is_id(i)]
        texts = [i for i in texts if self.distinct[i] < len(self.columns[i])]
        for i in sorted(texts, key=lambda i: self.distinct[i]):
            if self.fits or all(self.numbers[j] for j in self.kept if j != i):
                return
            if not still_told or self._n_told(without=i) == self._n_told():
                self._leave(i)

    def without_numbers(self) -> None:
        """Questions name what matters first: numbers go from the right, but for a few."""
        for i in reversed(self.kept_numbers()[_NUMBERS:]):
            if self.fits:
                return
            self._leave(i)

    def without_the_last(self) -> None:
        """From the right texts, numbers and ids in turn; the first text and number go last."""
        first = {self.numbers[i]: i for i in reversed(self.kept)}.values()
        order = sorted(self.kept, key=lambda i: (i in first, self._is_id(i), self.numbers[i], -i))
        for i in order[:-1]:
            if self.fits:
                return
            self._leave(i)

    def whole_ids(self) -> None:
        """What room is left goes to ids first: the next question needs them whole."""
        for i in self.kept:
            if self._is_id(i):
                spare = self.width - needed(self.least, self.kept)
                self.least[i] += max(0, min(spare, min(self.content[i], _ID) - self.least[i]))

    def _n_told(self, without: int | None = None) -> int:
        """How many rows differ in the texts that are kept."""
        texts = [self.columns[i] for i in self.kept if not self.numbers[i] and i != without]
        return len(set(zip(*texts, strict=True)))

    def _leave(self, i: int) -> None:
        self.kept.remove(i)
        self.left_out.append(i)

    def _is_id(self, i: int) -> bool:
        return self.headers[i].endswith("_id")

    def notes(self) -> list[str]:
        notes = []
        if self.below:
            shown = (
                f"{self.headers[i]} {self.columns[i][0] or '(null)'}" for i in sorted(self.below)
            )
            notes.append(f"the same in every row: {', '.join(shown)}")
        if self.left_out:
            names = [self.headers[i] for i in sorted(self.left_out)]
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            notes.append(f"no room for {', '.join(names[:_LISTED])}{more}")
        return notes
