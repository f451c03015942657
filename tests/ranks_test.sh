#!/bin/sh
# One run divided over processes by mpirun: the same to the bit, one line where a process fails, and gone on with where one was killed.
#   ranks_test.sh HEADWAVE SOURCE_DIR
set -u
headwave=$1
skip() { echo "skipped: $*"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "FAILED: $*"; failed=1; }

"$headwave" -q demo --documents 3 --write-model "$work/planted" >/dev/null || exit 1
run="-q run --model $work/planted --ids $work/ids.txt --documents 40 --only measured_offset,head_types,cross_covariance --no-figures --threads 1"
awk 'BEGIN { for (d = 0; d < 160; ++d) { printf d ? ",[" : "[["; for (i = 0; i < 48; ++i) printf i ? ",%d" : "%d", (7 * d + i * i) % 20; print d == 159 ? "]]" : "]" } }' >"$work/ids.txt"

# Without MPI each process would do all of the work.
OMPI_COMM_WORLD_SIZE=2 "$headwave" $run --out "$work/alone" >/dev/null 2>"$work/err"
if grep -q "is built without MPI" "$work/err"; then
  [ "$(wc -l <"$work/err")" = 1 ] || complain "expected one line, came $(cat "$work/err")"
  [ $failed = 0 ] || exit 1
  skip "this headwave is built without MPI; HEADWAVE_MPI=on ./headwave build has it"
fi
command -v mpirun >/dev/null || skip "there is no mpirun here"

# On one machine, as whoever runs the tests, more processes than processors, and no other machine to be asked.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_plm=isolated OMPI_MCA_hwloc_base_binding_policy=none
timeout 60 mpirun -n 2 true >"$work/out" 2>&1 || skip "mpirun starts no two processes here: $(grep -v '^[- ]*$' "$work/out" | head -n 1)"
# What mpirun says, or that it did not end.
processes() {
  count=$1
  shift
  timeout 300 mpirun -n "$count" "$@" >"$work/out" 2>"$work/err" </dev/null
  ended=$?
  [ $ended != 124 ] || complain "mpirun -n $count $* did not end within 300 s"
  return $ended
}
tables() { "$headwave" -q export "$1/results.h5" --csv "$1/tables" >/dev/null && cat "$1/tables"/*.csv; }

"$headwave" $run --out "$work/one" >/dev/null || complain "one process"
tables "$work/one" >"$work/one.csv"
for count in 2 5; do
  processes $count "$headwave" $run --out "$work/of$count" || { complain "$count processes"; cat "$work/err"; }
  tables "$work/of$count" | cmp -s - "$work/one.csv" || complain "$count processes come to other numbers than one"
done

# What goes wrong anywhere is one line of ours, and nothing stays.
fails() {
  text=$1
  shift
  processes "$@" && complain "expected '$text', and it ended well"
  [ "$(grep -a -c '^headwave' "$work/err")" = 1 ] && grep -aqF -- "$text" "$work/err" || { complain "expected '$text' in"; cat "$work/err"; }
  [ ! -e "$work/bad/results.h5" ] || complain "$text: left a result"
}
fails "is already there" 2 "$headwave" $run --out "$work/one"
# Two commands in one run, which the mpirun of Debian 13 (OpenMPI 5.0.7) dies of, whatever they are.
if timeout 60 mpirun -n 1 true : -n 1 true >/dev/null 2>&1; then
  fails "rank 1: is of another run (seed: 2 there, 1 here)" 1 "$headwave" $run --out "$work/bad" : -n 1 "$headwave" $run --seed 2 --out "$work/bad"
  elsewhere=$(echo "$run" | sed "s,--model [^ ]*,--model $work/nowhere,")
  fails "rank 1: $work/nowhere" 1 "$headwave" $run --out "$work/bad" : -n 1 "$headwave" $elsewhere --out "$work/bad"
else
  echo "not tried: processes with other options, which this mpirun cannot start"
fi
fails "mpirun has divided this one" 2 "$headwave" $run --shard 1/2 --out "$work/bad"

# A process that is killed ends the run, which is gone on with, by as many processes or one.
long="$(echo "${run%--only*}" | sed 's/--documents 40/--documents 160/') --no-figures --threads 1 --draws 3 --resamples 5 --keep-every 0"
"$headwave" $long --out "$work/long" >/dev/null || complain "a longer run"
tables "$work/long" >"$work/long.csv"
for count in 4 1; do
  rm -rf "$work/killed"
  processes 4 "$headwave" $long --out "$work/killed" &
  waited=0
  while [ ! -e "$work/killed/results.unfinished" ] && [ $waited -lt 300 ]; do sleep 0.1; waited=$((waited + 1)); done
  # The youngest of them: the leader was the first to start.
  kill -9 "$(for process in /proc/[0-9]*; do
    tr '\0' ' ' <"$process/cmdline" | grep -q "^$headwave .*--out $work/killed" && echo "${process#/proc/}"
  done 2>/dev/null | sort -n | tail -n 1)" 2>/dev/null
  wait $!
  [ $? != 124 ] || failed=1
  [ ! -e "$work/killed/results.h5" ] || echo "the run was over before it could be killed"
  processes $count "$headwave" $long --resume --out "$work/killed" || { complain "$count processes do not go on"; cat "$work/err"; }
  tables "$work/killed" | cmp -s - "$work/long.csv" || complain "$count processes that went on come to other numbers"
done
[ $failed = 0 ] && echo "ranks: one answer"
exit $failed
