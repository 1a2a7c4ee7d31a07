"""Draws a run as HTML: for the viewer, and as one file that needs nothing else.

Everything that comes from a run goes through `esc`; there is no other way into the page.
The pages work without scripts; the script adds keys and, in the viewer, what is happening now.
"""

from __future__ import annotations

import html
import json
import time
from collections.abc import Callable, Iterable
from importlib import resources
from typing import Any

from .compare import around
from .prompt_change import Sent
from .timeline import Row, StepView, Timeline, change_text, listed, money, source_text

_FOLDED = 600
"""Characters above which a text is folded."""


_REPAIRED = 160
"""Characters of a repair, before and after together, above which only the place of the change is shown at once."""


def esc(value: Any) -> str:
    """Return any value as text that is safe in HTML, in an attribute too."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(text, quote=True)


def asset(name: str) -> str:
    """Return one of the viewer's own files."""
    return (resources.files("glassloop.journal") / "viewer" / name).read_text("utf-8")


def page(title: str, body: str, *, head: str) -> str:
    """Return a whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{esc(title)}</title>\n<link rel="icon" href="data:,">\n{head}\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def export(timeline: Timeline) -> str:
    """Return a run as one file: no network, no other file, readable on a phone, dark and light."""
    head = (
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n"
        f"<style>\n{asset('style.css')}</style>"
    )
    body = f'<main id="run">\n{run_body(timeline)}\n</main>\n<script>\n{asset("keys.js")}</script>'
    title = timeline.start.question if timeline.start else "run"
    return page(f"{title[:80]} · glassloop", body, head=head)


def run_body(timeline: Timeline, links: bool = False) -> str:
    """Return everything about one run: its head, its steps, its end."""
    steps = "\n".join(step_html(step) for step in timeline.steps)
    head = f"{head_html(timeline, links)}\n{opening_html(timeline)}"
    return f'{head}\n<div id="steps">\n{steps}\n</div>\n{end_html(timeline)}'


def head_html(timeline: Timeline, links: bool = False) -> str:
    """Return the run's question and the conditions it runs under."""
    start = timeline.start
    if start is None:
        return '<header class="run-head" id="head"><h1>(no beginning)</h1></header>'
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(start.at))
    tools = ", ".join(str(t.get("name", "")) for t in start.tools) or "none"
    pairs = [("run", start.run_id), ("begun", when), ("model", start.model), ("protocol", start.protocol)]
    pairs += [("tools", tools), ("limits", _limits(start.limits))]
    facts = "".join(f"<div><dt>{esc(k)}</dt><dd>{esc(v)}</dd></div>" for k, v in pairs if v)
    if start.parent:
        parent = esc(start.parent)
        link = f'<a href="/runs/{parent}">{parent}</a>' if links else parent
        facts += f"<div><dt>forked from</dt><dd>{link}</dd></div>"
    system = _fold("instructions", start.system) if start.system else ""
    head = f'<h1>{esc(start.question)}</h1><dl class="facts">{facts}</dl>{system}'
    return f'<header class="run-head" id="head">{head}</header>'


def _limits(limits: dict[str, Any]) -> str:
    return ", ".join(f"{k} {v}" for k, v in limits.items()) or "as usual"


def opening_html(timeline: Timeline) -> str:
    """Return what was noted before the first step."""
    rows = [row for row in timeline.opening if row.kind != "start"]
    return "".join(row_html(row) for row in rows)


def end_html(timeline: Timeline) -> str:
    """Return how the run ended, or that it goes on."""
    end = timeline.end
    if end is None:
        return '<footer class="run-end going" id="end" role="status">no end recorded</footer>'
    answer = f'<h2>Answer</h2><div class="answer">{esc(end.answer)}</div>' if end.answer else ""
    reasons = "".join(f"<li>{esc(r)}</li>" for r in end.reasons)
    marked = f'<p class="bad">Not supported by the observations:</p><ul>{reasons}</ul>' if reasons else ""
    good = "good" if end.stop == "answered" and end.answer_checked else "warn"
    facts = [f"{timeline.usage.total:,} tokens"]
    if timeline.usage.cached:
        facts.append(f"{timeline.usage.cached:,} from cache")
    facts.append(f"{end.seconds or timeline.seconds:.1f} s")
    facts.append(money(end.cost))
    detail = f" <span>{esc(end.detail)}</span>" if end.detail else ""
    return (
        f'<footer class="run-end" id="end">{answer}{marked}<p class="sum"><b class="badge {good}">{esc(end.stop)}</b>'
        f"{detail} <span>{esc(' · '.join(facts))}</span></p></footer>"
    )


