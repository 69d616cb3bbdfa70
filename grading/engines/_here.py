"""What engines share that compute in the worker process, on GPUs where there are some."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gradelake.grading.engines import Cluster, Engine, EngineUnusable, Workers
from gradelake.sql.common.errors import BadInput


class HereEngine(Engine):
    """`cpus_per_actor` is a setting of each; `tensor_parallel_size` of those that take GPUs."""

    targets = Engine.targets | {"generate"}

    def stack(self) -> dict[str, str | list[str]]:
        return super().stack() | _gpu()

    @classmethod
    def workers(cls, cluster: Cluster, settings: Mapping[str, Any]) -> Workers:
        if cluster.gpus:
            size = settings.get("tensor_parallel_size", 1)
            return Workers(count=cluster.gpus // size, gpus=size)
        cpus = settings["cpus_per_actor"]
        return Workers(count=max(1, cluster.cpus // cpus), cpus=cpus)


def _gpu() -> dict[str, str]:
    """The GPU that torch computes on, and its CUDA (or ROCm); nothing without one."""
    import torch

    if not torch.cuda.is_available():
        return {}
    cuda = torch.version.cuda or f"ROCm {torch.version.hip}"
    return {"gpu": torch.cuda.get_device_name(), "cuda": cuda}


@contextmanager
def loading(what: str, hint: str) -> Iterator[None]:
    """Inside, what a library raises becomes `EngineUnusable`: it cannot do `what`."""
    try:
        yield
    except (EngineUnusable, BadInput, ImportError):
        raise
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise EngineUnusable(f"{what}: {reason[0]}", hint) from error
