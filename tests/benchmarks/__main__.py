"""`make bench`: what is measured, one after the other, and a table of the aims at the end.

python -m tests.benchmarks
"""

from tests.benchmarks import aims, grading, leaderboards, memory, pages, scale, waits

waits.main()
leaderboards.main()
grading.main()
scale.measure(1, until="export")
memory.main()
pages.main()  # near the end: it needs Chromium
aims.console.print(aims.table())
