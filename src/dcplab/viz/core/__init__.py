"""The building blocks of every picture: boxes, styles, SVG, plots, live controls."""
