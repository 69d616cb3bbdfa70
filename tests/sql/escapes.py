"""Statements that would do more than read a lake: a shell, a page and a model are given them."""

import hashlib
from pathlib import Path

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.sql.small_lake import file_of

REFUSED = "is refused: only the lake is open, and read-only"

# {file}: somebody's file; {new}: one that is not there; {data}: a Parquet file of the lake;
# {folder}: the project; {catalog}: what attaches the lake for writing
STATEMENTS = r"""
copy (select 1) to '{file}'
copy (select 1) to '{folder}/gradelake.toml' (format csv)
copy (select 1) to '{data}' (format parquet)
copy (select 1 as a) to '{folder}/lake/data' (format parquet, partition_by a, overwrite true)
copy raw.grades from '{file}'
copy from database lake to memory
/* a query */ copy (select 1) to '{new}'
export database '{new}'
import database '{folder}'
attach '{new}'
attach 'file:{new}?mode=rwc' as other (type sqlite)
attach '{folder}/lake/catalog.sqlite' as other (type sqlite)
attach '{catalog}' as other (data_path '{folder}/lake/data/', override_data_path true)
attach ':memory:' as other
attach 'dbname=postgres' as other (type postgres)
detach lake
use memory
use __ducklake_metadata_lake
install httpfs
load httpfs
update extensions
pragma memory_limit='1GB'
set enable_external_access = true
set global threads = 1
set session search_path = 'memory'
set variable x = (select content from read_text('{file}'))
reset lock_configuration
create secret (type s3, key_id 'a', secret 'b')
drop secret gradelake
delete from raw.grades
insert into raw.grades from raw.grades
update raw.grades set grade = 0
merge into raw.grades using raw.grades as other on true when matched then delete
drop table raw.grades
drop schema raw cascade
alter table raw.grades drop column grade
create table mine as select 1
create table memory.main.mine as select 1
create view mine as select 1
create schema mine
create macro mine() as 1
create type mine as enum ('a')
create sequence mine
create index mine on raw.grades (grade)
comment on table raw.grades is 'mine'
delete from __ducklake_metadata_lake.ducklake_data_file
create temp macro mine() as table from read_text('{file}')
create temp macro mine(x) as (select content from read_text(x))
create temporary function mine(x) as getenv(x)
create temp sequence mine
create temp type mine as enum (select content from read_text('{file}'))
create temp table mine (a int)
create temp table mine as from read_text('{file}')
create temp table if not exists mine as with a as (from read_csv('{file}')) from a
create temp view mine(a) as select content from read_text('{file}')
create or replace temp view mine as (select * from sqlite_scan('{folder}/lake/catalog.sqlite', 'x'))
create temp table "mine as select 1" as from read_text('{file}')
create temp table mine as pivot (from read_text('{file}')) on filename using count(*)
call lake.merge_adjacent_files()
checkpoint
vacuum
analyze
begin
prepare mine as select * from read_text('{file}')
execute mine
deallocate mine
explain copy (select 1) to '{new}'
explain analyze delete from raw.grades
explain (analyze, format json) select content from read_text('{file}')
explain analyze create table mine as select 1
explain analyze create temp table mine as from read_text('{file}')
describe select * from read_text('{file}')
summarize from read_csv('{file}')
show tables from __ducklake_metadata_lake
describe __ducklake_metadata_lake.ducklake_table
select * from (describe from read_csv('{file}'))
from '{file}'
from '{data}'
from '{folder}/lake/data/**/*.parquet'
from "{file}"
select * from '{folder}/gradelake.toml'
select (from '{file}')
select * from raw.grades, '{file}'
select 1 where exists (from '{file}')
with a as (from '{file}') from a
with recursive a as (select 1 as n union all select n + 1 from a, '{file}') from a
table '{file}'
from read_text('{file}')
from READ_TEXT('{file}')
from "read_text"('{file}')
from main.read_text('{file}')
from system.main.read_text('{file}')
from read_text /* of */ ('{file}')
from read_text('{folder}' || '/gradelake.toml')
from lake.set_option('encrypted', 'true')
from range((select count(*) from glob('/etc/*')))
select * from range(1), lateral (from read_text('{file}'))
select unnest((select list(content) from read_text('{file}')))
select 1 order by (select content from read_text('{file}'))
select count(*) filter ((select content from read_text('{file}')) = '') from raw.grades
select list_transform([1], lambda x: x + (select count(*) from glob('/etc/*')))
select 1 limit (select count(*) from glob('/etc/*'))
select 1 union all select count(*) from glob('/etc/*')
values ((select content from read_text('{file}')))
from (values ((select content from read_text('{file}')))) as a
from raw.grades as g join read_text('{file}') as t on true
from raw.grades anti join read_text('{file}') on true
from raw.grades positional join read_text('{file}')
from query('delete from raw.grades')
from query_table('{file}')
from query_table(['raw.grades', '{file}'])
from histogram('{file}', a)
from json_execute_serialized_sql(json_serialize_sql('from read_text(''{file}'')'))
select json_serialize_plan('from read_text(''{file}'')')
from postgres_query('__ducklake_metadata_lake', 'select pg_read_file(''/etc/passwd'')')
from __ducklake_metadata_lake.ducklake_data_file
from __DUCKLAKE_METADATA_LAKE.main.ducklake_data_file
from "__ducklake_metadata_lake".pg_catalog.pg_authid
from duckdb_databases
from pg_catalog.pg_settings
select getenv('HOME')
select "getenv"('HOME')
select list_transform(['HOME'], lambda x: getenv(x))
select current_setting('temp_directory')
pivot (from read_text('{file}')) on filename using count(*)
pivot raw.grades on grade using any_value(getenv('HOME'))
pivot raw.grades on grade using "getenv"('HOME')
pivot raw.grades on grade using count(*) -- ' \n, count(getenv('HOME'))
pivot __ducklake_metadata_lake.ducklake_table on table_name using count(*)
pivot duckdb_databases on path using count(*)
with a as (from read_text('{file}')) pivot a on filename using count(*)
create table mine as pivot raw.grades on grade using count(*)
unpivot (from read_text('{file}')) on content, size
pivot (from read_text('{file}')) on filename in ('a') using count(*)
/* /* */ delete from raw.grades -- */ explain select 1
explain --\r analyze delete from raw.grades
create temp table mine as select 1; delete from raw.grades
select 1; copy (select 1) to '{new}'
explain select 1; delete from raw.grades
pivot raw.grades on grade using count(*); delete from raw.grades
from read_text\u00a0('{file}')
pivot raw.grades on grade using count\u00a0(*), getenv\u00a0('HOME')
""".strip().splitlines()
ESCAPES = {r"\r": "\r", r"\n": "\n", r"\u00a0": "\u00a0"}


def filled_in(statement: str, project: Project) -> str:
    for escape, character in ESCAPES.items():
        statement = statement.replace(escape, character)
    place = project.catalog or f"sqlite:{project.lake_path}/catalog.sqlite"
    return statement.format(
        file=project.folder / "file.csv",
        new=project.folder / "new",
        data=file_of(project, "grades"),
        folder=project.folder,
        catalog=f"ducklake:{place}",
    )


def state(live: Lake) -> tuple[dict[Path, str], int, int]:
    """All files beside the lake and of it, and how much the lake holds."""
    files = {
        file: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in live.project.folder.rglob("*")
        if file.is_file() and file.suffix not in (".sqlite-shm", ".sqlite-wal")
    }
    return files, live.newest_snapshot(), live.value("select count(grade) from lake.raw.grades")
