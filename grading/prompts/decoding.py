"""What models are told about choosing tokens."""

from typing import Annotated

from pydantic import Field

from gradelake.sql.common.checked import Checked


class Decoding(Checked):
    """What a prompt file or `[graders.NAME] decoding` states; None what it does not."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None

    @property
    def stated(self) -> dict[str, float | int]:
        return self.model_dump(exclude_unset=True)
