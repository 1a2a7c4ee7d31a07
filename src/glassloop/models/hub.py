"""Fetching a model file from the Hugging Face hub, when its client is installed and the hub answers.

It owes a quick answer where there is no way to the hub: the metadata request is
bounded, and the whole client runs in a child process that is stopped when no
byte comes. What has arrived is kept, and the client resumes it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from glassloop.errors import WeightsError
from glassloop.models.catalogue import HubFile
from glassloop.models.downloader import Patience, run_downloader

_PATIENCE = Patience(first=15, later=60)

# The metadata request comes first and alone because it does not retry; the download does, for minutes.
_CHILD = """\
import sys
from pathlib import Path
repo, file, folder = sys.argv[1:]
try:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    get_hf_file_metadata(hf_hub_url(repo, file), timeout=4)
    hf_hub_download(repo, file, local_dir=Path(folder))
except Exception as error:
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    sys.exit("error: " + text)
"""


def hub_folder(directory: Path, file_name: str) -> Path:
    """Return where the hub's client keeps an unfinished download of `file_name`."""
    return directory / f".hub-{file_name}"


def download_from_hub(source: HubFile, folder: Path, *, report: Callable[[int], None]) -> Path:
    """Download `source` into `folder` and return the file; nothing about it is verified yet.

    Args:
        source: Repository and file.
        folder: Kept between calls, so that an interrupted download goes on.
        report: Called with the bytes that have arrived.

    Raises:
        WeightsError: The client is missing, the hub is out of reach, or it refused; the text is the reason.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        raise WeightsError("switched off by HF_HUB_OFFLINE")
    if importlib.util.find_spec("huggingface_hub") is None:
        raise WeightsError("the package huggingface_hub is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    env = {
        # The xet transfer writes pieces out of order and fills a cache of its own: no progress, twice the disk.
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    try:
        run_downloader(
            # -P would keep the folder off the import path, but Python 3.10 lacks it; the folder holds no modules.
            [sys.executable, "-c", _CHILD, source.repo, source.file, str(folder.resolve())],
            folder=folder,
            log=log,
            env=env,
            patience=_PATIENCE,
            report=report,
        )
    except WeightsError:
        if not any(folder.rglob("*.incomplete")):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        log.unlink(missing_ok=True)
    file = folder / source.file
    if not file.is_file():
        raise WeightsError(f"the hub's client ended without {source.file}")
    return file
