"""From raw tables to marts: dbt on the lake, its seeds, and its documentation."""
