#!/usr/bin/env bash
# What a lab must have been through on a GPU: its banks through the checks, and its solved notebook, executed.
#   tests/gpu/labs.sh OUT 01 [02 ...]     run where torch, triton, tilelang and the notebook packages can be imported
# Leaves in OUT the executed notebooks and the logs; a step that fails does not stop the next one.
set -uo pipefail
out=$1; shift
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here" && mkdir -p "$out"
export PYTHONPATH=${PYTHONPATH:-}:$here/src:$here/kernels PYTHONUNBUFFERED=1 DCPLAB_STATE=${DCPLAB_STATE:-$(mktemp -d)}
python3 -m dcplab doctor | tee "$out/doctor.txt"
for lab in "$@"; do
    echo "== $lab: the solved notebook"
    time timeout 240 python3 -m dcplab build "$lab" --execute && cp "$here"/solutions/"$lab"_*/"$lab"_*.ipynb "$out"/
done
echo "== banks"
DCPLAB_BANK_SEEDS=${DCPLAB_BANK_SEEDS:-1} timeout 400 python3 -m pytest -q -p no:cacheprovider -n 8 tests/test_bank.py --durations=5 2>&1 | tee "$out/bank.txt" | tail -40
