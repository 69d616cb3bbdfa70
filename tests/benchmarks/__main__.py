"""`make bench`: what is measured, one after the other.

python -m tests.benchmarks
"""

from tests.benchmarks import grading, leaderboards, rubric, statistics

leaderboards.main()
grading.main()
rubric.main()
statistics.main()
