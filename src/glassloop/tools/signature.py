"""A typed function as a tool: its JSON Schema, and the way back from JSON to the values it asks for.

Pydantic is asked once, when the tool is declared: one `TypeAdapter` an argument,
kept for every later call. What the model must not see (a context, `self`, catch-all
parameters) is left out of the schema and put back when the function is called.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typing_extensions

from ..errors import ToolDefinitionError
from .docstrings import read_docstring
from .shape import generator, tidy

if TYPE_CHECKING:
    from pydantic import TypeAdapter

CONTEXT_NAMES = ("Context", "RunContext")
_EMPTY = inspect.Parameter.empty
_UNIONS = (typing.Union, types.UnionType)


class BindError(ValueError):
    """Arguments that fit the JSON Schema and yet have no value of the wanted type; one sentence, for the model."""


@dataclass(frozen=True)
class Argument:
    """One argument that the model fills in. `default` is `inspect.Parameter.empty` when it must be given."""

    name: str
    kind: Any
    adapter: TypeAdapter[Any]
    default: Any


@dataclass(frozen=True)
class Signature:
    """How a function is called: its arguments, the name of its context parameter, and whether `self` comes first."""

    arguments: tuple[Argument, ...]
    parameters: dict[str, Any]
    description: str
    context: str | None = None
    receiver: bool = False

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Turn JSON arguments into the Python values of the signature; what was left out keeps its default.

        Raises:
            BindError: A value has no form of the wanted type, an argument is missing, or one is unknown.
        """
        from pydantic import ValidationError

        known = {a.name for a in self.arguments}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise BindError(f"unknown argument {unknown[0]!r}: the arguments are {', '.join(sorted(known)) or 'none'}")
        values: dict[str, Any] = {}
        for argument in self.arguments:
            if argument.name not in given:
                if argument.default is _EMPTY:
                    raise BindError(f"argument {argument.name!r} is missing")
                continue
            try:
                values[argument.name] = argument.adapter.validate_python(given[argument.name])
            except ValidationError as error:
                raise BindError(_one_sentence(argument.name, error)) from None
        return values

    def arrange(self, values: Mapping[str, Any], context: Any = None) -> tuple[list[Any], dict[str, Any]]:
        """Return positional and keyword arguments for bound `values`, with the context put in by name."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        spread = next((a for a in self.arguments if a.kind is inspect.Parameter.VAR_POSITIONAL), None)
        extra = list(values.get(spread.name, ())) if spread else []
        for argument in self.arguments:
            if argument is spread:
                continue
            by_place = argument.kind is inspect.Parameter.POSITIONAL_ONLY or (
                bool(extra) and argument.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
            )
            if argument.name in values:
                value = values[argument.name]
            elif by_place or argument.default is None:
                value = argument.default
            else:
                continue  # the function's own default
            if by_place:
                positional.append(value)
            else:
                keywords[argument.name] = value
        if self.context:
            keywords[self.context] = context
        return positional + extra, keywords


def read_signature(f: Callable[..., Any], *, tool: str, namespace: Mapping[str, Any] | None = None) -> Signature:
    """Read a function as a tool called `tool`.

    Args:
        f: The function.
        tool: Its name, for errors.
        namespace: Local names that the annotations may use, for functions made inside functions.

    Raises:
        ToolDefinitionError: An argument has no type, or one that JSON cannot carry; the message names it.
    """
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        raise ToolDefinitionError(
            f"Tool {tool!r} has no readable signature: wrap it in a typed function, or use Tool.from_schema."
        ) from None
    receiver = _is_unbound_method(f, parameters)
    context: str | None = None
    arguments: list[Argument] = []
    texts: dict[str, str] = {}
    for parameter in parameters[1:] if receiver else parameters:
        name = parameter.name
        if _is_context(parameter.annotation):
            context = context or _checked_context(parameter, tool)
            continue
        catch_all = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or (catch_all and parameter.annotation is _EMPTY):
            continue
        if parameter.annotation is _EMPTY:
            raise ToolDefinitionError(
                f"Argument {name!r} of tool {tool!r} has no type: write one, for example `{name}: str`, "
                "so that a model can be told what to give."
            )
        annotation = resolve(parameter.annotation, f, tool=tool, argument=name, namespace=namespace)
        arguments.append(_argument(parameter, annotation, tool, texts))
    documentation = read_docstring(inspect.getdoc(f), [a.name for a in arguments])
    schema = _parameters(arguments, {**texts, **documentation.arguments}, tool)
    return Signature(tuple(arguments), schema, documentation.description, context, receiver)


def _is_unbound_method(f: Callable[..., Any], parameters: list[inspect.Parameter]) -> bool:
    if not inspect.isfunction(f) or not parameters or parameters[0].name != "self":
        return False
    return parameters[0].annotation is _EMPTY and "." in f.__qualname__.rpartition("<locals>.")[2]


def _is_context(annotation: Any) -> bool:
    """Whether an annotation is the context, judged by its name, so that any framework's class of that name will do."""
    if isinstance(annotation, str):
        bare = annotation.replace(" ", "").strip("'\"").removesuffix("|None").removeprefix("None|")
        if bare.startswith("Optional[") or bare.startswith("typing.Optional["):
            bare = bare.partition("[")[2]
        return bare.partition("[")[0].strip("]").rpartition(".")[2] in CONTEXT_NAMES
    if isinstance(annotation, typing.ForwardRef):
        return _is_context(annotation.__forward_arg__)
    origin = get_origin(annotation)
    if origin in _UNIONS:
        return any(_is_context(option) for option in get_args(annotation))
    return getattr(origin or annotation, "__name__", "") in CONTEXT_NAMES


