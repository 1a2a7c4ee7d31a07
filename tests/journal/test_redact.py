"""Keys never reach the disk, whatever field they are in; what is not a key stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassloop.events import RunStarted
from glassloop.journal.record import JournalRecorder, read_events
from glassloop.journal.redact import KEYS, PERSONAL, Redactor, Rule, is_masked

from .recorded_runs import QUESTION, answer, record, step

SECRETS = {
    "openai": "sk-proj-Abc123def456GHI789jkl",
    "anthropic": "sk-ant-api03-aaaa1111bbbb2222cccc",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_" + "a1B2" * 9,
    "github fine": "github_pat_" + "11AAAA" * 6,
    "gitlab": "glpat-abcdefghij1234567890",
    "slack": "xoxb-123456789012-abcdefABCDEF",
    "google": "AIza" + "Sy0" * 11 + "ab",
    "hugging face": "hf_" + "AbCdEf" * 6,
    "stripe": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("shape", ["{}", "key={} rest", '{{"token": "{}"}}', "钥匙是{}。", "Bearer {}"])
def test_a_key_is_masked_at_its_length(secret: str, shape: str) -> None:
    text = shape.format(secret)
    data = Redactor()({"type": "noted", "text": text})
    assert secret not in data["text"]
    assert len(data["text"]) == len(text)
    assert secret[-8:] not in data["text"]
    assert data["redacted"]


def test_bearer_tokens_urls_and_private_keys() -> None:
    clean = Redactor().text
    assert "abcdef1234567890" not in clean("Authorization: Bearer abcdef1234567890")
    assert clean("postgres://me:hunter2@db/x") == "postgres://me:*******@db/x"
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n+/=abc\n-----END RSA PRIVATE KEY-----"
    assert "MIIE" not in clean(pem) and clean(pem).count("\n") == 3
    inside = json.dumps({"key": pem})
    assert json.loads(clean(inside))["key"].count("\n") == 3  # JSON in a text stays JSON


@pytest.mark.parametrize(
    "text",
    [
        "task-oriented-programming-languages are fine",
        "sk-learn-is-a-name-without-figures",
        "a bearer of good news",
        "the ghp_ prefix alone",
        "see https://example.org:8080/path",
        "eyJ is how they begin",
        "numbers 4111 1111 1111 1111 and mail@example.org stay by default",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert Redactor()({"text": text}) == {"text": text}


@pytest.mark.parametrize(
    "text",
    [
        "mail bob.smith@example.co.uk now",
        "card 4111 1111 1111 1111 ok",
        "手机13812345678。",
        "身份证11010519491231002X",
        "call +44 20 7946 0958",
        "ssn 078-05-1120",
    ],
)
def test_personal_data_is_masked_when_asked_for(text: str) -> None:
    clean = Redactor(KEYS + PERSONAL).text(text)
    assert clean != text and len(clean) == len(text)
    assert sum(c.isdigit() for c in clean) == 0


@pytest.mark.parametrize("text", ["order 4111 1111 1111 1112", "population 4,429,058", "2026-11-30 10:20", "1.5e10"])
def test_numbers_that_are_no_personal_data_stay(text: str) -> None:
    assert Redactor(KEYS + PERSONAL).text(text) == text


def test_a_phone_kept_as_a_number_becomes_a_masked_text() -> None:
    data = Redactor(PERSONAL)({"phone": 13812345678, "count": 12, "ok": True})
    assert data["phone"] == "*" * 11 and data["count"] == 12 and data["ok"] is True


def test_rules_can_be_added() -> None:
    import re

    own = Rule("ticket", re.compile(r"T-\d{4}"), ("T-",), keep=2)
    data = Redactor((*KEYS, own))({"a": ["T-1234"], "T-9999": 1})
    assert data["a"] == ["T-****"] and "T-****" in data and data["redacted"] == ["ticket"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_masking_keeps_json_and_is_idempotent(value: object) -> None:
    redactor = Redactor(KEYS + PERSONAL)
    once = redactor({"value": value})
    json.dumps(once)
    assert redactor({"value": once["value"]})["value"] == once["value"]


@given(st.sampled_from(sorted(SECRETS.values())), st.text(), st.text())
def test_no_key_is_overlooked_by_the_quick_look(secret: str, before: str, after: str) -> None:
    line = json.dumps({"text": f"{before} {secret} {after}"}, ensure_ascii=False)
    assert Redactor().suspects(line)


def test_a_run_with_a_key_leaves_none_on_disk_and_still_replays(tmp_path: Path) -> None:
    from glassloop.journal.replay import replay

    key = SECRETS["openai"]
    replies = [step("look", "weather", city="Paris"), answer(f"12 degrees. Your key {key} is safe.")]
    path = record(tmp_path, replies, question=f"Weather in Paris? My key is {key}.")
    assert key not in path.read_text("utf-8")
    assert is_masked(path.read_text("utf-8"))
    found = replay(path)
    assert found.ok, found.difference and found.difference.text()


def test_redaction_can_be_switched_off(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorder = JournalRecorder(path, redact=None)
    recorder.record(RunStarted(run_id="r", question=SECRETS["aws"]))
    recorder.close()
    first = next(iter(read_events(path)))
    assert isinstance(first, RunStarted) and first.question == SECRETS["aws"]
    assert Redactor()({"q": QUESTION}) == {"q": QUESTION}
