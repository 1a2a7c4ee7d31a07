"""Promise 9: core imports stay light.

`import glassloop` loads no model, no numpy and no server, prints nothing, opens no connection and no file for
writing. Making an agent and running it with a scripted model loads none of the heavy packages either. How long the
import takes is measured by `bench/costs.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

HEAVY = ("numpy", "openai", "ollama", "xllamacpp", "rich", "pydantic", "httpx", "httpx2", "click", "mcp", "pandas")

WATCH = """
import json, sys
touched = []
def watch(event, args):
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        touched.append(["open", str(args[0])])
    elif event.startswith(("socket.connect", "socket.bind", "os.mkdir", "subprocess", "os.system")):
        touched.append([event, str(args)])
sys.dont_write_bytecode = True
sys.addaudithook(watch)
import glassloop
"""
REPORT = """
print(json.dumps({"modules": sorted(m.partition(".")[0] for m in sys.modules), "touched": touched}))
"""
RUN = """
from glassloop import Agent, ScriptedModel
assert Agent(ScriptedModel(['{"thought":"t","answer":"Hello."}']), journal=False).run("Say hello.").ok
"""


def imported(more: str = "") -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", WATCH + more + REPORT], capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout.count("\n") == 1, "something was printed"
    return json.loads(done.stdout)


def test_loads_nothing_heavy_and_touches_nothing() -> None:
    found = imported()
    assert not set(HEAVY) & set(found["modules"])
    assert found["touched"] == []


def test_a_run_with_a_scripted_model_loads_no_server_and_no_numbers() -> None:
    assert not {"numpy", "openai", "ollama", "xllamacpp", "rich", "click", "mcp", "pandas"} & set(
        imported(RUN)["modules"]
    )
