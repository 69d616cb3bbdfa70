"""A model's own SQL, without dbt: what is simulated is what a build computes."""

import jinja2

from gradelake.sql.build.changes import DBT_PROJECT


def model_sql(model: str, *macros: str, table: str | None = None) -> str:
    """A model's query, over tables that are called as its sources are; or all of it over one
    `table`. `marts/agreement/group_bias`, `student_t`."""
    files = [*(f"macros/{macro}.sql" for macro in macros), f"models/{model}.sql"]
    text = "\n".join((DBT_PROJECT / file).read_text() for file in files)
    return jinja2.Template(text).render(
        source=lambda _, name: table or name, ref=lambda name: table or name, config=lambda **_: ""
    )
