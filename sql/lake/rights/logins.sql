-- A writer and a reader, as examples. `set role` lets everything that a writer makes belong to
-- gradelake_writer, so that the next writer can change it; passwords are set with \password in
-- psql, which keeps them out of the server's log.
create role nightly login;
grant gradelake_writer to nightly;
alter role nightly set role = 'gradelake_writer';

create role analyst login connection limit 20;
grant gradelake_reader to analyst;
alter role analyst set role = 'gradelake_reader';
alter role analyst set default_transaction_read_only = on;
