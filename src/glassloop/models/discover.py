"""Which model answers: the one that is named, or the first that is here.

The order: what the user names; an OpenAI-compatible address in the environment;
Ollama on this machine; the embedded model. It owes a reason for the choice, the
list of what was tried, quick probes (two seconds each, nothing is loaded or
generated), and for a name that nobody knows the names that are near.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from glassloop.errors import ModelUnavailable
from glassloop.gears import Model
from glassloop.models.addresses import is_loopback, ollama_url, shown_url
from glassloop.models.catalogue import CATALOGUE, DEFAULT_MODEL
from glassloop.models.names import near as close_names
from glassloop.models.names import suggest
from glassloop.models.weights import locate

_KINDS = ("ollama", "openai", "llamacpp", "recorded")
_PROBE_SECONDS = 2.0
_NOT_FOR_CHAT = ("embed", "rerank", "whisper", "tts", "dall-e", "moderation", "bge-")


@dataclass(frozen=True)
class Finding:
    """One place that was looked at."""

    place: str
    state: Literal["chosen", "ready", "missing"]
    detail: str
    advice: str = ""
    """What to do about it; empty where nothing is wrong."""
    spec: str = ""
    """What to pass as `--model` to get it; empty where nothing is there."""

    def __str__(self) -> str:
        return f"{self.place}: {self.detail}" + (f" → {self.advice}" if self.advice else "")


@dataclass(frozen=True)
class Found:
    """A model, why it was taken, and what was looked at on the way."""

    model: Model
    why: str
    tried: tuple[Finding, ...] = ()


def find(spec: str | None = None) -> Found:
    """Return the model that is named, or the first that is found.

    Args:
        spec: `ollama:NAME`, `openai:NAME`, `llamacpp:NAME`, `recorded:FILE`, the path of a GGUF file, or a name in the
            catalogue; None looks around.

    Raises:
        ModelUnavailable: There is none; one sentence says what to do.
    """
    if spec is not None and spec.strip():
        return _named(spec.strip())
    tried = survey()
    chosen = next((f for f in tried if f.state == "chosen"), None)
    if chosen is None:
        raise ModelUnavailable(
            "No model was found (" + "; ".join(f"{f.place}: {f.detail}" for f in tried) + "): "
            "run glassloop model fetch for the embedded one, start Ollama, or set OPENAI_BASE_URL."
        )
    return Found(_named(chosen.spec).model, f"{chosen.place}: {chosen.detail}", tuple(tried))


def survey() -> list[Finding]:
    """Look at every place in order of preference; the first that is ready is `chosen`. Never raises."""
    findings = [_environment(), _ollama(), _embedded()]
    first = next((n for n, f in enumerate(findings) if f.state == "ready"), None)
    if first is not None:
        f = findings[first]
        findings[first] = Finding(f.place, "chosen", f.detail, f.advice, f.spec)
    return findings


def _named(spec: str) -> Found:
    kind, _, rest = spec.partition(":")
    lower = kind.lower()
    if lower not in _KINDS:
        path = Path(spec).expanduser()
        if path.is_file():
            lower, rest = "llamacpp", spec
        elif spec.lower().endswith(".gguf"):
            raise ModelUnavailable(f"There is no model file at {spec}: check the path.")
        elif spec.lower() in CATALOGUE:
            lower, rest = "llamacpp", spec.lower()
        else:
            raise ModelUnavailable(_unknown(spec))
    if not rest.strip():
        if lower == "recorded":
            raise ModelUnavailable("A recording needs its file: write recorded:FILE.")
        return _first_of(lower)
    why = f"named: {spec}"
    if lower == "llamacpp":
        from glassloop.models.llamacpp import LlamaCppModel

        return Found(LlamaCppModel(rest), why)
    if lower == "ollama":
        return Found(_ollama_model(rest), why)
    if lower == "openai":
        from glassloop.models.openai import OpenAIModel

        return Found(OpenAIModel(rest), why)
    from glassloop.models.recorded import RecordedModel

    return Found(RecordedModel(rest), why)


def _first_of(kind: str) -> Found:
    """The model of a kind that was named without a model, such as `ollama`."""
    finding = {"openai": _environment, "ollama": _ollama, "llamacpp": _embedded}[kind]()
    if finding.state == "missing":
        raise ModelUnavailable(f"{finding.place}: {finding.detail}: {finding.advice}.")
    return Found(_named(finding.spec).model, f"{finding.place}: {finding.detail}", (finding,))


def _ollama_model(name: str) -> Model:
    """The model at Ollama, checked at once when the server answers: a wrong name should not cost a run."""
    from glassloop.models.ollama import OllamaModel
    from glassloop.types import Capabilities

    url = ollama_url(os.environ.get("OLLAMA_HOST"))
    names = _ollama_names(url)
    if isinstance(names, str):
        return OllamaModel(name)  # not running now; it may be when it is asked
    if name not in names and f"{name}:latest" not in names:
        near = suggest(name, names, otherwise="it has none yet.")
        raise ModelUnavailable(f"Ollama has no model called {name!r}: {near} ollama pull {name} fetches it.")
    known = tuple(names)
    able = _ollama_abilities(url, name)
    if able is None:
        return OllamaModel(name, known=known)
    can = Capabilities(native_tools="tools" in able, json_schema=True, logprobs=True, context=8192)
    return OllamaModel(name, known=known, capabilities=can)


def _environment() -> Finding:
    place = "OpenAI-compatible server in the environment"
    url = os.environ.get("OPENAI_BASE_URL", "").strip()
    if not url:
        return Finding(place, "missing", "OPENAI_BASE_URL is not set", "set it to use a server of your own")
    shown = shown_url(url)
    if not _installed("openai"):
        return Finding(place, "missing", f"{shown} is set, the package openai is not installed", _install("openai"))
    named = os.environ.get("OPENAI_MODEL", "").strip()
    key = os.environ.get("OPENAI_API_KEY", "")
    data = _get(f"{url.rstrip('/')}/models", {"Authorization": f"Bearer {key}"} if key else {})
    if isinstance(data, str):
        if named and data.startswith("answers with status"):
            return Finding(place, "ready", f"{named} at {shown} (its list of models {data})", "", f"openai:{named}")
        return Finding(place, "missing", f"{shown} {data}", "start it, or check OPENAI_BASE_URL and OPENAI_API_KEY")
    names = _names(data.get("data"), "id")
    if named:
        if names and named not in names:
            near = suggest(named, names)
            return Finding(place, "missing", f"{shown} has no model called {named!r}", f"set OPENAI_MODEL: {near}")
        return Finding(place, "ready", f"{named} at {shown}", "", f"openai:{named}")
    model = _for_chat(names)
    if model is None:
        return Finding(place, "missing", f"{shown} lists no chat model", "load one there, or set OPENAI_MODEL")
    return Finding(place, "ready", f"{model} at {shown}", "", f"openai:{model}")


def _ollama() -> Finding:
    url = ollama_url(os.environ.get("OLLAMA_HOST"))
    shown = shown_url(url)
    place = "Ollama"
    names = _ollama_names(url)
    if isinstance(names, str):
        return Finding(place, "missing", f"{shown} {names}", "start it with ollama serve")
    if not _installed("ollama"):
        return Finding(place, "missing", f"{shown} runs, the package ollama is not installed", _install("ollama"))
    model = _for_chat(names)
    if model is None:
        return Finding(place, "missing", f"{shown} has no chat model", "get one with ollama pull qwen3:4b")
    more = f" ({len(names)} models there)" if len(names) > 1 else ""
    return Finding(place, "ready", f"{model} at {shown}{more}", "", f"ollama:{model}")


def _embedded() -> Finding:
    place = "embedded llama.cpp"
    if not _installed("xllamacpp"):
        return Finding(place, "missing", "the package xllamacpp is not installed", _install("llamacpp"))
    # The default first; any other known model whose file is here serves before nothing does.
    for name in dict.fromkeys((DEFAULT_MODEL, *CATALOGUE)):
        if locate(name) is not None:
            summary = CATALOGUE[name].summary
            return Finding(place, "ready", f"{name} is on this machine ({summary})", "", f"llamacpp:{name}")
    return Finding(place, "missing", f"the weights of {DEFAULT_MODEL} are not here", "run glassloop model fetch")


def _unknown(spec: str) -> str:
    here = _ollama_names(ollama_url(os.environ.get("OLLAMA_HOST")))
    candidates = [f"llamacpp:{n}" for n in CATALOGUE]
    candidates += [f"ollama:{n}" for n in here] if not isinstance(here, str) else []
    # Compared without their kind as well: people write qwen3:4b and mean ollama:qwen3:4b.
    bare = {c.partition(":")[2]: c for c in reversed(candidates)}
    close = [bare.get(n, n) for n in close_names(spec, [*candidates, *bare])]
    near = f"did you mean {' or '.join(dict.fromkeys(close))}?" if close else ""
    if not near:
        near = "write ollama:NAME, openai:NAME, llamacpp:NAME, recorded:FILE or the path of a .gguf file."
    return f"There is no model called {spec!r}: {near}"


def _ollama_names(url: str) -> list[str] | str:
    data = _get(f"{url}/api/tags", {})
    return data if isinstance(data, str) else _names(data.get("models"), "name", "model")


def _ollama_abilities(url: str, name: str) -> list[str] | None:
    data = _get(f"{url}/api/show", {}, {"model": name})
    able = None if isinstance(data, str) else data.get("capabilities")
    return [str(a) for a in cast("list[Any]", able)] if isinstance(able, list) else None


def _get(url: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None) -> dict[str, Any] | str:
    """Fetch a JSON object, or say in a few words why not; the words hold neither address nor key."""
    import httpx

    try:
        method = "GET" if body is None else "POST"
        with httpx.Client(timeout=_PROBE_SECONDS, trust_env=not is_loopback(url)) as client:
            answer = client.request(method, url, headers=dict(headers), json=body)
        if answer.status_code in (401, 403):
            return "answers with status 401 (wrong or missing key)"
        if answer.status_code >= 400:
            return f"answers with status {answer.status_code}"
        data = answer.json()
    except httpx.TimeoutException:
        return "does not answer in time"
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        return "does not answer"
    except ValueError:
        return "answers, but not as a model server"
    return cast("dict[str, Any]", data) if isinstance(data, dict) else "answers, but not as a model server"


def _names(items: Any, *keys: str) -> list[str]:
    out: list[str] = []
    for item in cast("list[Any]", items) if isinstance(items, list) else []:
        if isinstance(item, Mapping):
            entry = cast("Mapping[str, Any]", item)
            name = next((entry[k] for k in keys if entry.get(k)), None)
            if isinstance(name, str):
                out.append(name)
    return out


def _for_chat(names: list[str]) -> str | None:
    """The first name that is not plainly something else; servers list embedding models beside chat models."""
    return next((n for n in names if not any(part in n.lower() for part in _NOT_FOR_CHAT)), None)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _install(extra: str) -> str:
    return f"pip install 'glassloop[{extra}]'"
