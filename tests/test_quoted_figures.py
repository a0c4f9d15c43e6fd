"""Figures that documents quote from bench/results: each is what the record says, to the digits that stand there."""

import re
from decimal import ROUND_HALF_UP, Decimal

import pytest

from dcplab import paths
from dcplab.measured import measured

CKV, MOVES, DECODE, EXTEND = "triton_ckv_write", "triton_moves", "tl_decode", "tl_extend"


def three(value):
    """Three figures: 0.0204, 2.10, 144."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}".removesuffix(".")


def ms(name, row):
    return three(measured(name, row))


def other(name, row, who):
    return three(measured(name, row, f"others.{who}"))


def of_floor(name, row):
    return f"{measured(name, row, 'of_floor'):.0%}".replace("%", " %")


def gbps(name, row):
    return f"{measured(name, row, 'bytes') / measured(name, row) / 1e6:,.0f}"


def tflops(row):
    return f"{measured('tl_logits', row, 'flop') / measured('tl_logits', row) / 1e9:.0f}"


def engine(field, digits=1):
    return f"{measured('engine_speed', field=field):.{digits}f}"


def ckv(row, label, *more):
    return f"| {label} | {ms(CKV, row)} | {gbps(CKV, row)} | {of_floor(CKV, row)} |" + "".join(f" {m} |" for m in more)


def decode_row(shape):
    return " | ".join(ms(DECODE, f"decode b={b}, {shape}") for b in (1, 8, 32, 64, 128))


def rank_row(shape):
    rows = [f"D=8 rank b={b}, {shape}" for b in (1, 8, 32, 64, 128)]
    return " | ".join(
        f"{ms('tl_dcp', r)} ({measured('tl_dcp', r, 'others.with holes') / measured('tl_dcp', r):.1f}x)" for r in rows
    )


def extend_row(shape):
    return [ms(EXTEND, f"extend {keys} keys, {shape}") for keys in (8192, 32768, 131072)]


def decode_step(batch):
    (row,) = [d for d in measured("engine_speed", field="decode") if d["batch"] == batch]
    return row


def retracted(tokens):
    (row,) = [r for r in measured("retract_gpu", field="requests") if r["tokens"] == tokens]
    return row


def moved(case, who="torch"):
    return ms(MOVES, case), of_floor(MOVES, case), other(MOVES, case, who)


def tenth(value):
    """One decimal, a half rounded up: 53.15 is 53.2."""
    return f"{Decimal(str(value)).quantize(Decimal('0.1'), ROUND_HALF_UP)}"


def two(of, cases):
    """The times of two cases and their shares of the floor, as one row has them."""
    return " | ".join(f"{part(of, cases[0])} / {part(of, cases[1])}" for part in (ms, of_floor))


def stepped(batch):
    row = decode_step(batch)
    return f"{row['step_ms']:.1f} ms, of which the GPU works {row['gpu_busy_ms_a_step']:.1f}"


def logits_row(label, row):
    return f"| 4,096 x {label} | {ms('tl_logits', row)} | {tflops(row)} | {other('tl_logits', row, 'example')} |"


def paged(batch, digits):
    row = f"paged b={batch}, 32768 positions"
    return f"{measured('tl_paged', row):.{digits}f} ({gbps('tl_paged', row)})"


def topk():
    """The row of the table of top-k: every case of its record, in order."""
    return " | ".join(f"{row['ms']:.3f}" for row in measured("tl_topk", field="rows"))


def decode_of(batch):
    return f"{measured(DECODE, f'decode b={batch}, 128 heads, 512+64'):.3f}"


BENCH, README, GPU = "bench/README.md", "README.md", "docs/gpu.md"
SHUFFLED = "topk_to_paged 4,096 x 2048 int32, shuffled"
FAST = retracted(300_000)
OUT, BACK, LINK = (tenth(FAST[name]) for name in ("backup_GBps", "restore_GBps", "link_to_host_GBps"))
MERGES = [f"merge D=8 T=128 H=128 V=512 {dtype}" for dtype in ("bfloat16", "float32")]
ASSEMBLES = [f"assemble_ragged 131,072 x {width} bf16" for width in (512, 576)]
LOGITS = "logits 4096 x 32768"
QUOTED = [
    (README, f"{gbps(CKV, '512 bf16, D=8, random')} GB/s, {of_floor(CKV, '512 bf16, D=8, random')} of a copy"),
    (README, f"{decode_of(1)} to {decode_of(128)} ms"),
    (README, f"{ms('tl_logits', LOGITS)} ms; TileLang's example {other('tl_logits', LOGITS, 'example')}"),
    (README, f"{engine('extend_s')} s; a decode step {stepped(1)}"),
    (README, f"{OUT} and {BACK} GB/s; the link {LINK}"),
    (README, f"{measured('grading', field='whole_s'):.0f} s | `./course bench grading"),
    (
        BENCH,
        ckv("512 bf16, D=8, random", "512 bf16, D=8, random locs", other(CKV, "512 bf16, D=8, random", "one row a program")),
    ),
    (BENCH, ckv("512 bf16, D=8, paged", "512 bf16, D=8, paged locs", other(CKV, "512 bf16, D=8, paged", "one row a program"))),
    (BENCH, ckv("512+64 bf16, D=8, paged", "512+64 bf16, D=8, paged")),
    (BENCH, ckv("512 fp8, D=8, paged", "512 fp8 from bf16, D=8, paged")),
    (BENCH, ckv("512 bf16, D=1, random", "512 bf16, D=1, random", other(CKV, "512 bf16, D=1, random", "one row a program"))),
    (BENCH, ckv("512+64 bf16, D=1, paged", "512+64 bf16, D=1, paged")),
    (BENCH, ckv("512 fp8, D=1, paged", "512 fp8 from bf16, D=1, paged")),
    (BENCH, f"| 128 heads, 512+64 | {decode_row('128 heads, 512+64')} |"),
    (BENCH, f"| 64 heads, 512+0 | {decode_row('64 heads, 512+0')} |"),
    (BENCH, f"| 128 heads, 512+64 | {rank_row('128 heads, 512+64')} |"),
    (BENCH, f"| 64 heads, 512+0 | {rank_row('64 heads, 512+0')} |"),
    (BENCH, "| 64 heads, 512+0 | {} | {} | {} |".format(*extend_row("64 heads, 512+0"))),
    (BENCH, "| 16 heads, 512+64 | {} | {} | {} |".format(*extend_row("16 heads, 512+64"))),
    (BENCH, logits_row("8k", "logits 4096 x 8192")),
    (BENCH, logits_row("32k", LOGITS)),
    (BENCH, logits_row("128k", "logits 4096 x 131072")),
    *((BENCH, paged(batch, digits)) for batch, digits in ((1, 4), (8, 4), (64, 4), (128, 3))),
    (BENCH, "| `localize_page_table`, 8,388,608 locs | {} | {} | {} |".format(*moved("localize_page_table n=8,388,608"))),
    (BENCH, f"| the same, positions shuffled | {ms(MOVES, SHUFFLED)} / "),
    (BENCH, f"| ms | {topk()} |"),
    (BENCH, two(MOVES, MERGES)),
    (BENCH, two(MOVES, ASSEMBLES)),
    (BENCH, f"{engine('extend_s')} s, {measured('engine_speed', field='extend_tokens_per_s'):,} tokens a second"),
    *((BENCH, f"{stepped(batch)}; {decode_step(batch)['launches_a_step']} launches") for batch in (1, 8)),
    (BENCH, f"| 300,000 | {FAST['bytes'] / 1e6:.0f} | {OUT} | {BACK} |"),
    (GPU, f"out at {OUT} GB/s, back at {BACK}"),
    (GPU, f"{engine('extend_s')} s for 300,001 tokens"),
]


@pytest.mark.parametrize(("document", "figure"), QUOTED, ids=lambda value: value[:60])
def test_a_document_quotes_what_the_record_says(document, figure):
    assert figure in (paths.root() / document).read_text(encoding="utf-8")


@pytest.mark.parametrize("source", sorted(paths.solutions().glob("*/*.py")), ids=lambda path: path.stem)
def test_no_lab_types_a_figure_of_a_gpu(source):
    """A lab shows measured figures by `viz.roofline`, `viz.links` or a demo, which read them."""
    typed = re.findall(r"[^\n]*\d\s?(?:ms|us|GB/s|TFLOP/s|tokens a second)\b[^\n]*", source.read_text(encoding="utf-8"))
    assert typed == []
