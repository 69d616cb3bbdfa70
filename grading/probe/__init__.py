"""Made-up variants of judged passages, graded apart: what raises a judge's grades?"""
