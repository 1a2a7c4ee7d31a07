"""Tools from a file or module named on the command line.

A file that does not import is the user's to mend, so its own error comes first:
file, line and what Python said, on one line.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ..errors import ConfigurationError
from .definition import Tool, as_tool
from .wirenames import check_names

LISTS = ("TOOLS", "ALL_TOOLS")


def load_tools(spec: str) -> list[Tool]:
    """Load the tools of `file.py`, `package.module`, or either with `:name1,name2` after it.

    Without names these are, in order of preference: the list `TOOLS` or `ALL_TOOLS`, the
    `Tool` objects of the module, and its public documented functions.

    Raises:
        ConfigurationError: There is no such file or name, it does not import, or it holds no tool.
    """
    where, names = _split(spec)
    module = _import_file(Path(where).expanduser()) if _is_path(where) else _import_module(where)
    found = [_named(module, name, spec) for name in names] if names else _all(module)
    if not found:
        raise ConfigurationError(
            f"{where} holds no tools: use @tool, list functions in TOOLS, or give them a docstring."
        )
    tools = [as_tool(each) for each in found]
    check_names(tools)
    return tools


def _split(spec: str) -> tuple[str, list[str]]:
    head, colon, tail = spec.rpartition(":")
    if colon and head and re.fullmatch(r"\s*\w+(\s*,\s*\w+)*\s*", tail) and not Path(spec).exists():
        return head, [name.strip() for name in tail.split(",")]
    return spec, []


def _is_path(where: str) -> bool:
    return where.endswith(".py") or "/" in where or "\\" in where or Path(where).is_file()


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        beside = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, beside, 1)
        hint = f"did you mean {path.parent / near[0]}?" if near else "give the path of a Python file."
        raise ConfigurationError(f"There is no tool file {path}: {hint}")
    full = path.resolve()
    name = f"glassloop_tools_{full.stem}_{hashlib.sha256(str(full).encode()).hexdigest()[:8]}"
    loader = importlib.util.spec_from_file_location(name, full)
    if loader is None or loader.loader is None:
        raise ConfigurationError(f"{path} is not a Python file: give a file that ends in .py.")
    module = importlib.util.module_from_spec(loader)
    sys.modules[name] = module  # dataclasses and pydantic look their module up by name
    folder = str(full.parent)
    sys.path.insert(0, folder)  # what the file could import when it was run as a script
    try:
        loader.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _broken(path, full, error) from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _import_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(missing + "."):
            raise ConfigurationError(
                f"There is no module {name!r} to take tools from: give a file like tools.py or an installed module."
            ) from None
        raise _broken(Path(name), None, error) from error
    except (Exception, SystemExit) as error:
        raise _broken(Path(name), None, error) from error
    finally:
        if added and here in sys.path:
            sys.path.remove(here)


def _broken(shown: Path, full: Path | None, error: BaseException) -> ConfigurationError:
    said = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")
    where = str(shown)
    if isinstance(error, SyntaxError) and error.lineno:
        inside = full is None or error.filename in (None, str(full))
        where = f"{shown if inside else error.filename}, line {error.lineno}"
        said = f"{type(error).__name__}: {error.msg}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if full is not None and Path(f.filename) == full]
        if own:
            where = f"{shown}, line {own[-1].lineno}"
    return ConfigurationError(f"{where}: {said}\nThe tools could not be loaded: mend the file and try again.")


def _named(module: ModuleType, name: str, spec: str) -> Any:
    if not hasattr(module, name):
        public = [n for n in vars(module) if not n.startswith("_")]
        near = difflib.get_close_matches(name, public, 1)
        hint = f"did you mean {near[0]}?" if near else "check the name."
        raise ConfigurationError(f"There is no {name} in {spec.rpartition(':')[0]}: {hint}")
    return getattr(module, name)


def _all(module: ModuleType) -> list[Any]:
    for name in LISTS:
        listed = getattr(module, name, None)
        if isinstance(listed, (list, tuple)):
            return list(cast("Iterable[Any]", listed))
    public = [value for name, value in vars(module).items() if not name.startswith("_")]
    declared: list[Any] = []
    for value in public:
        if isinstance(value, Tool) and not any(value is other for other in declared):
            declared.append(value)
    if declared:
        return declared
    return [
        f for f in public if inspect.isfunction(f) and f.__module__ == module.__name__ and (f.__doc__ or "").strip()
    ]
