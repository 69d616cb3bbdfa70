"""The gate: whether a system fell behind a baseline, for pull requests and nights."""
