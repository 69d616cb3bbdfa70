"""A client of `gradelake mcp`: the protocol's own package, over standard input and output."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult


def talk(folder: Path, work: Callable[[ClientSession], Awaitable[Any]], *options: str) -> Any:
    """What `work` makes of a session with a server of the project in `folder`."""
    command = ["-m", "gradelake", "--config", str(folder / "gradelake.toml"), "mcp", *options]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))

    async def main() -> Any:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return await work(session)

    return anyio.run(main)


def called(folder: Path, *calls: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()):
    """What each call of a tool, one after the other, is answered."""

    async def work(session: ClientSession) -> list[CallToolResult]:
        return [await session.call_tool(name, given) for name, given in calls]

    return talk(folder, work, *options)


def text(answer: CallToolResult) -> str:
    """What a model reads."""
    (block,) = answer.content
    return block.text


def refusal(answer: CallToolResult) -> str:
    """What is wrong; the answer must be a refusal."""
    assert answer.is_error, text(answer)
    return text(answer)


def table(answer: CallToolResult) -> dict[str, Any]:
    """The rows of an answer, with their columns and how many there are."""
    assert not answer.is_error, text(answer)
    (found,) = answer.structured_content["tables"]
    return found


def records(answer: CallToolResult) -> list[dict[str, Any]]:
    found = table(answer)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
