"""A run of five steps with two writes, and a way to kill it for real at any event; for `test_write_at_most_once.py`.

As a program: `five_steps.py FOLDER PROTOCOL POINT...` forks one child for each point, each with a folder of its own;
the child runs and is killed with SIGKILL there. A point is a number of recorded events, `in:TOOL` (inside the tool,
before it has done anything) or `out:TOOL` (inside it, after it has).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from glassloop import Agent, ScriptedModel, tool
from glassloop.events import Event
from glassloop.journal.record import JournalRecorder

QUESTION = {
    "en": "Where does Ana sit? Book desk 12 for Ana, see who else is on floor 3, and mail Bob about desk 12.",
    "zh": "Ana 坐在哪里？给 Ana 预订12号桌，看看3楼还有谁，再给 Bob 发邮件说12号桌的事。",
}
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("where", {"person": "Ana"}),
    ("book", {"desk": 12, "person": "Ana"}),
    ("floor", {"number": 3}),
    ("mail", {"to": "Bob", "desk": 12}),
]
ANSWER = {"en": "Desk 12 is booked for Ana and Bob has been mailed.", "zh": "已为 Ana 预订12号桌，并已给 Bob 发邮件。"}
WRITES = ("book", "mail")


def die() -> None:
    """End this process the hard way."""
    os.kill(os.getpid(), signal.SIGKILL)


class Killer:
    """A recorder that kills the process once so many events are written."""

    def __init__(self, path: Path, count: int) -> None:
        self.inner, self.left, self.path = JournalRecorder(path), count, path

    def record(self, event: Event) -> None:
        self.inner.record(event)
        self.left -= not event.live_only
        if self.left == 0:
            die()

    def close(self) -> None:
        self.inner.close()


def tools(folder: Path, point: str = "") -> list[Any]:
    """The four tools; each appends a line to a file when it is entered, and the writes another when they are done."""

    def happens(name: str, what: str) -> str:
        for moment in ("in", "out"):
            with (folder / f"{moment}.txt").open("a", encoding="utf-8") as file:
                if moment == "out" or point != f"in:{name}":
                    file.write(f"{name}\n")
            if point == f"{moment}:{name}":
                die()
        return what

    @tool
    def where(person: str) -> str:
        """Desk of a person. Use it for any question about where somebody sits."""
        return happens("where", f"{person} sits nowhere yet")

    @tool
    def floor(number: int) -> str:
        """Who sits on a floor. Use it for any question about who is on a floor."""
        return happens("floor", f"Bob sits on floor {number}")

    @tool(risk="write")
    def book(desk: int, person: str) -> str:
        """Book a desk for somebody. Use it when the user wants a desk booked."""
        return happens("book", f"desk {desk} is booked for {person}")

    @tool(risk="write")
    def mail(to: str, desk: int) -> str:
        """Mail somebody about a desk. Use it when the user wants a mail sent."""
        return happens("mail", f"mailed {to} about desk {desk}")

    return [where, book, floor, mail]


def reply(protocol: str, language: str, step: int) -> Any:
    """What the model says in a step, counted from 0."""
    if step == len(STEPS):
        answer = ANSWER[language]
        return {
            "constrained": json.dumps({"thought": "done", "answer": answer}, ensure_ascii=False),
            "native": answer,
            "text": f"Thought: done\nAnswer: {answer}",
        }[protocol]
    name, arguments = STEPS[step]
    said = json.dumps(arguments, ensure_ascii=False)
    if protocol == "native":
        call = {"id": "c", "type": "function", "function": {"name": name, "arguments": said}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if protocol == "text":
        return f"Thought: next\nAction: {name}\nAction Input: {said}"
    return json.dumps({"thought": "next", "calls": [{"name": name, "arguments": arguments}]}, ensure_ascii=False)


def agent(folder: Path, protocol: Any, language: str, *, said: int = 0, **options: Any) -> Agent:
    """An agent whose model has already said its first `said` replies."""
    replies = [reply(protocol, language, n) for n in range(said, len(STEPS) + 1)] or [reply(protocol, language, 4)]
    given: dict[str, Any] = {"approver": lambda asked: True, "journal": folder / "runs", **options}
    made = tools(folder, given.pop("point", ""))
    return Agent(ScriptedModel(replies), made, protocol=protocol, audit=folder / "audit.jsonl", verifier=False, **given)


def main() -> None:
    """Kill one child at each point."""
    root, protocol, language, *points = sys.argv[1:]
    for point in points:
        folder = Path(root) / point.replace(":", "-")
        folder.mkdir(parents=True)
        if (child := os.fork()) == 0:
            journal = Killer(folder / "runs" / "r.jsonl", int(point) if point.isdigit() else 10**6)
            agent(folder, protocol, language, journal=journal, point=point).run(QUESTION[language], run_id="r")
            os._exit(3)  # it was not killed
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            sys.exit(f"the child at {point} was not killed")


if __name__ == "__main__":
    main()
