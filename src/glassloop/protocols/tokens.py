"""Control tokens that a server let through: never part of an answer, never part of an argument's edge."""

from __future__ import annotations

import re

from ..types import Repair

_TURN_END = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end_of_turn|endoftext|end_of_text|return|END_OF_TURN_TOKEN|END_RESPONSE)\|>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>|\[/?EOS\]|</s>(?=\s*(?:\Z|<s>|\[INST\]))"
    r"|<\|end\|>(?=\s*(?:\Z|<\|(?:user|assistant|system)\|>))",
)
_EDGE = (
    r"(?:<\|?/?[a-zA-Z_▁｜|]*(?:tool|function)[a-zA-Z_▁]*(?:call|calls|begin|end)[a-zA-Z_▁]*[|｜]?>"
    r"|\[/?TOOL_CALLS?\]|\[END_TOOL_REQUEST\]|</?(?:tool_calls?|function_call|tools?|function|answer|response)>"
    r"|<\|(?:im_start|start_header_id|begin_of_text|START_OF_TURN_TOKEN|CHATBOT_TOKEN|START_RESPONSE|END_RESPONSE"
    r"|assistant|end)\|>(?:assistant)?|<\|start\|>(?:assistant)?|<\|end_header_id\|>|<start_of_turn>(?:model)?|<bos>|<eos>|<s>|</s>|<pad>"
    r"|<\|channel\|>final(?:\s*<\|[\w ]+\|>)?<\|message\|>|<\|message\|>)"
)
_LEADING = re.compile(rf"\A(?:\s*{_EDGE})+\s*")
_TRAILING = re.compile(rf"\s*{_EDGE}\s*\Z")
_SIGN = re.compile(r"[<\[]")


def cut_turn_end(text: str) -> tuple[str, tuple[Repair, ...]]:
    """Return a text without what follows the token that ends its turn."""
    if not _SIGN.search(text):
        return text, ()
    at = 0
    for ended in _TURN_END.finditer(text):
        if text[at : ended.start()].strip():
            return _noted(text, text[at : ended.start()])
        at = ended.end()
    return _noted(text, text[at:])


def strip_edges(text: str) -> tuple[str, tuple[Repair, ...]]:
    """Return a text without the control tokens it begins or ends with. Only for text in which no call was found."""
    if not _SIGN.search(text):
        return text, ()
    clean = _LEADING.sub("", text)
    for _ in range(8):
        tail = _TRAILING.search(clean, max(0, len(clean) - 120))
        if tail is None:
            break
        clean = clean[: tail.start()]
    return _noted(text, clean)


def _noted(before: str, after: str) -> tuple[str, tuple[Repair, ...]]:
    if before == after:
        return before, ()
    return after, (Repair("control tokens", before=before[-80:], after=after[-80:]),)
