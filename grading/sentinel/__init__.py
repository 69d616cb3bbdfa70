"""Fixed sets of judged pairs, graded anew by schedule: does a judge judge as it did?"""