def _checked_context(parameter: inspect.Parameter, tool: str) -> str:
    if parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
        return parameter.name
    raise ToolDefinitionError(
        f"The context parameter {parameter.name!r} of tool {tool!r} cannot be given by name: "
        "take away the / or * that stands in the way."
    )


def resolve(
    annotation: Any, f: Callable[..., Any], *, tool: str, argument: str, namespace: Mapping[str, Any] | None = None
) -> Any:
    """Evaluate an annotation that is text, in the function's own module, its closure and `namespace`."""
    if isinstance(annotation, str):
        inner = inspect.unwrap(f)
        inner = getattr(inner, "__func__", inner)
        scope = dict(getattr(inner, "__globals__", {}))
        scope.update(namespace or {})
        code, cells = getattr(inner, "__code__", None), getattr(inner, "__closure__", None) or ()
        for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
            try:
                scope[name] = cell.cell_contents
            except ValueError:  # a name of the enclosing function that has no value yet
                continue
        try:
            annotation = eval(annotation, scope)
        except Exception as error:
            raise ToolDefinitionError(
                f"The type {annotation!r} of argument {argument!r} of tool {tool!r} cannot be read "
                f"({type(error).__name__}: {error}): import it at the top of the module."
            ) from None
    return _modern(annotation)


def _modern(annotation: Any) -> Any:
    """Before Python 3.12 pydantic takes only the TypedDict of typing_extensions: make one of the other kind."""
    if sys.version_info >= (3, 12):
        return annotation
    if _is_old_typed_dict(annotation):
        hints = typing_extensions.get_type_hints(annotation, include_extras=True)
        required: frozenset[str] = annotation.__required_keys__
        fields = {
            key: typing_extensions.Required[_modern(hint)]
            if key in required
            else typing_extensions.NotRequired[_modern(hint)]
            for key, hint in hints.items()
        }
        made = typing_extensions.TypedDict(annotation.__name__, fields)  # type: ignore[operator]
        made.__doc__ = annotation.__doc__
        return made
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if not arguments or origin is typing.Literal:
        return annotation
    if origin is Annotated:
        inner = _modern(arguments[0])
        return annotation if inner is arguments[0] else Annotated[(inner, *arguments[1:])]  # type: ignore[return-value]
    renewed = tuple(_modern(a) for a in arguments)
    if all(new is old for new, old in zip(renewed, arguments, strict=True)):
        return annotation
    if origin in _UNIONS:
        return typing.Union[renewed]  # noqa: UP007  # made at run time
    return origin[renewed]


def _is_old_typed_dict(annotation: Any) -> bool:
    return type(annotation).__name__ == "_TypedDictMeta" and type(annotation).__module__ == "typing"


