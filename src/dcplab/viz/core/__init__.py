"""What every picture is made of: boxes, styles, SVG, plots, live controls."""
