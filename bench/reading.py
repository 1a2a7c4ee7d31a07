"""How long understanding a reply takes: median microseconds for 2 KB replies, and seconds for 1 MB of the worst.

Run with `python bench/reading.py [--quick]`; quick takes a tenth of the megabyte.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from glassloop import read

TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["city"],
        },
    }
    for name in ("forecast", "timetable", "note_down", "distance", "translate", "stock_level")
]
FILLER = "The harbour office lists the crossings of the week, with times and prices for each of them. " * 24
ARGUMENTS = json.dumps({"city": "Bergen", "days": 3, "note": FILLER[:1700]})
SMALL = {
    "text: call": (
        "text",
        f"Thought: I need the forecast because it was asked for.\nAction: forecast\nAction Input: {ARGUMENTS}",
    ),
    "text: answer": ("text", f"Thought: This is enough.\nFinal Answer: {FILLER[:1900]}"),
    "text: no label": ("text", FILLER[:2000]),
    "native: structured": (
        "native",
        {"content": None, "tool_calls": [{"id": "a", "function": {"name": "forecast", "arguments": ARGUMENTS}}]},
    ),
    "native: tagged": (
        "native",
        f'I will look.\n<tool_call>{{"name": "forecast", "arguments": {ARGUMENTS}}}</tool_call>',
    ),
    "native: fenced": ("native", f'```json\n{{"name": "forecast", "arguments": {ARGUMENTS}}}\n```'),
    "native: answer": ("native", FILLER[:2000]),
    "constrained: call": (
        "constrained",
        f'{{"thought": "The forecast is missing.", "calls": [{{"name": "forecast", "arguments": {ARGUMENTS}}}]}}',
    ),
    "constrained: answer": ("constrained", json.dumps({"thought": "Enough.", "answer": FILLER[:1900]})),
}
MEGABYTE = 1_000_000
UNITS = (
    "{",
    "}",
    "[",
    "{}",
    "[{",
    '"',
    "'",
    '{"',
    '{"a":',
    '{"name": "forecast", ',
    '{"name": "forecast"}',
    "\\",
    '"\\',
    "`",
    "```\n",
    "```json\n{",
    "Action: ",
    "Action: forecast\n",
    "Action Input: {\n",
    "Observation: x\n",
    "Final Answer: ",
    "Thought: x\n",
    "思考：",
    "行动：forecast\n",
    "<think>",
    "</think>",
    "<think></think>",
    "<tool_call>",
    "<tool_call>{",
    "</tool_call>",
    "<function=forecast>",
    "<parameter=city>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "forecast(",
    "forecast[",
    "(",
    ",",
    "\n",
    " ",
    "*",
    "*\n",
    "1. ",
    "<",
    "“",
    "｛",
    "a=",
    "#",
    "//",
    "/*",
    "x",
    "中",
    "<arg_key>",
    '<|"|>',
    "functools[",
    "“query”：",
    "<|im_end|>",
    "\u3000",
)


def main() -> int:
    """Measure and print; fail when a figure misses its goal."""
    late = 0
    print(f"{'2 KB reply':<24}{'median µs':>12}")
    for name, (protocol, reply) in SMALL.items():
        times = []
        for _ in range(400):
            start = time.perf_counter()
            read(reply, TOOLS, protocol)
            times.append(time.perf_counter() - start)
        median = statistics.median(times) * 1e6
        late += median > 200
        print(f"{name:<24}{median:>12.0f}")
    size = MEGABYTE // 10 if "--quick" in sys.argv else MEGABYTE
    print(f"\n{f'{size / 1e6:g} MB reply':<24}{'worst s':>12}")
    for unit in UNITS:
        text = unit * (size // len(unit))
        worst = ("", 0.0)
        for protocol in ("text", "native", "constrained"):
            for head in ("", "Action: forecast\nAction Input: {", '{"name": "forecast", "arguments": {"city": "'):
                start = time.perf_counter()
                read(head + text, TOOLS, protocol)
                worst = max(worst, (f"{protocol} after {head[:12]!r}", time.perf_counter() - start), key=lambda w: w[1])
        late += worst[1] > 1
        print(f"{unit!r:<24}{worst[1]:>12.2f}  {worst[0] if worst[1] > 0.5 else ''}", flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
