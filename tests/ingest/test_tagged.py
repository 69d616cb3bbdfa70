"""Topics between tags, as TREC writes them."""

import pytest

from gradelake.ingest.collections.texts import Query, read_queries
from gradelake.sql.common.problems import Rejected

OLD = """\
<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that take part
in crime.
<narr> Narrative:
A relevant document names &amp; describes one.
</top>

<top>
<num> Number: 302 <title> Polio
</top>
"""
NEW = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topics [<!ENTITY lol "lol">]>
<topics task="rag">
  <topic number="301"><title>International Organized Crime</title>
    <description>Identify organizations that take part in crime.</description>
    <narrative>A relevant document names &amp; describes one.</narrative></topic>
  <topic number="302"><title>Polio</title></topic>
</topics>
"""
PARTS = (
    "Identify organizations that take part in crime.",
    "A relevant document names & describes one.",
)
EXPECTED = [Query("301", "International Organized Crime", *PARTS), Query("302", "Polio")]


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.xml", NEW), ("t.txt", OLD), ("topics.301-302", OLD), ("t.txt", f"\n{NEW}")],
)
def test_topics_between_tags(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert read_queries(path, name) == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<top>\n<num> Number: 1\n</top>\n", "no column for the text"),
        ('\n<?xml version="1.0"?>\n<topics>\n', "holds no topics between tags"),
        ("<topic number='1'><title> </title></topic>\n", ":1: a query without an id or without"),
    ],
)
def test_what_holds_no_topics_is_refused(tmp_path, text, message):
    path = tmp_path / "t.xml"
    path.write_text(text)
    with pytest.raises(Rejected, match=message):
        read_queries(path, "t.xml")
