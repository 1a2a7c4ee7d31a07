"""Casting an object: its members one by one, names nobody declared, words for nothing, and defaults.

Owes: a call never runs on less than the model meant to say. A name that is clearly a
misspelt one is corrected, others are dropped and noted, and when every name that was
given is unknown, that is a problem and not a call with defaults.
"""

from __future__ import annotations

import copy
import difflib
import threading
from typing import TYPE_CHECKING, Any, cast

from . import scalars
from .checks import Findings, quietly
from .outline import Schema, names, schema_map
from .patterns import Matcher, matcher
from .problems import join
from .trail import Trail
from .wording import problem, say

if TYPE_CHECKING:
    from .casting import Casting

_FILLING = threading.RLock()
"""Defaults are completed once, by one thread; the lock lets the same thread in again, to find cycles."""

_BUSY: Any = object()
_NONE: Any = object()
_WRAPPING = frozenset({"value", "type", "description", "title", "name"})


class EndlessDefault(Exception):
    """A default that would fill itself for ever; it is not filled at all."""


class Members:
    """The cast of the members of one object schema.

    Attributes:
        known: Every name any schema for the same object speaks of.
        certain: Those that do not depend on which branch is taken.
        open: Whether names nobody declared are let in.
        open_outside: Whether the schemas around this one let them in.
    """

    def __init__(self, casting: Casting, schema: Schema, around: tuple[frozenset[str], bool], *, at_root: bool) -> None:
        self.casting = casting
        self.schema = schema
        shapes = casting.shapes
        self.known = shapes.known(schema) | around[0]
        self.certain = shapes.known(schema, branches=False) | around[0]
        self.open_outside = around[1]
        self.open = around[1] or casting.result or (shapes.is_open(schema, at_root=at_root) and not around[0])
        props = schema_map(schema.get("properties"))
        self.props = {n: casting.caster_of(s) for n, s in props.items()}
        self.schemas = props
        self.required = frozenset(
            n for one in shapes.in_place(schema, branches=False) for n in names(one.get("required"))
        )
        self.single = frozenset(n for n, s in props.items() if not shapes.kinds(s) & {"object"})
        self.patterns: list[tuple[Matcher, Any]] = [
            (found, casting.caster_of(s))
            for p, s in schema_map(schema.get("patternProperties")).items()
            if (found := matcher(p)) is not None
        ]
        extra = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        self.extra = casting.caster_of(extra) if isinstance(extra, dict) else None
        self.defaults = {} if casting.result else self._declared_defaults(props)

    def cast(self, value: dict[Any, Any], path: str, trail: Trail) -> dict[str, Any]:
        """Cast an object's members."""
        out: dict[str, Any] = {}
        unknown: list[str] = []
        begun = len(trail.repairs)
        for key, item in value.items():
            if type(key) is not str:
                key = trail.mended("text", path, key, str(key))
            caster = self.props.get(key)
            if caster is not None:
                self._member(key, item, caster, path, trail, out)
            elif key in self.known:
                out[key] = item
            elif self.open or any(found(key) for found, _ in self.patterns):
                out[key] = self._further(key, item, join(path, key), trail)
            else:
                unknown.append(key)
                out[key] = item
        if unknown and not self._strangers(unknown, path, trail, out):
            del trail.repairs[begun:]  # only words for nothing were left out; told as it was given
            return value
        if self.defaults and not trail.problems:
            for name in self.defaults:
                if name not in out and (filled := self._filled(name)) is not _NONE:
                    out[name] = copy.deepcopy(filled)
        return out

    def _member(self, key: str, item: Any, caster: Any, path: str, trail: Trail, out: dict[str, Any]) -> None:
        where = f"{path}.{key}" if path else key
        if type(item) is dict and key in self.single and not self.casting.result:
            item = self._unwrapped(key, cast("Schema", item), where, trail)
        new = caster(item, where, trail)
        if (
            (new is None or (new.__class__ is str and len(new) < 20))
            and key not in self.required
            and not self.casting.result
            and scalars.nullish(new)
            and not self.casting.validation.fits(self.schemas[key], new, trail.found)
        ):
            trail.mended("null", where, item, None)
            return
        out[key] = new

    def _unwrapped(self, key: str, item: Schema, where: str, trail: Trail) -> Any:
        """Open `{"value": x}` and `{"city": x}` under `city` where a single value is wanted."""
        inner = item.get("value", item.get(key) if len(item) == 1 else None)
        if inner is None or not (item.keys() <= _WRAPPING or len(item) == 1):
            return item
        good = self.casting.tried(self.schemas[key], inner, where, trail)[2]
        return trail.mended("unwrapped", where, item, inner) if good else item

    def _further(self, key: str, item: Any, where: str, trail: Trail) -> Any:
        matched = [caster for found, caster in self.patterns if found(key)]
        if not matched and self.extra is not None:
            matched = [self.extra]
        for caster in matched:
            item = caster(item, where, trail)
        return item

    # -- names nobody declared ------------------------------------------------------------

    def _strangers(self, unknown: list[str], path: str, trail: Trail, out: dict[str, Any]) -> bool:
        """Rename or drop the unknown names; False when nothing else was given, which is a problem."""
        lonely = bool(self.known) and len(unknown) == len(out)
        targets = {key: self._meant(key) for key in unknown}
        left: list[str] = []
        for key in unknown:
            name, exact = targets[key]
            wanted_once = sum(t[0] == name for t in targets.values()) == 1
            if not (name and name not in out and wanted_once and self._renamed(key, name, exact, path, trail, out)):
                left.append(key)
        if lonely and len(left) == len(unknown):
            for key in left:
                near = self._nearest(key)
                trail.problems.append(problem(join(path, key), out[key], "unknown", self._names(), near))
            return False
        for key in left:
            trail.mended("dropped", join(path, key), out.pop(key), None)
            near = self._nearest(key)
            if near:
                trail.notes.append(
                    f"{join(path, key)} is not known and was left out. {say('hint_near', 'en', names=near[0])}"
                )
        if left:
            trail.strangers[path] = tuple(left)
        return True

    def _names(self) -> list[str]:
        declared = list(self.schemas)
        return declared + sorted(self.known.difference(declared))

    def _meant(self, key: str) -> tuple[str, bool]:
        """The one declared name a key stands for, and whether it differs in nothing but how it is written."""
        word = scalars.folded(key).replace("_", "")
        alike = [n for n in self.known if scalars.folded(n).replace("_", "") == word]
        if alike:
            return (alike[0], True) if len(alike) == 1 else ("", False)
        close = [n for n in self.known if scalars.near(key, n)]
        return (close[0], False) if len(close) == 1 else ("", False)

    def _nearest(self, key: str) -> tuple[str, ...]:
        name = self._meant(key)[0]
        return (name,) if name else tuple(difflib.get_close_matches(key[:80], self._names(), n=1, cutoff=0.7))

    def _renamed(self, key: str, name: str, exact: bool, path: str, trail: Trail, out: dict[str, Any]) -> bool:
        schema = self._schema_of(name)
        outcome, fork, good = self.casting.tried(schema, out[key], join(path, name), trail)
        if not good:
            return False
        trail.mended("rename" if exact else "near_name", join(path, key), key, name, guessed=not exact)
        trail.adopt(fork)
        del out[key]
        out[name] = outcome
        return True

    def _schema_of(self, name: str) -> Any:
        for one in self.casting.shapes.in_place(self.schema):
            props = schema_map(one.get("properties"))
            if name in props:
                return props[name]
        return True

    # -- defaults -------------------------------------------------------------------------

    def _declared_defaults(self, props: Schema) -> dict[str, Any]:
        shapes = self.casting.shapes
        found = {n: shapes.target(s) for n, s in props.items()}
        return {n: [_NONE, s["default"]] for n, s in found.items() if isinstance(s, dict) and "default" in s}

    def _filled(self, name: str) -> Any:
        """The default of a member, completed with the defaults inside it; `_NONE` when it does not fit its schema."""
        held = self.defaults[name]
        if len(held) == 1:
            return held[0]
        with _FILLING:
            if len(held) == 1:
                return held[0]
            if held[0] is _BUSY:
                raise EndlessDefault
            held[0] = _BUSY
            filled = self._complete(name, held[1])
            held[:] = [filled]
        return filled

    def _complete(self, name: str, default: Any) -> Any:
        found = Findings(loud=False)
        trail = Trail(found)
        try:
            outcome = self.props[name](copy.deepcopy(default), name, trail)
            good = not trail.problems and quietly(self.casting.validation.check_of(self.schemas[name]), outcome, found)
        except Exception:  # whatever is wrong with a default, a call must not fail over it
            return _NONE
        return outcome if good else _NONE
