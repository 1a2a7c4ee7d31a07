"""Draw a recorded run as the picture in the README: `python docs/make_picture.py JOURNAL [docs/images/run.svg]`.

The picture is what `glassloop ask` shows, drawn by the same `Trace` from the run's own events. Fonts are the
reader's own: the file fetches nothing.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from glassloop.cli.trace import Trace, closing_line
from glassloop.journal.record import read_events
from glassloop.state import State

CALM = TerminalTheme(
    (24, 27, 33),
    (214, 219, 229),
    [
        (24, 27, 33), (235, 111, 117), (126, 200, 140), (229, 192, 123),
        (110, 168, 254), (198, 146, 233), (98, 199, 205), (214, 219, 229),
    ],
    [
        (110, 118, 135), (235, 111, 117), (126, 200, 140), (229, 192, 123),
        (110, 168, 254), (198, 146, 233), (98, 199, 205), (255, 255, 255),
    ],
)  # fmt: skip
TEXT = re.compile(r'(<text [^>]*textLength=")([\d.]+)("[^>]*>)([^<]+)</text>')
FONTS = "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace"


def picture(journal: Path, width: int = 112) -> str:
    """Return the SVG of one run."""
    console = Console(record=True, width=width, highlight=False, force_terminal=True, file=Path("/dev/null").open("w"))
    events = list(read_events(journal))
    state = State(events)
    question = state.started_event.question
    console.print(f'[dim]$[/] glassloop ask "{question}" --tools examples/city_guide.py\n')
    trace = Trace(console)
    for event in events:
        trace.show(event)
    console.print()
    run = state.to_run()
    console.print(closing_line(run) + f" · run {run.id}", style="dim")
    svg = console.export_svg(title="glassloop ask", theme=CALM, unique_id="run")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    return TEXT.sub(_spread, svg).replace("Fira Code, monospace", FONTS)


def _spread(match: re.Match[str]) -> str:
    """Give Chinese characters their two cells: the export counts one for each and squeezes the line."""
    text = html.unescape(match[4])
    return f"{match[1]}{float(match[2]) / len(text) * cell_len(text):g}{match[3]}{match[4]}</text>"


def main(arguments: list[str]) -> None:
    """Write the picture."""
    target = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).parent / "images" / "run.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(picture(Path(arguments[0])), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
