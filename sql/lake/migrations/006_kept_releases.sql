-- Releases that stay until somebody drops them, however many newer ones there are.

-- key: release
create table raw.kept_releases (
    release varchar not null,
    kept_by varchar not null,
    kept_at timestamp not null
);
