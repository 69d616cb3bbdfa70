"""The report's templates: compiled once, and kept where that can be."""

import jinja2

from gradelake.analyses.report.html import environment

TABLES = "tables.html.jinja"


def made_anew() -> jinja2.Template:
    return environment.__wrapped__("gradelake.analyses.report", "page").get_template(TABLES)


def test_a_compiled_template_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made_anew()
    with monkeypatch.context() as patched:
        patched.setattr(jinja2.Environment, "_parse", None)  # what compiles calls it
        made_anew()
    (kept,) = (tmp_path / "gradelake").iterdir()
    kept.write_bytes(kept.read_bytes()[:20])
    assert made_anew().name == TABLES, "what is broken is made anew"


def test_a_template_is_compiled_where_nothing_can_be_kept(tmp_path, monkeypatch):
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    assert made_anew().name == TABLES