def step_html(step: StepView) -> str:
    """Return one step with all of its rows."""
    facts = [f"{step.usage.prompt:,} → {step.usage.completion:,} tokens"]
    if step.usage.cached:
        facts.append(f"{step.usage.cached:,} from cache")
    facts.append(f"{step.seconds:.2f} s")
    name = "Wrap-up" if step.purpose == "wrap_up" else f"Step {step.number}"
    rows = "\n".join(row_html(row) for row in step.rows if row.kind != "end")
    return (
        f'<section class="step" id="step-{step.number}" tabindex="-1" aria-label="{esc(name)}">'
        f'<h2><a href="#step-{step.number}">{esc(name)}</a> <small>{esc(" · ".join(facts))}</small></h2>\n'
        f"{rows}</section>"
    )


_LABELS = {
    "sent": "sent",
    "retry": "retried",
    "reply": "reply",
    "thought": "thought",
    "answer": "answer",
    "fault": "not understood",
    "repair": "mended",
    "wanted": "wants",
    "call": "runs",
    "asked": "asks",
    "decision": "decision",
    "observation": "observed",
    "check": "check",
    "compacted": "compacted",
    "limit": "limit",
    "note": "note",
}


def row_html(row: Row) -> str:
    """Return one row: what it is at the left, what it says at the right."""
    label = str(row.facts.get("how") or _LABELS.get(row.kind, row.kind))
    body = _BODIES.get(row.kind, _plain_body)(row)
    inner = f'<div class="what">{esc(label)}</div><div class="says">{body}</div>'
    return f'<div class="row {esc(row.kind)} {esc(row.level)}">{inner}</div>'


def _plain_body(row: Row) -> str:
    title = f"<b>{esc(row.title)}</b> " if row.title else ""
    return f"{title}{_text(row.text)}"


def _sent_body(row: Row) -> str:
    kept = row.facts.get("kept", 0)
    facts: list[str] = []
    if kept:
        facts.append(f"{kept} message{'s' if kept != 1 else ''} as before")
    for key in ("constraint", "no_longer_offered", "offered_again", "purpose"):
        if row.facts.get(key):
            shown = listed(row.facts[key])
            facts.append(f"{key.replace('_', ' ')}: {shown}")
    first = f'<p class="quiet">{esc(" · ".join(facts))}</p>' if facts else ""
    return first + "".join(_message(m) for m in row.sent)


def _message(message: Sent) -> str:
    name = f"{message.role}, {message.how}"
    mark = {"gone": "−", "changed": "±", "continued": "+"}.get(message.how, "+")
    return f'<div class="message {esc(message.how)}">{_fold(f"{mark} {name}", message.text, most=240)}</div>'


def _reply_body(row: Row) -> str:
    parts = "".join(
        f'<mark class="{esc(p.mark)}" title="{esc(p.mark)}">{esc(p.text)}</mark>' if p.mark else esc(p.text)
        for p in row.parts
    )
    facts = [str(row.facts[k]) for k in ("model", "finish") if row.facts.get(k)]
    if row.facts.get("seconds"):
        facts.append(f"{row.facts['seconds']:.2f} s")
    out = f"<pre>{parts}</pre>" if parts else ""
    if row.facts.get("reasoning"):
        out += _fold("reasoning", str(row.facts["reasoning"]))
    if row.facts.get("tool_calls"):
        out += f"<pre>{esc(json.dumps(row.facts['tool_calls'], ensure_ascii=False, indent=1))}</pre>"
    if row.facts.get("raw"):
        out += _fold("raw body", json.dumps(row.facts["raw"], ensure_ascii=False, indent=1, default=str), most=0)
    return out + (f'<p class="quiet">{esc(" · ".join(facts))}</p>' if facts else "")


def _repair_body(row: Row) -> str:
    before, after = change_text(row)
    whole = ""
    if len(before) + len(after) > _REPAIRED:
        whole = _fold("before", before, most=0) + _fold("after", after, most=0)
        before, after = around(before, after)
    where = f" at <code>{esc(row.facts['path'])}</code>" if row.facts.get("path") else ""
    guessed = ' <b class="badge warn">guessed</b>' if row.facts.get("guessed") else ""
    change = "" if row.before is None and row.after is None else f" <del>{esc(before)}</del> → <ins>{esc(after)}</ins>"
    return f"{esc(row.title)}{where}{change}{guessed}{whole}"


