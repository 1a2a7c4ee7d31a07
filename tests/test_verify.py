"""The verifier lets truthful answers pass untouched and names exactly what a lying answer made up."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verify_cases import DOCS, GOOD, LIES, OSLO, TOOLS, Failed, assistant, state_of, user

from glassloop.events import AnswerChecked
from glassloop.prompts import load
from glassloop.types import Message
from glassloop.verify import HonestVerifier, OffVerifier


@pytest.mark.parametrize(("question", "outcomes", "answer"), GOOD)
def test_a_truthful_answer_passes(question, outcomes, answer):
    verdict = HonestVerifier().check(answer, state_of(question, outcomes))
    assert verdict.ok, verdict.complaint


@pytest.mark.parametrize(("question", "outcomes", "answer", "named"), LIES)
def test_a_lie_is_named(question, outcomes, answer, named):
    verdict = HonestVerifier().check(answer, state_of(question, outcomes))
    assert not verdict.ok
    assert named in verdict.complaint
    assert verdict.reasons
