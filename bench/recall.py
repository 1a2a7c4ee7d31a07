"""Recall on question sets with known places, with the default embedder, by two budgets, beside the goals.

Run: python -m bench --recall [FOLDER], or python bench/recall.py [FOLDER]

The folder (by default `../shared/rag` beside the checkout) holds `NAME.docs.jsonl` (`id`, `title`, `text`) and
`NAME.questions.jsonl` (`doc`, `question`, `spans`). A first run computes some 3,000 vectors on all cores, which takes
minutes; they are kept by content and model under the folder for temporary files, so a second one takes seconds. A run
that is stopped goes on where it was. Sets without a goal here are only shown.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from glassloop.knowledge import Document
from glassloop.knowledge.evaluate import Recipe, Score, compare, load_questions
from glassloop.knowledge.reports import Progress

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "rag"
BUDGETS = (2300, 1400)
GOALS = {
    ("zh_drcd", 2300): (0.92, 0.985, 0.99),
    ("zh_drcd", 1400): (0.90, 0.975, 0.985),
    ("en_xquad", 2300): (0.88, 0.97, 0.985),
    ("en_xquad", 1400): (0.80, 0.93, 0.955),
}
WHOLE = 0.99
CACHE = Path(tempfile.gettempdir()) / "glassloop-bench" / "vectors.sqlite"


def measured(folder: Path, name: str) -> list[Score]:
    """One set by both budgets; the documents are cut and embedded once."""
    lines = (folder / f"{name}.docs.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [Document(record["id"], record["text"]) for record in map(json.loads, lines)]
    questions = load_questions(folder / f"{name}.questions.jsonl")
    recipes = [Recipe(f"{name}, {budget:,} characters", budget=budget) for budget in BUDGETS]
    return compare(documents, questions, recipes, vector_cache=CACHE, progress=_Told())


def lines_of(name: str, score: Score, budget: int) -> tuple[list[str], bool]:
    """A recipe's figures beside their goals, and whether all are met."""
    goals = GOALS.get((name, budget), (0.0, 0.0, 0.0))
    figures = [(f"hit@{k}", score.hit[k], goal) for k, goal in zip((1, 3, 5), goals, strict=True)]
    figures.append(("answer whole", score.whole, WHOLE))
    printed: list[str] = []
    for what, value, goal in figures:
        wanted = f"goal {goal:.3f}" if goal else ""
        printed.append(f"{_mark(value >= goal)} {score.recipe + ', ' + what:<48} {value:>8.3f}   {wanted}".rstrip())
    fits = score.characters <= budget
    what = f"{score.recipe}, characters at 5"
    printed.append(f"{_mark(fits)} {what:<48} {score.characters:>8,.0f}   goal {budget:,}")
    return printed, fits and all(value >= goal for _, value, goal in figures)


def _mark(met: bool) -> str:
    return "ok  " if met else "MISS"


class _Told:
    """Shows on a terminal how far the vectors are."""

    def __init__(self) -> None:
        self._shown = 0.0

    def __call__(self, progress: Progress) -> None:
        if sys.stderr.isatty() and progress.stage == "vectors" and time.monotonic() - self._shown > 1:
            self._shown = time.monotonic()
            print(f"\rvectors {progress.done:,} of {progress.total:,} ", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Measure every set of the folder and print; 1 if a figure is missed, 2 without sets."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    names = sorted(file.name.removesuffix(".docs.jsonl") for file in folder.glob("*.docs.jsonl"))
    if not names:
        print(f"There is no *.docs.jsonl in {folder}: name the folder of the question sets.")
        return 2
    good = True
    for name in names:
        begun = time.perf_counter()
        for score, budget in zip(measured(folder, name), BUDGETS, strict=True):
            printed, met = lines_of(name, score, budget)
            print("\n".join(printed), flush=True)
            good = good and met
        print(f"     {name}, {score.questions} questions, {score.passages:,} passages"
              f"   {time.perf_counter() - begun:.0f} s, {score.milliseconds:.1f} ms a search", flush=True)  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
