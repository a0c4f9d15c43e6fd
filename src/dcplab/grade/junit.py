"""Writes rows as JUnit's XML, which continuous integration shows: a suite a notebook, a case a part."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping

from dcplab.present.strangers import on_a_line


def to_xml(rows: Iterable[Mapping]) -> str:
    """Return the suites. A part that did not pass is a failure, one not judged an error. A notebook that was not graded is a
    suite with one error."""
    root = ET.Element("testsuites", name="dcplab")
    for row in rows:
        nothing = {"outcome": "error", "points": 0, "max_points": row["max_points"]}  # stands for parts that were not graded
        cases = row["parts"] or [{**nothing, "part": row["status"], "message": row["message"]}]
        name = " ".join(filter(None, (row["student"], row["lab"]))) or row["path"]
        suite = ET.SubElement(root, "testsuite", name=on_a_line(name), tests=str(len(cases)))
        kinds = [_add(suite, row, part) for part in cases]
        suite.set("failures", str(kinds.count("failure")))
        suite.set("errors", str(kinds.count("error")))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(suite: ET.Element, row: Mapping, part: Mapping) -> str:
    about = {"classname": row["lab"] or "", "name": part["part"], "time": f"{part.get('elapsed_s', 0):.3f}"}
    case = ET.SubElement(suite, "testcase", about, file=on_a_line(row["path"]))
    if part["outcome"] == "passed":
        return "passed"
    kind = "error" if part["outcome"] == "error" else "failure"
    said = ET.SubElement(case, kind, type=part["outcome"], message=f"{part['points']:g} of {part['max_points']:g} points")
    said.text = "\n".join(map(on_a_line, part["message"].split("\n")))
    return kind