def _argument(parameter: inspect.Parameter, annotation: Any, tool: str, texts: dict[str, str]) -> Argument:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
    from pydantic.fields import FieldInfo

    name, default = parameter.name, parameter.default
    if get_origin(annotation) is Annotated:
        said = next((m for m in get_args(annotation)[1:] if isinstance(m, str)), None)
        texts.update({name: said} if said else {})
    if isinstance(default, FieldInfo):
        annotation = Annotated[annotation, default]
        required = default.is_required()
        default = _EMPTY if required else default.get_default(call_default_factory=True)
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        annotation, default = list[annotation], ()
    if default is _EMPTY and _takes_none(annotation):
        default = None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    except (PydanticSchemaGenerationError, PydanticUserError, NameError, TypeError) as error:
        reason = str(error).split("\n", 1)[0].split(". Set `arbitrary")[0].rstrip(".")
        raise ToolDefinitionError(
            f"Argument {name!r} of tool {tool!r} has a type that JSON cannot carry ({reason}): "
            "use a plain type, a dataclass, a TypedDict or a pydantic model."
        ) from None
    return Argument(name, parameter.kind, adapter, default)


def _takes_none(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _takes_none(get_args(annotation)[0])
    return annotation is None or (origin in _UNIONS and type(None) in get_args(annotation))


def _parameters(arguments: list[Argument], texts: Mapping[str, str], tool: str) -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        inputs = [(a.name, "validation", a.adapter) for a in arguments]
        found, definitions = TypeAdapter.json_schemas(inputs, schema_generator=generator())  # type: ignore[arg-type]
    except PydanticInvalidForJsonSchema as error:
        reason = str(error).split("\n", 1)[0]
        raise ToolDefinitionError(
            f"An argument of tool {tool!r} has a type without a JSON Schema ({reason}): use a plainer type."
        ) from None
    properties: dict[str, Any] = {}
    for argument in arguments:
        schema = dict(found[(argument.name, "validation")])
        schema.pop("default", None)
        if argument.name in texts:
            schema["description"] = texts[argument.name]
        if argument.default is not _EMPTY and argument.kind is not inspect.Parameter.VAR_POSITIONAL:
            schema.update(_json_default(argument))
        properties[argument.name] = schema
    root: dict[str, Any] = {"type": "object", "properties": properties}
    required = [a.name for a in arguments if a.default is _EMPTY]
    if required:
        root["required"] = required
    return tidy(root, definitions.get("$defs", {}))


def _json_default(argument: Argument) -> dict[str, Any]:
    from pydantic_core import PydanticSerializationError

    if argument.default is None:
        return {"default": None} if _none_allowed(argument) else {}
    try:
        return {"default": argument.adapter.dump_python(argument.default, mode="json", warnings="error")}
    except (PydanticSerializationError, TypeError, ValueError):
        return {}  # a sentinel of the function's own, of no use to a model


def _none_allowed(argument: Argument) -> bool:
    from pydantic import ValidationError

    try:
        argument.adapter.validate_python(None)
    except ValidationError:
        return False
    return True


def _one_sentence(name: str, error: Any) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    path = ".".join([name, *(str(part) for part in first["loc"])])
    return f"argument {path!r}: {first['msg'][:1].lower()}{first['msg'][1:]}, given {first['input']!r:.80}"


def returns_of(f: Callable[..., Any], given: Any, *, tool: str) -> tuple[Any, dict[str, Any] | None]:
    """Return a tool's result type and its JSON Schema: from `returns=`, else from the annotation where it has one.

    Raises:
        ToolDefinitionError: `returns=` was given and JSON cannot carry it.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError

    wanted = given
    if wanted is None:
        wanted = getattr(inspect.unwrap(f), "__annotations__", {}).get("return", _EMPTY)
        try:
            wanted = resolve(wanted, f, tool=tool, argument="return")
        except ToolDefinitionError:
            return None, None
    if wanted is _EMPTY or wanted in (None, type(None), Any, bytes, bytearray, object):
        return None, None
    origin = get_origin(wanted) or wanted
    if getattr(origin, "__name__", "") in ("Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncGenerator"):
        return list, {"type": "array"}
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(_modern(wanted))
        return wanted, tidy(adapter.json_schema(mode="validation", schema_generator=generator()))
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError, NameError, TypeError):
        if given is None:
            return None, None
        raise ToolDefinitionError(
            f"The result type {given!r} of tool {tool!r} has no JSON form: use a plain type, a dataclass or a model."
        ) from None
