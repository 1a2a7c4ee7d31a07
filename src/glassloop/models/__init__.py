"""Language models behind one small seam (`glassloop.gears.Model`), and how one is found.

Importing this package loads no backend: `openai`, `ollama` and `xllamacpp` are
imported when the first model of their kind is used.
"""
