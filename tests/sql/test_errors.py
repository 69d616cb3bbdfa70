"""What errors must not show."""

import duckdb
import pytest

from gradelake.sql.common.errors import how_to_install
from gradelake.sql.common.plain_words import bucket_error
from gradelake.sql.lake.opening import Lake
from tests.postgres_server import postgres_server
from tests.projects import project


def test_optional_parts_are_installed_from_the_package_or_in_a_clone():
    said = "pip install 'gradelake[openai]' (in a clone: pip install '.[openai]')"
    assert how_to_install("openai") == said


@pytest.mark.slow
def test_a_catalog_that_goes_away_shows_no_password(tmp_path):
    """DuckDB's error repeats the connection string."""
    with postgres_server() as catalog:
        lake = Lake.create(project(tmp_path, lake={"catalog": f"{catalog} password=hunter2"}))
    with pytest.raises(duckdb.Error, match='"user=grade ') as caught:
        lake.rows("select count(*) from lake.raw.queries")
    assert "hunter2" not in str(caught.value)


def test_not_every_error_is_the_buckets():
    for error in (
        duckdb.BinderException('Binder Error: Referenced column "HTTP_status" not found'),
        duckdb.ConversionException("Conversion Error: Could not convert string 'HTTP 404'"),
        duckdb.IOException('IO Error: Cannot open file "/data/x.parquet": No such file'),
        ValueError("HTTP Error"),
    ):
        assert bucket_error(error) is None
