#!/usr/bin/env bash
# nbgrader with an exchange between Unix users of one machine, and one of them attacks: release, fetch, submit, collect, autograde,
# feedback, export. As root, on a machine that may get three users for it (they are removed again):
#     tests/two_users.sh PYTHON [LAB]        PYTHON: one that every user may run and that finds this course
# Each line of its output is a thing that was looked at, "ok" or "FAILED"; the exit status says whether any failed.
set -uo pipefail
[ "$(id -u)" = 0 ] && [ $# -ge 1 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
PYTHON=$1 LAB=${2:-01_index_spaces} HERE=$(cd "$(dirname "$0")/.." && pwd)
IDA=dcplab-ida ANN=dcplab-ann MAL=dcplab-mal # an instructor, a learner, and one who attacks
EXCHANGE=$(mktemp -d /var/tmp/dcplab-exchange-XXXX) FAILED=0 LOG=$(mktemp)
for name in $IDA $ANN $MAL; do useradd -m "$name" && chmod 700 "/home/$name"; done
trap 'for name in $IDA $ANN $MAL; do userdel -rf "$name" 2>/dev/null; done; rm -rf "$EXCHANGE" "$LOG"' EXIT
chmod 777 "$EXCHANGE"
COURSE=/home/$IDA/course

as() { # as USER FOLDER COMMAND...: what it said is in $LOG
    local who=$1 where=$2
    shift 2
    (cd "$where" 2>/dev/null || cd /; exec setpriv --reuid "$who" --regid "$who" --init-groups env -i HOME="/home/$who" USER="$who" \
        LOGNAME="$who" PATH="$(dirname "$PYTHON"):/usr/bin:/bin" PYTHONPATH="$HERE/src:$HERE/kernels" DCPLAB_MODE=cpu \
        DCPLAB_STATE="/home/$who/.dcplab" ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} "$@") >"$LOG" 2>&1
}
told() { if [ "$2" = 0 ]; then echo "ok      $1"; else echo "FAILED  $1"; tail -12 "$LOG" | sed 's/^/        /'; FAILED=1; fi; }
works() { local what=$1; shift; as "$@"; told "$what" $?; [ $FAILED = 0 ] || exit 1; } # what is refused later must be there
refused() { local what=$1; shift; as "$@" && told "$what" 1 || told "$what" 0; }
nbgrader() { echo "$PYTHON -m nbgrader $*"; }

works "the instructor releases the course" $IDA / "$PYTHON" -m dcplab release $COURSE --lab "$LAB"
as $IDA $COURSE bash -c "printf '\nc.Exchange.root = \"%s\"\n' '$EXCHANGE' >> nbgrader_config.py"
works "the assignment is in the exchange" $IDA $COURSE $(nbgrader release_assignment "$LAB")
for who in $ANN $MAL; do
    as $who / bash -c "mkdir -p ~/work ~/.jupyter && echo 'c = get_config(); c.CourseDirectory.course_id = \"dcplab\"; c.Exchange.root = \"$EXCHANGE\"' > ~/.jupyter/nbgrader_config.py"
    works "$who fetches it" $who /home/$who/work $(nbgrader fetch_assignment "$LAB")
done
refused "the solutions are closed to a learner" $MAL / cat $COURSE/source/$LAB/$LAB.ipynb
refused "the gradebook is closed to a learner" $MAL / cat $COURSE/gradebook.db
refused "what was released cannot be changed" $MAL / bash -c "echo x >> $EXCHANGE/dcplab/outbound/$LAB/$LAB.ipynb"

# ann hands in the solved notebook, mal one whose answer looks for ann's and for the grades.
install -o $ANN -g $ANN -m 600 "$HERE/solutions/$LAB/$LAB.ipynb" "/home/$ANN/work/$LAB/$LAB.ipynb"
works "ann submits" $ANN /home/$ANN/work $(nbgrader submit "$LAB")
"$PYTHON" - "/home/$MAL/work/$LAB/$LAB.ipynb" "$COURSE" "$EXCHANGE" <<'PY'
import json, sys
path, course, exchange = sys.argv[1:]
attack = f"""
import glob, os
def attack():
    done = []
    for path in ("{course}/gradebook.db", "{course}/submitted", "{course}/nbgrader_config.py", "{exchange}/dcplab/inbound"):
        there = os.path.join(path, "x") if path.endswith(("submitted", "inbound")) else path
        for way in (lambda: os.listdir(path), lambda: open(there, "rb").read(9), lambda: open(there, "ab").close(),
                    lambda: os.chmod(path, 0o777), lambda: os.kill(os.getppid(), 9), lambda: os.fork()):
            try:
                way()
                done.append(path)
            except OSError:
                pass
    return done
"""
nb = json.load(open(path))
cell = next(c for c in nb["cells"] if c.get("id") == "answer-1a")
text = "".join(cell["source"])
entry = text[text.index("def ") + 4 : text.index("(", text.index("def "))]
cell["source"] = f"""import concurrent.futures, os
CODE = {attack!r}
def {entry}(*args, **kwargs):
    space = {{}}
    exec(compile(CODE, os.__file__, "exec"), space)
    print("DID", concurrent.futures.ThreadPoolExecutor(1).submit(space["attack"]).result())
"""
json.dump(nb, open(path, "w"))
PY
works "mal submits" $MAL /home/$MAL/work $(nbgrader submit "$LAB")
refused "who has handed in cannot be listed" $MAL / ls $EXCHANGE/dcplab/inbound
THEIRS=$(find "$EXCHANGE/dcplab/inbound" -maxdepth 1 -name "$ANN+*" | head -1)
# nbgrader makes a submission's folder 777, so that an instructor may remove it: nothing but its name keeps others out.
echo "$THEIRS" | grep -Eq '\+[A-Za-z0-9_-]{12}$'; told "another's submission lies under a name that cannot be guessed" $?

works "the instructor collects" $IDA $COURSE $(nbgrader collect "$LAB")
[ "$(ls $COURSE/submitted | sort | xargs)" = "$ANN $MAL" ]; told "both submissions are there" $?
works "autograde" $IDA $COURSE $(nbgrader autograde "$LAB" --create)
works "feedback is made" $IDA $COURSE $(nbgrader generate_feedback "$LAB")
works "feedback is released" $IDA $COURSE $(nbgrader release_feedback "$LAB")
works "grades are exported" $IDA $COURSE $(nbgrader export --to grades.csv)
"$PYTHON" - "$COURSE/grades.csv" "$ANN" "$MAL" >"$LOG" 2>&1 <<'PY'
import csv, sys
rows = {r["student_id"]: (float(r["score"]), float(r["max_score"])) for r in csv.DictReader(open(sys.argv[1]))}
print(rows)
ann, mal = rows[sys.argv[2]], rows[sys.argv[3]]
assert ann[0] == ann[1] > 0 and mal[0] == 0, rows
PY
told "ann has all points, mal none" $?
grep -rqs "DID \[\]" "$COURSE/feedback/$MAL"; told "the attack of mal's answer did nothing" $?
works "ann fetches feedback" $ANN /home/$ANN/work $(nbgrader fetch_feedback "$LAB")
find "/home/$ANN/work/$LAB/feedback" -name '*.html' | grep -q .; told "ann has her page" $?
works "mal fetches feedback" $MAL /home/$MAL/work $(nbgrader fetch_feedback "$LAB")
refused "another's feedback cannot be listed" $MAL / ls $EXCHANGE/dcplab/feedback
exit $FAILED
