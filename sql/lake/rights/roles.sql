-- Least rights for a catalog in PostgreSQL. An administrator runs this once, connected to the
-- lake's own, empty database (create database gradelake), before the first `gradelake init`:
--
--     psql --dbname gradelake --set ON_ERROR_STOP=1 --single-transaction --file roles.sql
--
-- gradelake_writer  ingests, grades, builds, tidies; owns the catalog's tables
-- gradelake_reader  attaches releases and reads
-- Neither can log in: people and machines get logins of their own (below).
create role gradelake_writer nologin nosuperuser nocreatedb nocreaterole;
create role gradelake_reader nologin nosuperuser nocreatedb nocreaterole;

-- nobody else gets in
do $$
begin
    execute format('revoke all on database %I from public', current_database());
    execute format(
        'grant connect on database %I to gradelake_writer, gradelake_reader', current_database()
    );
end
$$;
revoke all on schema public from public;

-- DuckLake makes a table for the few rows that a small table keeps in the catalog itself
grant usage, create on schema public to gradelake_writer;

-- readers see every table of the catalog, also those that writers make later
grant usage on schema public to gradelake_reader;
alter default privileges for role gradelake_writer in schema public
grant select on tables to gradelake_reader;
