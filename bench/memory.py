"""What the memory costs a step and what it saves: `python bench/memory.py`, without a model or a network."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "doubles"))

from conversation import play

from glassloop.memory import SessionStore, WindowMemory, prepare_messages

OBSERVATIONS = {
    "en": lambda step: f"Part {step}: " + "the tide gauge was read again at noon and the value agreed " * 69,
    "zh": lambda step: f"第{step}部分：" + "潮位正常读数一致风向转北水势渐涨" * 84,
}


def main() -> None:
    """Print a table: steps, largest prompt, share from the prefix, compactions, milliseconds a step."""
    print(f"{'':4}{'profile':10}{'largest':>9}{'prefix':>9}{'compacted':>11}{'ms/step':>9}")
    for language, observe in OBSERVATIONS.items():
        for profile in ("openai", "mistral", "gemma"):
            begun = time.perf_counter()
            played = play(
                WindowMemory(6144), 200, observe, system="You help. " * 60, language=language, profile=profile
            )
            each = (time.perf_counter() - begun) / 200 * 1000
            row = f"{language:4}{profile:10}{max(played.sizes):>9,}{played.hit_rate:>9.1%}"
            print(f"{row}{len(played.compactions):>11}{each:>9.2f}")
    turn = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    print(f"prepare_messages, 400 messages: {_median(lambda: prepare_messages(turn * 200, 'mistral')):.2f} ms")
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(Path(folder) / "sessions.db")
        print(f"one turn of a session written:  {_median(lambda: store.add('bench', 'q', 'a' * 500)):.2f} ms")
        for number in range(1000):
            store.add_note("bench", f"Note {number} about harbour {number % 37}. 备注{number}：港口潮位。")
        print(f"recall among 1,000 notes:       {_median(lambda: store.find_notes('bench', '港口 harbour 36')):.2f} ms")


def _median(work: object) -> float:
    times: list[float] = []
    for _ in range(20):
        begun = time.perf_counter()
        work()  # type: ignore[operator]
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    main()
