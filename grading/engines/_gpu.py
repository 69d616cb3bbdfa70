"""The GPU that torch computes on."""


def gpu() -> dict[str, str]:
    """Its name, and torch's CUDA (or ROCm); nothing without one."""
    import torch

    if not torch.cuda.is_available():
        return {}
    cuda = torch.version.cuda or f"ROCm {torch.version.hip}"
    return {"gpu": torch.cuda.get_device_name(), "cuda": cuda}
