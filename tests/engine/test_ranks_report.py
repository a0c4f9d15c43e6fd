"""Documents that quote the path over several GPUs: every figure of theirs is the record's."""

import json
import re
import sys

import pytest

from dcplab import measured, paths

sys.path.append(str(paths.root() / "bench"))
import ranks_report as report

MERGE = {"what": "merge", "way": "all-gather", "batch": 1, "heads": 16, "dtype": "bfloat16", "ms": 0.0125, "worst_error": 2e-6}
STEP = {
    "what": "step",
    "dcp_size": 4,
    "devices": 2,
    "ranks_a_device": 2,
    "context": 4096,
    "extend_ms": 12.34,
    "decode_ms": 0.5,
    "limit": {"extend": "the GPU: k", "decode": "the host"},
}


def record(*rows, left_out=()):
    return {"ran_on": "GPU, 2 x X", "multicast": "off", "seconds": 12.0, "ended": "in order", "processes": 2, "layers": 3,
            "heads": 16, "rows": list(rows), "left_out": list(left_out)}  # fmt: skip


@pytest.mark.parametrize("name", report.DOCUMENTS)
def test_a_document_says_what_the_record_says(name):
    text = (paths.root() / name).read_text(encoding="utf-8")
    assert report.filled(text, measured.record("ranks_gpu")) == text, "out of date: python bench/ranks_report.py"


def test_every_place_is_used_and_every_used_one_is_known():
    texts = [(paths.root() / name).read_text(encoding="utf-8") for name in report.DOCUMENTS]
    used = [place[1] for text in texts for place in report.PLACE.findall(text)]
    assert set(used) == set(report.PLACES)
    assert sum(text.count("<!-- ranks ") for text in texts) == len(used) == sum(text.count("<!-- end -->") for text in texts)


def test_without_a_record_every_place_is_not_yet():
    text = "| x | <!-- ranks summary --> 5 GB/s <!-- end -->; y |\n<!-- ranks links -->\n7\n<!-- end -->\n"
    said = report.filled(text, None)
    assert (
        said
        == "| x | <!-- ranks summary --> **not yet** <!-- end -->; y |\n<!-- ranks links -->\n\n**not yet**\n\n<!-- end -->\n"
    )
    assert report.filled(said, None) == said


def test_an_empty_record_has_no_figure():
    for name in ("links", "gather", "merge", "steps", "overlap", "summary", "model"):
        assert report.PLACES[name](record()) == "**not yet**", name


def test_what_the_limit_left_out_is_named_once_and_its_steps_are_not_yet():
    one = {**STEP, "context": 8192, "devices": 1}
    told = record(STEP, one, left_out=["steps of D = 4", "steps of D = 4"])
    assert report.missing(told) == "**not yet**: steps of D = 4."
    assert report.summary(told).endswith("; **not yet**: steps of D = 4")
    lines = report.steps(told).splitlines()
    assert lines[0] == "| ms, extend / decode, behind | D = 4, 1 GPU | D = 4, 2 GPUs |"
    assert lines[2:4] == ["| 4,096 | **not yet** | 12.3 / 0.500 |", "| 8,192 | 12.3 / 0.500 | **not yet** |"]
    assert "* the host. D = 4 on 1, behind 8,192; D = 4 on 2, behind 4,096." in lines


def test_a_merge_that_was_not_timed_is_not_yet():
    other = {**MERGE, "way": "all-to-all", "batch": 8, "ms": 0.25}
    lines = report.merge(record(MERGE, other)).splitlines()
    assert lines[2] == "| 1 x 16 | 12.5 | **not yet** | **not yet** | **not yet** |"
    assert lines[3] == "| 8 x 16 | **not yet** | **not yet** | 250 | **not yet** |"


@pytest.mark.parametrize(
    ("value", "said"), [(2, "2.00"), (0.0891328, "0.0891"), (99.96, "100"), (1072.3, "1,072"), (65.0, "65.0")]
)
def test_a_figure_has_three_digits(value, said):
    assert report.number(value) == said


def test_a_dry_run_is_refused(monkeypatch, tmp_path):
    (tmp_path / "ranks_gpu.json").write_text(json.dumps(record() | {"ran_on": "CPU, 2 processes over gloo: a dry run"}))
    monkeypatch.setattr(measured, "results", lambda: tmp_path)
    monkeypatch.setattr(sys, "argv", ["ranks_report.py", "--check"])
    with pytest.raises(SystemExit, match="a dry run"):
        report.main()


def test_check_writes_nothing_and_tells_which_is_out_of_date(monkeypatch, tmp_path, capsys):
    (tmp_path / "README.md").write_text("<!-- ranks ran --> old <!-- end -->")
    monkeypatch.setattr(report, "DOCUMENTS", ("README.md",))
    monkeypatch.setattr(report.paths, "root", lambda: tmp_path)
    monkeypatch.setattr(measured, "record", lambda name: record())
    monkeypatch.setattr(sys, "argv", ["ranks_report.py", "--check"])
    assert report.main() == 1 and re.search("out of date: README.md", capsys.readouterr().out)
    assert "old" in (tmp_path / "README.md").read_text()
    monkeypatch.setattr(sys, "argv", ["ranks_report.py"])
    assert report.main() == 0 and "GPU, 2 x X" in (tmp_path / "README.md").read_text()
