"""A schema compiled into checks: does a value fit, and if not, everything that is wrong with it.

Owes: the meaning of JSON Schema draft 2020-12 for plain JSON values, with formats checked and
OpenAPI's `nullable` understood; all problems at once; no exception over a schema that makes
no sense, whose nonsense is left out. A check is a closure made once, so that a call costs
microseconds.
"""

from __future__ import annotations

from typing import Any, cast

from .checks import (
    BOUNDS,
    JSON_TYPES,
    PYTHON_TYPES,
    Check,
    Findings,
    always,
    base_type,
    bounded,
    count_of,
    finite,
    fits_slowly,
    for_all,
    is_echo,
    measured,
    members_of,
    multiple_of,
    never,
    one_of_these,
    quietly,
    unique,
)
from .formats import has_format
from .outline import (
    BRANCH_WORDS,
    ONLY_NULL,
    Schema,
    Shapes,
    as_schema,
    fits_kind,
    names,
    own_kinds,
    prefix_of,
    rest_of,
    schema_list,
    schema_map,
)
from .patterns import matcher
from .problems import join


class Validation:
    """The checks of one root schema. `check_of` compiles any schema inside it."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self._made: dict[int, tuple[Any, Check]] = {}

    def check_of(self, schema: Any) -> Check:
        """Return the check of a schema, compiled once; the entry keeps the schema alive, so its id stays its own."""
        held = self._made.get(id(schema))
        if held is not None and held[0] is schema:
            return held[1]
        made = self._compile(as_schema(schema))
        self._made[id(schema)] = (schema, made)
        return made

    def fits(self, schema: Any, value: Any, found: Findings) -> bool:
        """Whether the value fits, without noting why not."""
        return quietly(self.check_of(schema), value, found)

    # -- compiling ------------------------------------------------------------------------

    def _compile(self, schema: Schema | bool) -> Check:
        if not isinstance(schema, dict):
            return always if schema else never
        tests: dict[type, list[Check]] = {kind: [] for kind in JSON_TYPES}
        self._choices(schema, tests)
        self._strings(schema, tests)
        self._numbers(schema, tests)
        self._arrays(schema, tests)
        self._objects(schema, tests)
        self._applicators(schema, tests)
        kinds = own_kinds(schema)
        kinds = kinds if kinds is None or "number" not in kinds else kinds | {"integer"}
        ready = {kind: tuple(made) for kind, made in tests.items()}
        nullable = schema.get("nullable") is True
        plain = frozenset(PYTHON_TYPES[k] for k in kinds if k in PYTHON_TYPES) if kinds is not None else None

        def check(value: Any, path: str, found: Findings) -> bool:
            if value is None and nullable:
                return True
            kind = cast("type[Any]", type(value))
            if plain is not None and kind not in plain and not fits_slowly(value, cast("frozenset[str]", kinds)):
                return found.add(path, value, "type", schema, ("echo",) if is_echo(value) else ())
            todo = ready.get(kind)
            if todo is None:
                todo = ready.get(base_type(value), ())
            good = True
            for test in todo:
                if not test(value, path, found):
                    if not found.loud:
                        return False
                    good = False
            return good

        return check

    def _choices(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        if "const" in schema:
            for_all(tests, one_of_these([schema["const"]], "const", schema["const"]))
        listed = schema.get("enum")
        if isinstance(listed, list) and listed:
            for_all(tests, one_of_these(cast("list[Any]", listed), "enum", listed))

    def _strings(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        tests[str] += measured(schema, "minLength", "maxLength")
        pattern, form = schema.get("pattern"), schema.get("format")
        search = matcher(pattern) if isinstance(pattern, str) else None
        if search is not None:
            tests[str].append(lambda v, p, f: search(v) or f.add(p, v, "pattern", pattern))
        if isinstance(form, str):
            tests[str].append(lambda v, p, f: has_format(v, form) or f.add(p, v, "format", form))

    def _numbers(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        limits = {w: finite(schema.get(w)) for w in BOUNDS}
        for old, new in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if schema.get(new) is True and limits[old] is not None:  # draft 4 wrote the flag beside the bound
                limits[old], limits[new] = None, limits[old]
        for word, limit in limits.items():
            if limit is not None:
                made = bounded(word, limit)
                tests[int].append(made)
                tests[float].append(made)
        step = finite(schema.get("multipleOf"))
        if step is not None and step > 0:
            made = multiple_of(step)
            tests[int].append(made)
            tests[float].append(made)

    def _arrays(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        tests[list] += measured(schema, "minItems", "maxItems")
        if schema.get("uniqueItems") is True:
            tests[list].append(unique)
        first = [self.check_of(s) for s in prefix_of(schema)]
        rest_schema = rest_of(schema)
        rest = None if rest_schema is None else self.check_of(rest_schema)
        if first or rest:

            def items(value: list[Any], path: str, found: Findings) -> bool:
                good = True
                for i, item in enumerate(value):
                    test = first[i] if i < len(first) else rest
                    if test is not None and not test(item, f"{path}[{i}]", found):
                        good = False
                        if not found.loud:
                            break
                return good

            tests[list].append(items)
        if "contains" in schema:
            tests[list].append(self._contains(schema))

    def _contains(self, schema: Schema) -> Check:
        wanted = schema["contains"]
        test = self.check_of(wanted)
        low, high = count_of(schema.get("minContains")), count_of(schema.get("maxContains"))

        def contains(value: list[Any], path: str, found: Findings) -> bool:
            held = sum(quietly(test, item, found) for item in value)
            if held < (1 if low is None else low):
                return found.add(path, value, "contains", wanted)
            return high is None or held <= high or found.add(path, value, "maxContains", high)

        return contains

    def _objects(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        tests[dict] += measured(schema, "minProperties", "maxProperties")
        props = schema_map(schema.get("properties"))
        required = names(schema.get("required"))
        if required:

            def needs(value: dict[str, Any], path: str, found: Findings) -> bool:
                good = True
                for name in required:
                    if name not in value:
                        good = found.add(join(path, name), None, "required", self.shapes.target(props.get(name, True)))
                return good

            tests[dict].append(needs)
        checks = {n: self.check_of(s) for n, s in props.items()}
        if checks:
            tests[dict].append(members_of(checks))
        if any(w in schema for w in ("patternProperties", "additionalProperties", "unevaluatedProperties")):
            self._further(schema, frozenset(props), tests)
        if "propertyNames" in schema:
            named = self.check_of(schema["propertyNames"])

            def good_names(value: dict[str, Any], path: str, found: Findings) -> bool:
                return all(quietly(named, n, found) for n in value) or found.add(path, value, "propertyNames")

            tests[dict].append(good_names)
        self._dependent(schema, tests)

    def _further(self, schema: Schema, props: frozenset[str], tests: dict[type, list[Check]]) -> None:
        patterns = [
            (search, self.check_of(s))
            for p, s in schema_map(schema.get("patternProperties")).items()
            if (search := matcher(p)) is not None
        ]
        if "additionalProperties" in schema:
            extra, allowed = as_schema(schema["additionalProperties"]), props
        else:
            extra, allowed = as_schema(schema.get("unevaluatedProperties", True)), self.shapes.known(schema)
        extra_check = self.check_of(extra)

        def further(value: dict[str, Any], path: str, found: Findings) -> bool:
            good = True
            for name, item in value.items():
                matched = False
                for search, test in patterns:
                    if search(name):
                        matched = True
                        good = test(item, join(path, name), found) and good
                if matched or name in allowed or extra is True:
                    continue
                if extra is False:
                    good = found.add(join(path, name), item, "unknown", sorted(allowed))
                else:
                    good = extra_check(item, join(path, name), found) and good
            return good

        tests[dict].append(further)

    def _dependent(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        needed = {n: names(v) for n, v in schema_map(schema.get("dependentRequired")).items()}
        then = {n: self._later(v) for n, v in schema_map(schema.get("dependentSchemas")).items()}
        if not needed and not then:
            return

        def depends(value: dict[str, Any], path: str, found: Findings) -> bool:
            good = True
            for name, others in needed.items():
                missing = [o for o in others if o not in value] if name in value else []
                if missing:
                    good = found.add(join(path, name), value[name], "dependentRequired", missing)
            for name, test in then.items():
                if name in value:
                    good = test(value, path, found) and good
            return good

        tests[dict].append(depends)

    def _later(self, schema: Any) -> Check:
        """A check compiled when first needed: what a reference names may be what is being compiled."""

        def check(value: Any, path: str, found: Findings) -> bool:
            found.step()
            return self.check_of(schema)(value, path, found)

        return check

    # -- applicators ----------------------------------------------------------------------

    def _applicators(self, schema: Schema, tests: dict[type, list[Check]]) -> None:
        for word in ("$ref", "$dynamicRef"):
            if word in schema:
                for_all(tests, self._later(self.shapes.resolve(schema[word])))
        for part in schema_list(schema.get("allOf")):
            for_all(tests, self._later(part))
        for word in BRANCH_WORDS:
            options = schema_list(schema.get(word))
            if options:
                for_all(tests, self._branches(schema, options, word))
        if "not" in schema:
            other = self._later(schema["not"])
            for_all(tests, lambda v, p, f: not quietly(other, v, f) or f.add(p, v, "not", schema["not"]))
        if "if" in schema and ("then" in schema or "else" in schema):
            test, yes, no = (self._later(schema.get(w, True)) for w in ("if", "then", "else"))
            for_all(tests, lambda v, p, f: (yes if quietly(test, v, f) else no)(v, p, f))

    def _branches(self, schema: Schema, options: list[Any], word: str) -> Check:
        checks = [self._later(o) for o in options]

        def any_of(value: Any, path: str, found: Findings) -> bool:
            for test in checks:
                if quietly(test, value, found):
                    return True
            return self._report(schema, options, value, path, found)

        def one_of(value: Any, path: str, found: Findings) -> bool:
            fitting = sum(quietly(test, value, found) for test in checks)
            if fitting > 1:
                return found.add(path, value, "oneOf")
            return fitting == 1 or self._report(schema, options, value, path, found)

        return any_of if word == "anyOf" else one_of

    def _report(self, schema: Schema, options: list[Any], value: Any, path: str, found: Findings) -> bool:
        """Say what is wrong in the branch that was meant, or that no branch fits."""
        if found.loud:
            branch = self.likely(options, value, found)
            if branch is None or self.check_of(branch)(value, path, found):
                found.add(path, value, "anyOf", {"anyOf": [self.shapes.target(o) for o in options]})
        return False

    def likely(self, options: list[Any], value: Any, found: Findings) -> Any:
        """The one branch the value can be meant for: the only one but null, of its kind, or with its marks."""
        real = [o for o in options if self.shapes.kinds(o) != ONLY_NULL]
        if len(real) == 1:
            return real[0]
        alike = [o for o in real if fits_kind(value, self.shapes.kinds(o))]
        if len(alike) > 1 and isinstance(value, dict):
            alike = [o for o in alike if self._marked(o, cast("Schema", value), found)]
        return alike[0] if len(alike) == 1 else None

    def _marked(self, option: Any, value: Schema, found: Findings) -> bool:
        """Whether the members that tell branches apart (const or enum) have values this branch knows."""
        shape = self.shapes.target(option)
        props = schema_map(shape.get("properties")) if isinstance(shape, dict) else {}
        marks: Schema = {n: s for n, s in props.items() if isinstance(s, dict) and ("const" in s or "enum" in s)}
        return all(n in value and self.fits(s, value[n], found) for n, s in marks.items())
