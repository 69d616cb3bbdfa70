"""`make bench`: what is measured, one after the other.

python -m tests.benchmarks
"""

from tests.benchmarks import grading, leaderboards, pages, waits

leaderboards.main()
waits.main()
grading.main()
pages.main()  # last: it needs Chromium
