"""Fixed sets of judged pairs that graded anew by schedule: does a judge judge as it did?"""
