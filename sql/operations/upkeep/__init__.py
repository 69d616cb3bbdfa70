"""Looking after a lake: verify, backup and restore, copies, tidying."""
