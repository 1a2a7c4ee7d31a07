"""The adapters speak the real sentence-transformers: with tiny random models made here, nothing is fetched.

Skipped where the package is missing: it brings torch, which `all` leaves out.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest

from glassloop.errors import KnowledgeError
from glassloop.knowledge import KnowledgeBase
from glassloop.knowledge.embed import embedder
from glassloop.knowledge.rerank import CrossEncoder, probe

pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer that knows only letters; the same weights each time."""
    import torch
    import transformers

    library: Any = transformers
    folder = tmp_path_factory.mktemp("bert")
    letters = string.ascii_lowercase
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    torch.manual_seed(1)
    shape = library.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
        num_labels=1,
    )
    library.BertForSequenceClassification(shape).save_pretrained(folder)
    library.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_a_cross_encoder_gives_one_score_for_each_text_and_a_random_one_is_found_out(tiny: Path) -> None:
    encoder = CrossEncoder(str(tiny), device="cpu")
    texts = ["press the reset button", "a museum of paintings", "press the reset button"]
    scores = encoder.scores("how do i reset", texts)
    assert len(scores) == 3
    assert scores[0] == pytest.approx(scores[2], abs=1e-5)
    with pytest.raises(KnowledgeError, match="cannot tell a right passage from a wrong one"):
        probe(encoder)


def test_an_embedder_gives_rows_of_length_one_that_a_base_can_search(tiny: Path) -> None:
    model = embedder(f"sentence-transformers:{tiny}", device="cpu")
    vectors = model.passages(["press the reset button", "a museum"])
    assert vectors.shape == (2, 32)
    assert (vectors**2).sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    base = KnowledgeBase(embedder=model)
    base.add_text("# Pump\n\nPress the reset button.\n\n# Kettle\n\nIt boils water.", "manual")
    assert "reset" in base.search("press the reset button", mode="dense", min_score=0.0)[0].text
