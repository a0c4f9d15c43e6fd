"""dcplab: "Whose slot is it?", a course on index-space bugs in LLM serving."""

__version__ = "0.1.0"
