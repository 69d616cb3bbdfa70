"""Pictures: how labels and judgments meet, and how systems score by either."""

import logging

# matplotlib warns when it is imported where its folder for settings cannot be written
logging.getLogger("matplotlib").setLevel(logging.ERROR)
