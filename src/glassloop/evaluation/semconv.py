"""The names of the GenAI semantic conventions that spans use, in one table with its version.

The conventions are still in development and rename things; whoever moves to a newer version
changes this table and nothing else. Our own names begin with `glassloop.`.
"""

from __future__ import annotations

VERSION = "1.41.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/{VERSION}"

OPERATIONS = {"agent": "invoke_agent", "model": "chat", "tool": "execute_tool", "retrieval": "retrieval"}
"""Our kinds of span, and the operation each is."""

NAMES = {
    "operation": "gen_ai.operation.name",
    "provider": "gen_ai.provider.name",
    "agent": "gen_ai.agent.name",
    "conversation": "gen_ai.conversation.id",
    "request_model": "gen_ai.request.model",
    "response_model": "gen_ai.response.model",
    "temperature": "gen_ai.request.temperature",
    "max_tokens": "gen_ai.request.max_tokens",
    "seed": "gen_ai.request.seed",
    "finish": "gen_ai.response.finish_reasons",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "tool": "gen_ai.tool.name",
    "tool_type": "gen_ai.tool.type",
    "call_id": "gen_ai.tool.call.id",
    "source": "gen_ai.data_source.id",
    "error": "error.type",
    # content, only when switched on
    "input": "gen_ai.input.messages",
    "output": "gen_ai.output.messages",
    "system": "gen_ai.system_instructions",
    "arguments": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
    "query": "gen_ai.retrieval.query.text",
    "documents": "gen_ai.retrieval.documents",
    # what the conventions have no name for
    "stop": "glassloop.stop",
    "step": "glassloop.step",
    "strategy": "glassloop.strategy",
    "risk": "glassloop.tool.risk",
    "status": "glassloop.tool.status",
    "cached": "glassloop.tool.cached",
    "approved_by": "glassloop.tool.approved_by",
    "fault": "glassloop.fault",
    "checked": "glassloop.answer_checked",
}
"""Every attribute, by what we call it."""
