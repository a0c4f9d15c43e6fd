"""What the tests of live views reach into: the drawing among a view's parts, and a click on one of its cells."""

import re


def drawing(view):
    """The widget that draws a view's scene as SVG."""
    return next(part for part in view.widget.children if type(part).__name__ == "SceneWidget")


def choose(view, loc):
    """Click on the cell of a loc, as the browser says it. The cell must be one that can be chosen."""
    widget = drawing(view)
    assert f'data-loc="{loc}"' in widget.svg
    widget._handle_custom_msg({"chosen": loc}, [])


def outlined(view):
    """The places of the cells with an outline."""
    return re.findall(r'<rect x="([^"]+)" y="([^"]+)"[^>]*fill="none"', drawing(view).svg)
