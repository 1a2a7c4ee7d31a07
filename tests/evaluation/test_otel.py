"""Spans from events: the tree, the names of the conventions, content only when asked, and a real OTLP receiver."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from glassloop import Agent, tool
from glassloop.evaluation.otel import SpanRecorder, SpanWriter, write_spans
from glassloop.evaluation.semconv import NAMES, VERSION
from glassloop.journal.record import read_events

from .suite import TOOLS, answer, scripted, step

QUESTION = "What is the water level of Vanern?"


@tool
def search_knowledge(query: str) -> dict[str, Any]:
    """Search the documents. Use it for questions about the documents.

    Args:
        query: What to look for.
    """
    return {"passages": [{"text": "Vanern is regulated at 44 cm."}]}


def traced(*replies: Any, content: bool = False, runs: Path | None = None, tools: Any = TOOLS) -> list[Any]:
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    recorder = SpanRecorder(SpanWriter(provider.get_tracer("test"), content=content), runs=runs)
    Agent(scripted(*replies), tools, protocol="constrained", journal=recorder).run(QUESTION)
    return list(memory.get_finished_spans())


GOOD = step(("level", {"lake": "Vanern"})), answer("The level of Vanern is 44 cm.")


def test_the_tree_of_a_run() -> None:
    spans = traced(*GOOD)
    assert [s.name for s in spans] == ["chat scripted", "execute_tool level", "chat scripted", "invoke_agent glassloop"]
    root = spans[-1]
    assert root.parent is None and all(s.parent.span_id == root.context.span_id for s in spans[:-1])
    assert [s.kind for s in spans] == [SpanKind.CLIENT, SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL]
    assert all(root.start_time <= s.start_time <= s.end_time <= root.end_time for s in spans)
    chat, call = spans[0].attributes, spans[1].attributes
    assert chat["gen_ai.operation.name"] == "chat" and chat["gen_ai.request.model"] == "scripted"
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (100, 20)
    assert chat["gen_ai.usage.cache_read.input_tokens"] == 50 and chat["gen_ai.response.finish_reasons"] == ("stop",)
    assert (
        call["gen_ai.tool.name"] == "level" and call["gen_ai.tool.type"] == "function" and call["gen_ai.tool.call.id"]
    )
    assert root.attributes["gen_ai.usage.input_tokens"] == 200 and root.attributes["glassloop.stop"] == "answered"
    assert set().union(*(s.attributes for s in spans)) <= set(NAMES.values())


def test_content_is_off_by_default_and_whole_when_asked() -> None:
    # The figure stands alone: digits of a run's id, which holds the time of day, are no content.
    words = [re.compile(w) for w in ("Vanern", r"(?<![\w.-])44(?![\w.-])", "I look it up")]
    plain = json.dumps([[dict(s.attributes), [dict(e.attributes) for e in s.events]] for s in traced(*GOOD)])
    assert not any(word.search(plain) for word in words)
    spans = traced(*GOOD, content=True)
    said = json.dumps([dict(s.attributes) for s in spans])
    assert all(word.search(said) for word in words)
    asked = json.loads(spans[2].attributes["gen_ai.input.messages"])
    assert "44" in json.dumps(asked) and asked[0] == json.loads(spans[0].attributes["gen_ai.input.messages"])[0]


def test_retrieval_is_a_span_of_its_own_kind() -> None:
    spans = traced(
        step(("search_knowledge", {"query": "level of Vanern"})),
        answer("Vanern is at 44 cm."),
        tools=[search_knowledge],
    )
    (found,) = [s for s in spans if s.name == "retrieval search_knowledge"]
    assert found.attributes["gen_ai.data_source.id"] == "search_knowledge"
    assert "gen_ai.retrieval.query.text" not in found.attributes


def test_failures_are_errors_and_refusals_are_told() -> None:
    @tool
    def level(lake: str) -> str:
        """Water level of a lake. Use it for questions about the water level.

        Args:
            lake: Name of the lake.
        """
        raise RuntimeError("secret path")

    spans = traced(step(("level", {"lake": "Vanern"})), answer("The level of Vanern could not be read."), tools=[level])
    (call,) = [s for s in spans if s.name.startswith("execute_tool")]
    assert call.status.status_code is StatusCode.ERROR and call.attributes["error.type"] == "tool_error"
    assert "secret" not in str(call.status.description)
    refused = traced(step(("log_entry", {"text": "level"})), answer("The entry was refused."))
    events = [e.name for e in refused[-1].events]
    assert "glassloop.approval" in events and "glassloop.call_not_run" in events
    assert not [s for s in refused if s.name.startswith("execute_tool")]


def test_a_model_that_fails_ends_every_span() -> None:
    from glassloop.errors import ModelRefused

    spans = traced(ModelRefused("no such model"))
    assert [s.name for s in spans] == ["chat scripted", "invoke_agent glassloop"]
    assert all(s.status.status_code is StatusCode.ERROR for s in spans)
    assert spans[-1].attributes["error.type"] == "model_failed"


def test_a_recorded_run_gives_the_same_spans(tmp_path: Path) -> None:
    live = traced(*GOOD, runs=tmp_path)
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    write_spans(read_events(next(tmp_path.glob("*.jsonl"))), SpanWriter(provider.get_tracer("test")))
    again = memory.get_finished_spans()
    facts = lambda spans: [(s.name, dict(s.attributes), s.start_time, s.end_time) for s in spans]  # noqa: E731
    assert facts(again) == facts(live)


def test_an_otlp_receiver_gets_them() -> None:
    got: list[ExportTraceServiceRequest] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            got.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider = TracerProvider(resource=Resource({"service.name": "test"}))
        exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{server.server_port}/v1/traces")
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        recorder = SpanRecorder(SpanWriter(provider.get_tracer("test")), runs=None)
        Agent(scripted(*GOOD), TOOLS, protocol="constrained", journal=recorder).run(QUESTION)
        provider.shutdown()
        server.shutdown()
    spans = [s for request in got for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert [s.name for s in spans] == ["chat scripted", "execute_tool level", "chat scripted", "invoke_agent glassloop"]
    assert len({s.trace_id for s in spans}) == 1
    assert VERSION.count(".") == 2
