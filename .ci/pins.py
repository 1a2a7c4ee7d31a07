"""Write constraints.txt: one pinned version of every package, for every Python this project runs on.

    python .ci/pins.py python3.10 python3.11 python3.12 python3.13

Each interpreter's own pip resolves `.[all,dev]` without installing anything; where they agree the pin has no
marker. Names and versions only: where packages come from is the business of whoever installs them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# Pinned versions of everything `.[all,dev]` brings, on Python {first} to {last}.
# Written by .ci/pins.py; names and versions only.
"""


def resolve(python: str) -> tuple[str, dict[str, str]]:
    """Return an interpreter's version as `3.11`, and what its pip would install."""
    version = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True, capture_output=True, text=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        environment, report = Path(folder) / "env", Path(folder) / "report.json"
        subprocess.run([python, "-m", "venv", str(environment)], check=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip"]
        subprocess.run([*pip, "install", "--quiet", "--upgrade", "pip"], check=True)
        asked = ["install", "--quiet", "--dry-run", "--report", str(report), f"{ROOT}[all,dev]"]
        subprocess.run([*pip, *asked], check=True, stdout=subprocess.DEVNULL)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    names = {re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower(): item["metadata"]["version"] for item in found}
    names.pop("glassloop", None)
    return version, names


def marker(versions: list[str], every: list[str]) -> str:
    """Say for which Pythons a pin holds; nothing when it holds for all of them."""
    if versions == every:
        return ""
    places = [every.index(version) for version in versions]
    if places == list(range(places[0], places[-1] + 1)):
        lower = f"python_version >= '{versions[0]}'" if places[0] else ""
        upper = f"python_version <= '{versions[-1]}'" if places[-1] < len(every) - 1 else ""
        return " ; " + " and ".join(filter(None, [lower, upper]))
    return " ; " + " or ".join(f"python_version == '{version}'" for version in versions)


def main(pythons: list[str]) -> None:
    """Resolve with every interpreter and write the file."""
    found = dict(resolve(python) for python in pythons)
    every = sorted(found, key=lambda version: [int(part) for part in version.split(".")])
    pins: dict[tuple[str, str], list[str]] = {}
    for version in every:
        for name, pinned in found[version].items():
            pins.setdefault((name, pinned), []).append(version)
    lines = [f"{name}=={pinned}{marker(versions, every)}" for (name, pinned), versions in sorted(pins.items())]
    text = HEAD.format(first=every[0], last=every[-1]) + "\n".join(lines) + "\n"
    (ROOT / "constraints.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
