"""The tests; the first thing that any of them imports."""

import __main__

# DuckDB takes a Python whose main module has no file for an interactive one, and draws bars on
# standard output while a query runs; a process of pytest-xdist is such a Python
if not hasattr(__main__, "__file__"):
    __main__.__file__ = __file__
