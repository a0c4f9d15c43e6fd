"""Facts in words, as text and as HTML."""
