"""One lake: its connection, tables and their contracts, migrations, transactions and locks."""
