"""How a function becomes a tool: `@tool`, and the names that belong to declaring.

The decorator reads nothing but the signature and the docstring. What a tool may do
to the world is not guessed from its name: the risk is `read` unless it is said, and
`glassloop lint` points at names that sound otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, overload

from ..types import Risk
from .definition import BindError, Context, Provenance, Tool, as_tool, from_function
from .load import load_tools
from .wirenames import check_names, wire_name

__all__ = ["BindError", "Context", "Tool", "as_tool", "check_names", "load_tools", "tool", "wire_name"]


@overload
def tool(f: Callable[..., Any], /, **options: Any) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    risk: Risk = "read",
    timeout: float | None = 30.0,
    retries: int = 0,
    returns: Any = None,
    parallel: bool = True,
    idempotent: bool = False,
    limit: int = 1000,
    keep: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
    provenance: Provenance | None = None,
    preview: Callable[..., Any] | None = None,
    repeatable: bool | None = None,
    return_direct: bool = False,
    strict_name: bool = True,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(f: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Declare a typed function as a tool, with or without options.

    The JSON Schema comes from the signature, the description and the argument texts from
    the docstring. The options are the attributes of `Tool`; `strict_name=False` keeps a
    name in any script, for servers that take it.

    Raises:
        ToolDefinitionError: An argument has no type, or an option makes no sense.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # annotations may use the caller's local names
    namespace = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
    if f is not None:
        return from_function(f, namespace, **options)

    def declare(g: Callable[..., Any]) -> Tool:
        return from_function(g, namespace, **options)

    return declare
