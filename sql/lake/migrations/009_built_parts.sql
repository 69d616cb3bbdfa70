-- The table gets a column; the next build makes it anew, and every part with it.
drop table if exists intermediate.built_parts;
