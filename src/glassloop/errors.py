"""Every exception of the library, and who meets it.

    GlassloopError
    ├── ConfigurationError        you: the agent, a tool or an option is put together wrongly
    │   ├── ToolDefinitionError   you: a function cannot be declared as a tool
    │   └── MissingExtra          you: an optional package is not installed
    ├── ModelError                the run ends with stop="model_failed"
    │   ├── ModelUnavailable      nothing answers at that address (retried first)
    │   ├── ModelRefused          the server said no: key, name, request (never retried)
    │   ├── ModelOverloaded       429 or 5xx after all retries
    │   ├── ModelTimeout          no reply in time
    │   ├── ModelBroken           the reply or the stream ended in the middle
    │   └── ContextTooLong        the prompt does not fit: compacted once more, tried once more
    ├── WeightsError              `glassloop model fetch`: hash, disk, network
    ├── JournalError              a run cannot be read back
    ├── ReplayDifference          a replay parts from the record
    ├── KnowledgeError            a base cannot be opened or searched
    ├── SessionError              a chat session cannot be read
    └── CaseError                 a golden case is written wrongly

| raised by      | does the run go on?               | what the model sees | what the user sees       |
| -------------- | --------------------------------- | ------------------- | ------------------------ |
| a tool         | yes, as an error observation      | reason and hint     | the same, in the trace   |
| a protocol     | never raises                      | a correction        | the fault, in the trace  |
| a model        | no (after retries)                | nothing             | one sentence, what to do |
| Agent(...)     | it has not begun                  | nothing             | one sentence, what to do |

Every message is one sentence that says what happened and what to do.
"""

from __future__ import annotations


class GlassloopError(Exception):
    """Base of every error this library raises on purpose."""


class ConfigurationError(GlassloopError):
    """The agent, a tool or an option is put together wrongly."""


class ToolDefinitionError(ConfigurationError):
    """A function, schema or object cannot be declared as a tool."""


class MissingExtra(ConfigurationError):
    """An optional package is needed and not installed.

    Args:
        package: The import name that is missing.
        extra: The glassloop extra that brings it.
        why: What it is needed for, as the end of "… is needed to".
    """

    def __init__(self, package: str, extra: str, why: str = "do this") -> None:
        super().__init__(f"The package {package} is needed to {why}: install it with pip install 'glassloop[{extra}]'.")
        self.package = package
        self.extra = extra


class ModelError(GlassloopError):
    """A model could not answer.

    Attributes:
        retry_after: Seconds the server asked to wait before the next attempt; None when it did not say.
    """

    retry_after: float | None = None


class ModelUnavailable(ModelError):
    """Nothing answers at the model's address, or there is no model at all."""


class ModelRefused(ModelError):
    """The server refused the request: wrong key, unknown model, invalid request."""


class ModelOverloaded(ModelError):
    """The server was too busy or failing (429, 5xx) through all retries."""


class ModelTimeout(ModelError):
    """The model gave no reply in time."""


class ModelBroken(ModelError):
    """The reply could not be decoded, or its stream ended in the middle."""

    def __init__(self, message: str, partial: str = "") -> None:
        super().__init__(message)
        self.partial = partial


class ContextTooLong(ModelError):
    """The prompt does not fit into the model's context."""


class WeightsError(GlassloopError):
    """Model weights could not be fetched or are not what they should be."""


class JournalError(GlassloopError):
    """A run's journal cannot be read or written."""


class ReplayDifference(GlassloopError):
    """A replay does something else than its record."""


class KnowledgeError(GlassloopError):
    """A knowledge base cannot be opened, built or searched."""


class SessionError(GlassloopError):
    """A chat session cannot be opened or read."""


class CaseError(GlassloopError):
    """A golden case is not written as the schema asks."""
