#!/usr/bin/env bash
# What a lab must have been through on a GPU: its banks through the checks, and its solved notebook, executed.
#   tests/gpu/labs.sh OUT 01 [02 ...]     EXECUTE= leaves the notebooks out, ONLY=wrong chooses tests of the bank; run where torch, triton, tilelang and the notebook packages can be imported
# Leaves in OUT the executed notebooks and the logs; a step that fails does not stop the next one.
set -uo pipefail
out=$1; shift
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here" && mkdir -p "$out"
export DCPLAB_GPU_TURNS=${DCPLAB_GPU_TURNS:-8} PYTHONPATH=${PYTHONPATH:-}:$here/src:$here/kernels PYTHONUNBUFFERED=1 DCPLAB_STATE=${DCPLAB_STATE:-$(mktemp -d)}
python3 -m dcplab doctor | tee "$out/doctor.txt"
for lab in ${EXECUTE-$@}; do
    echo "== $lab: the solved notebook"
    time timeout 240 python3 -m dcplab build "$lab" --execute && cp "$here"/solutions/"$lab"_*/"$lab"_*.ipynb "$out"/
done
echo "== banks of $*"
parts=$(python3 -c 'import sys; from dcplab.course import catalog; print(" or ".join(p.id for n in sys.argv[1:] for p in catalog.lab(n).parts))' "$@")
DCPLAB_BANK_SEEDS=${DCPLAB_BANK_SEEDS:-1} timeout "${BANK_S:-400}" python3 -m pytest -v -p no:cacheprovider -p no:benchmark -n "${BANK_N:-8}" \
    tests/test_bank.py -k "(${ONLY:-test}) and ($parts)" --durations=8 2>&1 | tee "$out/bank.txt" | tail -60
