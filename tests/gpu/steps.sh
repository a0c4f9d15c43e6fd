#!/usr/bin/env bash
# The steps of docs/gpu.md, by name, each with a limit of its own, so that one that hangs does not take the others along.
#   tests/gpu/steps.sh OUT NAME...     NAMES: kernels tilelang memcheck racecheck topk demos engine soak soak-cold sixteen sandbox diagnosis agree speed incident fixed below above nccl lab-01 ... lab-05
# Leaves OUT/NAME.txt (and what a step makes) and prints a table of exit statuses and seconds. Run where torch, triton and tilelang are.
set -uo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd); shift
cd "$(dirname "$0")/../.." || exit 2
export PYTHONPATH=${PYTHONPATH:-}:$PWD/src:$PWD/kernels PYTHONUNBUFFERED=1 DCPLAB_STATE=${DCPLAB_STATE:-$(mktemp -d)}
pytest="python3 -m pytest -q -p no:cacheprovider -p no:benchmark"
report="--device cuda --dcp-size 8 --size 455744"

step() { # NAME: what runs, as limit and command
    case $1 in
    kernels) echo "300 $pytest tests/kernels/test_triton_*.py tests/kernels/test_guarded.py tests/kernels/test_reference.py" ;;
    tilelang) echo "400 $pytest tests/kernels/test_tl_indexer.py tests/kernels/test_tl_sparse.py tests/kernels/test_tl_topk.py tests/kernels/test_tl_ring.py --durations=5" ;;
    memcheck | racecheck) echo "400 tests/gpu/sanitize.sh $out/$1 $1" ;;
    topk) echo "150 python3 bench/tl_index.py topk" ;;
    demos) echo "300 $pytest tests/demos tests/viz/test_journey.py --durations=5" ;;
    engine) echo "300 $pytest tests/engine/test_gpu.py" ;;
    soak) echo "580 python3 bench/gpu_soak.py --servers ${SOAK_SERVERS:-100} --limit ${SOAK_LIMIT:-560} --json $out/soak.json" ;;
    soak-cold) echo "580 python3 bench/gpu_soak.py --cold --servers ${SOAK_SERVERS:-40} --limit ${SOAK_LIMIT:-560} --json $out/soak-cold.json" ;;
    sixteen) echo "420 python3 bench/gpu_sixteen.py --json $out/sixteen.json" ;;
    sandbox) echo "560 python3 tests/gpu/sandbox_probe.py --json $out/sandbox.json" ;;
    diagnosis) echo "580 python3 bench/diagnosis.py --json $out/diagnosis.json" ;;
    agree | speed) echo "400 python3 bench/engine_gpu.py $1" ;;
    incident) echo "200 python3 -m dcplab incident $report --stored --json $out/incident.json" ;;
    fixed) echo "200 python3 -m dcplab incident $report --stored --defects none --json $out/fixed.json" ;;
    below | above) echo "500 python3 -m dcplab isolate $report --levels $1 --csv $out/isolate-$1.csv --json $out/isolate-$1.json --html $out/isolate-$1.html" ;;
    nccl) echo "200 torchrun --standalone --nproc-per-node 2 -m dcplab incident --ranks nccl --dcp-size 8 --defects none" ;;
    lab-0[1-5]) echo "580 tests/gpu/labs.sh $out/$1 ${1#lab-}" ;;
    *) return 1 ;;
    esac
}

table=$(printf '%-10s %6s %6s' step status s)
for name in "$@"; do step "$name" >/dev/null || { echo "no step is called $name; see the head of $0" >&2; exit 2; }; done
for name in "$@"; do
    asked=$(step "$name")
    echo "== $name: ${asked#* }"
    began=$SECONDS
    timeout ${asked%% *} ${asked#* } >"$out/$name.txt" 2>&1
    table+=$(printf '\n%-10s %6s %6s' "$name" $? $((SECONDS - began)))
    tail -n 25 "$out/$name.txt"
done
echo "$table"
