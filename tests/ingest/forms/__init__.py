"""Folders as other tools write them, with what is expected of each."""

from tests.ingest.forms import (
    argilla,
    beir,
    dicts,
    esci,
    events,
    judges,
    label_studio,
    msmarco,
    opensearch,
    quepid,
    sheets,
    trec,
)

_TOOLS = (
    beir,
    dicts,
    msmarco,
    esci,
    quepid,
    label_studio,
    argilla,
    opensearch,
    events,
    sheets,
    judges,
    trec,
)
FOLDERS = {folder.name: folder for tool in _TOOLS for folder in tool.FOLDERS}
