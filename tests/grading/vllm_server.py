"""vLLM's own server, with a real model that is far too small: one for many tests."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.grading import smollm

ROOM = 2048  # tokens of prompt and reply
PATIENCE = 240  # seconds for the server's start: cores are few, and shared
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "OMP_NUM_THREADS": "1",
    "GOMP_SPINCOUNT": "0",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # its engine's process does a worker's work, too
}
# the engine's process has what the server's imported
SERVER = """
import multiprocessing, runpy
from vllm.v1.engine import utils
utils.get_mp_context = lambda: multiprocessing.get_context("fork")
runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
"""


@contextmanager
def vllm_server(folder: Path) -> Iterator[str]:
    """The address of one; in a process group of its own, or its engine would outlive it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    arguments = (
        f"--model {smollm.model_folder()} --served-model-name smol --host 127.0.0.1 --port {port} "
        f"--dtype bfloat16 --max-model-len {ROOM} --max-num-seqs 16 --block-size 32 "
        "--enforce-eager --enable-prompt-tokens-details --api-server-count 1"
    )
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, *arguments.split()],
            env=os.environ | ENVIRONMENT,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def _wait_for(address: str, process: subprocess.Popen, log) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"vLLM's server did not start:\n{log.read_text()[-3000:]}")
