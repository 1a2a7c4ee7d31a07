"""Values as they are written: figures, dates, times, ids and quoted names in Chinese and English text and in data.

Owes the verifier and the provenance check one common idea of when two values are the same although they are
written differently: 4,429,058 and 4429058, 三十五 and 35, 0.62 and 62 %, "March 1st 2025" and 2025-03-01, and of
what follows from known figures by simple arithmetic. Never raises, keeps the place of every value, takes time
linear in the text.
"""

from .arithmetic import SHORT, derivable, evaluate, expressions
from .calendar import date_follows, date_parts, span_follows, time_follows
from .facts import DIMENSIONS, Fact, compatible, convert
from .numerals import Number, whole
from .same import as_number, facts_in, facts_in_data, near, same
from .scan import fold_id, fold_text, narrow

__all__ = [
    "DIMENSIONS",
    "Fact",
    "Number",
    "SHORT",
    "as_number",
    "compatible",
    "convert",
    "date_follows",
    "date_parts",
    "derivable",
    "evaluate",
    "expressions",
    "facts_in",
    "facts_in_data",
    "fold_id",
    "fold_text",
    "narrow",
    "near",
    "same",
    "span_follows",
    "time_follows",
    "whole",
]
