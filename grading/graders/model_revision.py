"""What tells two models of one name apart: the hash of a folder, or a hub's commit."""

import hashlib
import json
from pathlib import Path

from gradelake.sql.common.cache import cache_folder, keep
from gradelake.sql.common.errors import BadInput

# what a change of a grade could come from; notes, pictures and other formats are left out
_COUNTED = (".safetensors", ".bin", ".pt", ".gguf", ".json", ".jinja", ".model", ".txt", ".py")


def model_revision(model: str, where: str) -> str:
    """The content of the model's folder; else the commit a hub model has here in the Hugging Face
    cache; else the one the hub tells.

    Raises `BadInput`, naming `where`, when none of these can be had.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder_hash(folder)
    if model.startswith((".", "/", "~")):
        raise BadInput(f"{where}: {model}: no such folder", "Name a model's folder or hub id.")
    try:
        from huggingface_hub import HfApi, constants
    except ImportError as error:
        raise BadInput(
            f"{where}: {model!r} is not a folder here, and huggingface_hub is not installed",
            "State `revision`, or install the engine's extra.",
        ) from error
    cached = Path(constants.HF_HUB_CACHE) / f"models--{model.replace('/', '--')}" / "refs" / "main"
    if cached.is_file():
        return cached.read_text(encoding="utf-8").strip()
    try:
        if revision := HfApi().model_info(model, timeout=20).sha:
            return revision
        raise LookupError(model)
    except Exception as error:
        raise BadInput(
            f"{where}: the revision of {model!r} cannot be found out ({type(error).__name__})",
            "Name the folder of a model, download it first, or state `revision`.",
        ) from None


def folder_hash(folder: Path) -> str:
    """SHA-256, 16 hex digits, over the names and contents of a model's files.

    Hashing tens of GB takes a while, so each file's hash is kept in the user's cache under its
    path, size and time of change.
    """
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in _COUNTED)
    if not files:
        raise BadInput(f"{folder}: holds no model", "A model's folder has a config.json.")
    cache_file = cache_folder() / "model-hashes.json"
    try:
        cache = json.loads(cache_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        cache = {}
    total, new = hashlib.sha256(), False
    for path in files:
        stat = path.stat()
        key = f"{path.resolve()}:{stat.st_size}:{stat.st_mtime_ns}"
        if key not in cache:
            with path.open("rb") as stream:
                cache[key] = hashlib.file_digest(stream, "sha256").hexdigest()
            new = True
        total.update(f"{path.relative_to(folder)}\0{cache[key]}\n".encode())
    if new:
        keep(cache_file, json.dumps(cache, indent=1).encode())
    return total.hexdigest()[:16]
