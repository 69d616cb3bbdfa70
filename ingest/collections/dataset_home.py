"""The folder that ir_datasets downloads to, which its import makes: to be imported before it.

Where there is no home to write to, and IR_DATASETS_HOME names no other place, it is a folder for
this process alone.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "IR_DATASETS_HOME" not in os.environ:
    try:
        (Path.home() / ".ir_datasets").mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where the home is
        os.environ["IR_DATASETS_HOME"] = folder = tempfile.mkdtemp(prefix="ir_datasets-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
