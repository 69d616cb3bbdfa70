"""`make bench`: what is measured, one after the other.

python -m tests.benchmarks
"""

from tests.benchmarks import grading, leaderboards, statistics, waits

leaderboards.main()
waits.main()
grading.main()
statistics.main()