def _call_body(row: Row) -> str:
    risk = row.facts.get("risk", "")
    badge = f' <b class="badge {"warn" if risk != "read" else ""}">{esc(risk)}</b>' if risk else ""
    unknown = ' <b class="badge warn">outcome unknown</b>' if row.facts.get("unknown") else ""
    preview = f"<p>{esc(row.facts['preview'])}</p>" if row.facts.get("preview") else ""
    return f'<code class="call">{esc(row.text)}</code>{badge}{unknown}{preview}{_sources(row)}'


def _shown_whole(row: Row) -> bool:
    """Whether cleaning left everything in."""
    return json.dumps(row.before, ensure_ascii=False, separators=(",", ":"), default=str) in row.text


def _sources(row: Row) -> str:
    sources = row.facts.get("sources") or ()
    items = "".join(f"<li>{esc(source_text(s))}</li>" for s in sources)
    return f'<ul class="sources" aria-label="where the values come from">{items}</ul>' if items else ""


def _observation_body(row: Row) -> str:
    facts = [str(row.facts.get("status", ""))]
    if row.facts.get("seconds"):
        facts.append(f"{row.facts['seconds']:.2f} s")
    if row.facts.get("cached"):
        facts.append("from the record")
    if row.facts.get("by"):
        facts.append(f"allowed by {row.facts['by']}" if row.facts.get("status") == "ok" else f"by {row.facts['by']}")
    out = f'<b>{esc(row.title)}</b> <span class="quiet">{esc(" · ".join(facts))}</span><pre>{esc(row.text)}</pre>'
    if row.before is not None and row.facts.get("characters", 0) > 0 and not _shown_whole(row):
        full = row.before if isinstance(row.before, str) else _pretty(row.before)
        out += _fold(f"before cleaning, {len(full):,} characters", full, most=0)
    return out + _sources(row)


def _check_body(row: Row) -> str:
    reasons = "".join(f"<li>{esc(r)}</li>" for r in row.facts.get("reasons", ()))
    complaint = f"<p>told the model: {esc(row.facts['complaint'])}</p>" if row.facts.get("complaint") else ""
    return f"{esc(row.title)}<ul>{reasons}</ul>{complaint}" if reasons else f"{esc(row.title)}{complaint}"


def _decision_body(row: Row) -> str:
    why = f": {esc(row.text)}" if row.text else ""
    return f"<b>{esc(row.title)}</b> by {esc(row.facts.get('by', ''))}{why}"


def _compacted_body(row: Row) -> str:
    return f"about {row.before:,} → {row.after:,} tokens ({esc(row.title)})" + _fold("what is left", row.text, most=0)


def _wanted_body(row: Row) -> str:
    return f'<code class="call">{esc(row.text)}</code>'


_BODIES: dict[str, Callable[[Row], str]] = {
    "sent": _sent_body,
    "reply": _reply_body,
    "repair": _repair_body,
    "call": _call_body,
    "asked": _call_body,
    "wanted": _wanted_body,
    "observation": _observation_body,
    "check": _check_body,
    "decision": _decision_body,
    "compacted": _compacted_body,
}


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _text(text: str) -> str:
    return f'<div class="text">{esc(text)}</div>' if len(text) <= _FOLDED else _fold("text", text)


def _fold(name: str, text: str, most: int = _FOLDED) -> str:
    """Show a text at once if it is short, else behind its name and its first words."""
    if len(text) <= most:
        return f'<div class="named"><span class="name">{esc(name)}</span><pre>{esc(text)}</pre></div>'
    first = " ".join(text[:160].split())[:90]
    return (
        f'<details><summary><span class="name">{esc(name)}</span> '
        f'<span class="quiet">{esc(first)}… ({len(text):,} characters)</span></summary><pre>{esc(text)}</pre></details>'
    )


def side_by_side(left: Timeline, right: Timeline, step: int) -> str:
    """Return two runs next to each other, step by step; `step` is where they part."""
    numbers = sorted({s.number for t in (left, right) for s in t.steps})
    rows: list[str] = []
    for number in numbers:
        cells = [[s for s in t.steps if s.number == number] for t in (left, right)]
        parted = " parted" if number == step else ""
        inner = "".join(f'<div class="side">{_steps(cell)}</div>' for cell in cells)
        rows.append(f'<div class="pair{parted}">{inner}</div>')
    ends = "".join(f'<div class="side">{end_html(t)}</div>' for t in (left, right))
    return "\n".join(rows) + f'<div class="pair">{ends}</div>'


def _steps(steps: Iterable[StepView]) -> str:
    return "\n".join(step_html(step) for step in steps) or '<p class="quiet">no such step</p>'
