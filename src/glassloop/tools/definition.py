"""The `Tool`: what every way of declaring one ends in.

A `Tool` owes three things: the declaration a model reads, the way from JSON
arguments to the values its function asks for, and one asynchronous way to run it.
What happens between a model's wish and that run (casting, permission, time-outs,
cleaning) is the executor's.
"""

from __future__ import annotations

import copy
import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from ..errors import ToolDefinitionError
from ..types import Declaration, Risk
from .shape import generator, tidy
from .signature import BindError, Signature, read_signature, returns_of
from .threads import collect, collect_async, run_in_thread, tame
from .wirenames import wire_name

Provenance = Literal["note", "correct", "refuse"]
_POLICY: dict[Risk, Provenance] = {"read": "note", "write": "correct", "destructive": "refuse"}
SHORTEST_LIMIT = 100


@dataclass(frozen=True)
class Context:
    """What a tool may know of the run it is called in: annotate a parameter with it, and the model never sees it."""

    run_id: str = ""
    call_id: str = ""
    question: str = ""
    step: int = 0
    language: str = "en"


@dataclass(frozen=True, eq=False)
class Tool:
    """A function a model may call, and how. Still callable like the function itself.

    Attributes:
        declaration: What a model is told: wire name, description, JSON Schema of the arguments, risk.
        call: The function.
        original_name: The name its author gave; differs from `name` where a server would refuse it.
        timeout: Seconds it may take; None or 0 means no limit.
        retries: How often a failed call is tried again; only for read or idempotent tools.
        returns: The Python type of the result, if declared.
        returns_schema: Its JSON Schema.
        parallel: Whether two calls may run at once.
        idempotent: Whether a second identical call changes nothing more.
        limit: Most characters of its observation.
        keep: Names of result fields that are never dropped.
        drop: Names of result fields that the model never sees.
        provenance: What to do with invented arguments; None means by risk.
        preview: Says in words what a call will do, from its final arguments; shown when asking for approval.
        repeatable: Whether an identical call is run again; None leaves it to the executor.
        return_direct: Whether a good result is the answer.
        risk_stated: Whether its author said what the risk is; lint asks where a name sounds risky and nobody did.
        source: File and first line of the function, for messages.
    """

    declaration: Declaration
    call: Callable[..., Any] = field(repr=False)
    original_name: str = ""
    timeout: float | None = 30.0
    retries: int = 0
    returns: Any = field(default=None, repr=False)
    returns_schema: dict[str, Any] | None = field(default=None, repr=False)
    parallel: bool = True
    idempotent: bool = False
    limit: int = 1000
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    provenance: Provenance | None = None
    preview: Callable[..., Any] | None = field(default=None, repr=False)
    repeatable: bool | None = None
    return_direct: bool = False
    risk_stated: bool = False
    source: tuple[str, int] | None = None
    _signature: Signature | None = field(default=None, repr=False)
    _model: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _check_options(self)
        functools.update_wrapper(cast("Any", _Writable(self)), self.call)

    # -- what a model is told ------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name on the wire, valid on every server."""
        return self.declaration.name

    @property
    def description(self) -> str:
        """What the model is told the tool is for."""
        return self.declaration.description

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return self.declaration.parameters

    @property
    def risk(self) -> Risk:
        """`read`, `write` or `destructive`; as declared, never guessed from the name."""
        return self.declaration.risk

    @property
    def provenance_policy(self) -> Provenance:
        """What to do with arguments that come from nowhere: as declared, else by risk."""
        return self.provenance or _POLICY[self.risk]

    @property
    def where(self) -> str:
        """Where the tool is written, for messages: `file.py:12`."""
        return f"{Path(self.source[0]).name}:{self.source[1]}" if self.source else self.original_name

    def changed(self, **options: Any) -> Tool:
        """Return the same tool with other options: `tool.changed(risk="write", timeout=5)`.

        Raises:
            ToolDefinitionError: There is no such option, or its value makes no sense.
        """
        if not options:
            return self
        told = {k: options.pop(k) for k in ("description", "risk") if k in options}
        options["risk_stated"] = self.risk_stated or "risk" in told
        name = options.pop("name", None)
        strict = options.pop("strict_name", True)
        if name is not None:
            told["name"], options["original_name"] = wire_name(name, strict=strict), name
        _known_options(self.original_name, options)
        return replace(self, declaration=replace(self.declaration, **told), **_plain_options(options))

    # -- running it ----------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as if it were undecorated."""
        return self.call(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Tool:
        """Bind a method that was decorated in its class body to its object."""
        if instance is None or self._signature is None or not self._signature.receiver:
            return self
        return replace(self, call=functools.partial(self.call, instance))

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Turn validated JSON arguments into the Python values the function asks for.

        Raises:
            BindError: A value fits the schema and still has no such form (the 31st of February).
        """
        if self._signature is not None:
            return self._signature.bind(arguments)
        if self._model is not None:
            return {self._model.__name__: _validated(self._model, arguments)}
        return copy.deepcopy(dict(arguments))

    async def invoke(self, arguments: Mapping[str, Any], context: Any = None) -> Any:
        """Bind the arguments and run the tool; whatever it raises comes out as an `Exception`.

        A synchronous function runs in a daemon thread of its own and is left behind when
        this coroutine is cancelled; a generator comes back as a list of bounded length.
        """
        values = self.bind(arguments)
        if self._signature is not None:
            given, named = self._signature.arrange(values, Context() if context is None else context)
        elif self._model is not None:
            given, named = list(values.values()), {}
        else:
            given, named = [], values
        work = functools.partial(self.call, *given, **named)
        try:
            if _is_async(self.call):
                result = work()
            else:
                result = await run_in_thread(lambda: collect(work()), name=self.name)
            if inspect.isasyncgen(result):
                return await collect_async(result)
            return await result if inspect.isawaitable(result) else result
        except (SystemExit, GeneratorExit, StopIteration, StopAsyncIteration) as error:
            raise tame(error) from error

    async def describe(self, arguments: Mapping[str, Any]) -> str:
        """Say what a call would do, in the words of the tool's `preview`; empty when it has none.

        A preview that fails says so: whoever is asked for approval must not take silence for a description.
        """
        if self.preview is None:
            return ""
        try:
            values = self.bind(arguments)
            given, named = self._signature.arrange(values, Context()) if self._signature else ([], values)
            if self._signature and self._signature.context:
                named.pop(self._signature.context, None)
            work = functools.partial(self.preview, *given, **named)
            said = work() if _is_async(self.preview) else await run_in_thread(work, name=f"{self.name}-preview")
            return str(await said if inspect.isawaitable(said) else said)
        except Exception as error:
            return f"(the preview failed: {type(error).__name__}: {error})"

    # -- other ways to declare one ---------------------------------------------------------

    @classmethod
    def from_function(cls, f: Callable[..., Any], **options: Any) -> Tool:
        """Declare a typed function; `options` are those of `tool`.

        Raises:
            ToolDefinitionError: An argument has no type, or an option makes no sense.
        """
        return from_function(f, {}, **options)

    @classmethod
    def from_schema(
        cls, name: str, description: str, parameters: Mapping[str, Any], call: Callable[..., Any], **options: Any
    ) -> Tool:
        """Declare a callable by a JSON Schema of its arguments, in the form of the chat-completions API.

        The schema is taken as it is; `call` gets the arguments by name, as plain JSON values.
        """
        schema = copy.deepcopy(dict(parameters)) or {"type": "object"}
        if schema.setdefault("type", "object") != "object":
            raise ToolDefinitionError(
                f"The parameters of tool {name!r} are of type {schema['type']!r}: make them an object with properties."
            )
        schema.setdefault("properties", {})
        return _build(name, description, schema, call, call, **options)

    @classmethod
    def from_openai(cls, spec: Mapping[str, Any], call: Callable[..., Any], **options: Any) -> Tool:
        """Declare a callable by a whole chat-completions tool, `{"type": "function", "function": {…}}`."""
        function: Mapping[str, Any] = spec.get("function", spec)
        if not isinstance(function.get("name"), str):
            raise ToolDefinitionError("A tool in OpenAI form has no name: it needs function.name.")
        parameters = cast("Mapping[str, Any]", function.get("parameters") or {})
        return cls.from_schema(function["name"], function.get("description") or "", parameters, call, **options)

    @classmethod
    def from_model(cls, model: type[Any], call: Callable[..., Any], **options: Any) -> Tool:
        """Declare a callable that takes one object of a pydantic model; the model's fields are the arguments."""
        name = options.pop("name", None) or model.__name__
        description = options.pop("description", None) or inspect.cleandoc(model.__doc__ or "")
        schema = tidy(model.model_json_schema(mode="validation", schema_generator=generator()))
        schema.pop("description", None)
        schema.setdefault("properties", {})
        return _build(name, description, schema, call, call, _model=model, **options)


class _Writable:
    """Lets `functools.update_wrapper` put `__name__`, `__doc__` and `__wrapped__` on a frozen object."""

    def __init__(self, frozen: Any) -> None:
        object.__setattr__(self, "_frozen", frozen)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(object.__getattribute__(self, "_frozen"), name, value)

    def __getattribute__(self, name: str) -> Any:
        frozen = object.__getattribute__(self, "_frozen")
        return {} if name == "__dict__" else getattr(frozen, name)  # no attribute of the function overwrites a field


def as_tool(obj: Any, **options: Any) -> Tool:
    """Take a tool as it is, or declare a plain function with `options`.

    Raises:
        ToolDefinitionError: The object is neither, or the function cannot be declared.
    """
    if isinstance(obj, Tool):
        return obj.changed(**options)
    if isinstance(obj, Mapping):
        raise ToolDefinitionError("A tool schema alone cannot be run: use Tool.from_openai(schema, call=…).")
    if inspect.isclass(obj) and hasattr(obj, "model_json_schema"):
        raise ToolDefinitionError(f"The model {obj.__name__} alone cannot be run: use Tool.from_model(model, call=…).")
    if not callable(obj):
        raise ToolDefinitionError(
            f"{obj!r:.80} is not a tool: hand over a typed function, an object made by @tool, or a Tool."
        )
    return from_function(obj, {}, **options)


def from_function(f: Callable[..., Any], namespace: Mapping[str, Any], **options: Any) -> Tool:
    """Declare a typed function whose annotations may use the names of `namespace`; see `Tool.from_function`."""
    if isinstance(f, Tool):
        return f.changed(**options)
    if isinstance(f, (staticmethod, classmethod)):
        raise ToolDefinitionError("Put @tool beneath @staticmethod or @classmethod, next to the function.")
    name = options.pop("name", None)
    if name is None:
        inner = cast("functools.partial[Any]", f).func if isinstance(f, functools.partial) else f
        name = getattr(inner, "__name__", type(inner).__name__)
        if name == "<lambda>":
            raise ToolDefinitionError("A lambda has no name and no types: write a function with def.")
    plain = inspect.isroutine(cast("Any", f)) or isinstance(f, functools.partial)
    described: Callable[..., Any] = cast("Any", f) if plain else f.__call__
    signature = read_signature(described, tool=name, namespace=namespace)
    description = options.pop("description", None)
    if description is None:
        description = signature.description
    return _build(name, description, signature.parameters, cast("Any", f), described, _signature=signature, **options)


def _build(
    name: str, description: str, parameters: dict[str, Any], call: Callable[..., Any], written: Any, **options: Any
) -> Tool:
    options["risk_stated"] = "risk" in options
    risk = options.pop("risk", "read")
    wire = wire_name(name, strict=options.pop("strict_name", True))
    if wire != name and not any(part in description for part in (name, wire)) and not name.isascii():
        description = f"{name}: {description}" if description else name  # the wire name no longer tells
    _known_options(name, options)
    given = options.pop("returns", None)
    options["returns"], options["returns_schema"] = returns_of(written, given, tool=name)
    declaration = Declaration(wire, description, parameters, risk)
    return Tool(declaration, call, original_name=name, source=_source(written), **_plain_options(options))


def _known_options(name: str, options: Mapping[str, Any]) -> None:
    known = [k for k in Tool.__dataclass_fields__ if k not in ("declaration", "call", "source")]
    for option in options:
        if option not in known:
            close = difflib.get_close_matches(option, [*known, "name", "description", "risk", "strict_name"], 1)
            hint = f"did you mean {close[0]!r}?" if close else "see the documentation of tool."
            raise ToolDefinitionError(f"Tool {name!r} has no option {option!r}: {hint}")


def _plain_options(options: dict[str, Any]) -> dict[str, Any]:
    """Write options in one way: 0 seconds mean no limit, one field name is a tuple of one."""
    plain = dict(options)
    if plain.get("timeout") == 0:
        plain["timeout"] = None
    for option in {"keep", "drop"} & set(plain):
        value = plain[option]
        plain[option] = (value,) if isinstance(value, str) else tuple(value)
    return plain


def _check_options(made: Tool) -> None:
    name = made.original_name or made.name
    if made.risk not in get_args(Risk):
        raise ToolDefinitionError(f"Tool {name!r} has risk {made.risk!r}: it is one of {', '.join(get_args(Risk))}.")
    if made.provenance is not None and made.provenance not in get_args(Provenance):
        allowed = ", ".join(get_args(Provenance))
        raise ToolDefinitionError(f"Tool {name!r} has provenance {made.provenance!r}: it is one of {allowed}.")
    if made.timeout is not None and not made.timeout >= 0:
        raise ToolDefinitionError(f"Tool {name!r} has timeout {made.timeout!r}: give seconds, or None for no limit.")
    if made.retries < 0:
        raise ToolDefinitionError(f"Tool {name!r} has retries {made.retries!r}: give 0 or more.")
    if made.retries and made.risk != "read" and not made.idempotent:
        raise ToolDefinitionError(
            f"Tool {name!r} writes and would be retried: a write happens at most once. "
            "Say idempotent=True if a second call changes nothing more, or take retries away."
        )
    if made.limit < SHORTEST_LIMIT:
        raise ToolDefinitionError(
            f"Tool {name!r} has limit {made.limit!r}: an observation needs at least {SHORTEST_LIMIT} characters."
        )


def _validated(model: Any, arguments: Mapping[str, Any]) -> Any:
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise BindError(f"argument {path!r}: {first['msg']}") from None


def _is_async(f: Callable[..., Any]) -> bool:
    inner = f.func if isinstance(f, functools.partial) else f
    inner = inner if inspect.isroutine(inner) else getattr(inner, "__call__", inner)  # noqa: B004
    return inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner)


def _source(f: Callable[..., Any]) -> tuple[str, int] | None:
    inner = inspect.unwrap(f)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else None
