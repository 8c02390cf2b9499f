#!/bin/sh
# What may happen to a sweep: an interrupt, within one long point too, a full disk, a second sweep on its store,
# ranks of MPI, a rank that dies. Each says what is the matter, leaves a store that is whole, and ends with the rows of a plain run.
#     FOLDER=build/release SOAK= tests/sweep_safe.sh
# SOAK=1: more ranks, both of two ranks die, and as many points as this machine works on for five seconds.
# Nothing here rests on how fast the machine is: work grows until a signal finds it under way, and is measured in processor time.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
folder=${FOLDER:-build/release}
weft=$PWD/$folder/weft
case $folder in
*asan*) points=500 ;;
*) points=3000 ;;
esac
rank_counts=2 victims=2 least_ticks=120
[ -z "${SOAK-}" ] || { rank_counts="2 4" && victims="1 2" && least_ticks=1000; }
. tests/sweep_study.sh

work=$(mktemp -d)
mounted=
clean() {
    [ -z "$mounted" ] || umount "$work/small"
    rm -rf "$work"
}
trap clean EXIT
cd "$work"

die() {
    echo "tests/sweep_safe.sh: $*"
    tail -n 5 ./*.log 2>/dev/null || :
    exit 1
}

# Hundredths of a second of processor time: of a process that runs, of all that have ended (not in a subshell, which has its own).
ticks_of() {
    awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
}
ticks_of_ended() {
    times >ticks
    awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%d", sum * 100 }' ticks
}

# What comes in between after the first commit must find a sweep at work, on a fast machine too: as many points as take a little
# more than enough, by the time that fewer took.
while :; do
    write_sweep_study study.yaml "$points"
    ticks_of_ended >before
    "$weft" sweep study.yaml -j 2 -o want.csv -f 2>plain.log || die "a plain run: ends with code $?"
    ticks_of_ended >after
    took=$(($(cat after) - $(cat before)))
    [ $took -lt $least_ticks ] || break
    points=$((points * (least_ticks + least_ticks / 8) / (took + 1) + 1))
done

# sweep OPTIONS..: to its end; what it says is in run.log.
sweep() {
    "$weft" sweep study.yaml -j 2 "$@" 2>run.log
}

# ends_right WHAT STORE: the sweep goes on there and has the rows of a plain run.
ends_right() {
    what=$1
    sweep --resume --store "$2" -o got.csv -f || die "$what: the sweep that goes on ends with code $?"
    cmp want.csv got.csv || die "$what: rows differ from those of a plain run"
}

# says WHAT LINES TEXT: run.log has so many lines, and the text. A slow machine also says how far it is.
says() {
    lines=$(grep -vc ': [0-9]* s\($\|: \)' run.log)
    [ "$lines" = "$2" ] || die "$1: says $lines lines, need $2"
    grep -q -e "$3" run.log || die "$1: does not say \"$3\""
}

# wait_for STORE: until rows are written: a store without rows is a fraction of this, all in its log.
wait_for() {
    tries=0
    until [ "$(stat -c %s "$1-wal" 2>/dev/null || echo 0)" -gt 100000 ]; do
        tries=$((tries + 1))
        [ $tries -lt 12000 ] || die "$1: has no rows after 120 s"
        sleep 0.01
    done
}

# wait_until_it_listens PID: a signal that comes before the program catches SIGTERM ends it, and slow machines start slowly.
wait_until_it_listens() {
    tries=0
    until grep -qs -e '^State:.Z' -e '^SigCgt:.*[4-7c-f]...$' "/proc/$1/status" || [ ! -e "/proc/$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 12000 ] || die "does not catch SIGTERM after 120 s"
        sleep 0.01
    done
}

# was_done CODE: of a command that has caught SIGTERM before. When its study is done it does so no more, and may then take a
# while to end: with code 143, as nothing was left to interrupt.
was_done() {
    [ "$1" = 0 ] || [ "$1" = 143 ]
}

# ---- an interrupt ----

# A shell starts background commands with SIGINT ignored. Batch systems send SIGTERM at the time limit.
for signal in INT TERM; do
    env --default-signal=INT "$weft" sweep study.yaml -j 2 --store $signal.db 2>run.log &
    pid=$!
    wait_for $signal.db
    kill -$signal $pid
    code=0
    wait $pid || code=$?
    [ $code = 130 ] || die "SIG$signal: ends with code $code, need 130"
    says SIG$signal 1 "interrupted, [0-9,]* of [0-9,]* points are in $signal.db; resume with the same command"
    set -- $signal.db*
    [ $# = 1 ] || die "SIG$signal: leaves files beside the store"
    ends_right SIG$signal $signal.db
    says SIG$signal 2 "$signal.db: resuming after [0-9,]* points"
done

# ---- an interrupt within one long point ----

# gives_up COMMAND STUDY OPTIONS..: write_STUDY writes the study, with twice as much to do in one point for each time that the command
# ends within 0.3 s. Then SIGTERM after 0.3 s ends it at once. What it still does is measured in processor time, of its two
# threads, as the machine may have others to see to; one that sleeps is found by the clock.
gives_up() {
    scale=1
    until is_interrupted "$@"; do
        scale=$((scale * 2))
        [ $scale -le 2048 ] || die "$1: ends within 0.3 s, however much there is to do"
    done
    [ $(($(date +%s) - start)) -lt 30 ] || die "$1: SIGTERM within a point: ends after more than 30 s"
    took=$(($(cat after) - $(cat before) - $(cat told)))
    [ $took -lt 200 ] || die "$1: SIGTERM within a point: ends after another $took hundredths of a second of work"
}

# is_interrupted COMMAND STUDY OPTIONS..: false where the command ended before the signal came.
is_interrupted() {
    rm -f long.db*
    "write_$2" $scale >"$2.yaml"
    command=$1 study=$2
    shift 2
    ticks_of_ended >before
    "$weft" "$command" "$study.yaml" -j 2 "$@" 2>run.log &
    pid=$!
    wait_until_it_listens $pid
    sleep 0.3
    ticks_of $pid >told 2>/dev/null || :
    start=$(date +%s)
    kill -TERM $pid 2>/dev/null || :
    code=0
    wait $pid || code=$?
    ticks_of_ended >after
    ! was_done $code || return 1
    [ $code = 130 ] || die "$command: SIGTERM within a point: ends with code $code, need 130"
    # The signal may also come when all is done and only rows are left to write.
    ! grep -q 'interrupted, \([0-9]*\) of \1 ' run.log
}

# A long point beside a short one.
write_long() {
    cat <<..
network: "ring:16@100 ring:16@50 ring:16@50"
model: flow
split: given
workload: { name: all, step: { sum: [ { all-reduce: { size_MB: 100, group: all } } ] } }
vary: { simulation.chunks: [ 1, $((4 * $1)) ] }
..
}
gives_up sweep long --store long.db
says "SIGTERM within a point" 1 "interrupted, [01] of 2 points are in long.db; resume with the same command"
"$weft" sweep long.yaml -j 2 -o long.csv -f 2>run.log || die "a long point: ends with code $?"
"$weft" sweep long.yaml -j 2 --store long.db -o got.csv -f 2>run.log || die "after SIGTERM within a point: ends with code $?"
cmp long.csv got.csv || die "after SIGTERM within a point: rows differ from those of a plain run"

# So does every other kind, whatever its engine.
write_gossip() {
    cat <<..
network: switch:4@0.001
learner: { hidden: 64, epochs: 100000 }
data: { train: $((4000 * $1)), test: 100, features: 64, classes: 4, hidden: 8 }
methods: [ pair, all-reduce ]
..
}
write_hetero() {
    cat <<..
model: nce
draw: { types: 60 }
job: { examples_M: 100 }
evaluations: $((100000000 * $1))
schedulers: [ genetic, rl-lstm ]
..
}
write_slots() {
    cat <<..
network: "ring:40@100 switch:40@50"
model: slots
slots: 1000000
jobs: { count: $((10000 * $1)), zeta: [60, 120], hop_GBps: 0.25 }
schedulers: [ drf, fifo ]
..
}
write_batch() {
    cat <<..
model: batch
jobs: { sizes: [[1, $((400 * $1))], [2, $((300 * $1))], [4, $((200 * $1))], [8, $((400 * $1))]], iteration_s: 0.02, iterations: 5000, run_s: 100 }
pool: { servers: 300, gpus: [4, 8, 16] }
..
}
gives_up gossip gossip
gives_up hetero hetero
gives_up place slots
gives_up place batch
# The search of a training plan over its splits.
write_search() {
    cat <<..
network:
  name: n
  npu: $top/configs/npus/h100-80gb.yaml
  parts: $top/configs/parts/libra-2024.yaml
  dims:
    - { name: node, shape: switch, size: 8, tier: InterPackage }
    - { name: rack, shape: switch, size: 8, tier: InterNode }
    - { name: pod, shape: switch, size: $((16 * $1)), tier: InterPod }
total_GBps: 500
workload: { model: $top/configs/models/llama3-70b.yaml, parallel: { batch: $((1024 * $1)) }, search: { top: 100 } }
vary: { objective: [ perf_per_cost ] }
..
}
gives_up sweep search

# What an interrupt cut off is no result: it is run when the study goes on. goes_on COMMAND STUDY: 0.3 s after it began, with
# twice as many seeds for each time that it has ended by then.
goes_on() {
    seeds=1
    until runs_are_interrupted "$@"; do
        seeds=$((seeds * 2))
        [ $seeds -le 65536 ] || die "$1: ends within 0.3 s, however many seeds"
    done
    "$weft" "$@" --set seeds=$seeds -j 2 -q -o runs.csv -f 2>run.log || die "$1: a plain run: ends with code $?"
    "$weft" "$@" --set seeds=$seeds -j 2 --store "$1.db" -o got.csv -f 2>run.log || die "$1: goes on and ends with code $?"
    cmp runs.csv got.csv || die "$1: rows differ from those of a plain run"
}
runs_are_interrupted() {
    rm -f "$1.db"*
    "$weft" "$@" --set seeds=$seeds -j 2 --store "$1.db" 2>run.log &
    pid=$!
    wait_until_it_listens $pid
    sleep 0.3
    kill -TERM $pid 2>/dev/null || :
    code=0
    wait $pid || code=$?
    ! was_done $code || return 1
    [ $code = 130 ] || die "$1: SIGTERM: ends with code $code, need 130"
}
cat >gossip_runs.yaml <<..
network: full:8@0.0015
methods: [ pair, all-reduce, local ]
..
cat >hetero_runs.yaml <<..
model: nce
draw: { types: 3 }
job: { examples_M: 100 }
schedulers: [ oracle, anneal, rl-lstm, heuristic ]
evaluations: 20000
..
cat >place_runs.yaml <<..
model: slots
network: "ring:4@100 switch:10@50"
jobs: { count: 60, zeta: [60, 120], hop_GBps: 0.25 }
schedulers: [ gadget, drf, fifo ]
..
goes_on gossip gossip_runs.yaml
goes_on hetero hetero_runs.yaml
goes_on place place_runs.yaml

# ---- two sweeps on one store ----

"$weft" sweep study.yaml -j 1 --store two.db 2>first.log &
pid=$!
wait_for two.db
code=0
sweep --store two.db || code=$?
[ $code = 3 ] || die "a second sweep on a store: ends with code $code, need 3"
says "a second sweep on a store" 1 "two.db: is being written by another process"
kill -9 $pid
wait $pid 2>/dev/null || :
ends_right "a second sweep on a store" two.db

# ---- a full disk ----

# disk_is_full: run.log of a sweep that ended with $code.
disk_is_full() {
    [ "$code" = 1 ] || die "$1: ends with code $code, need 1"
    says "$1" 1 "disk is"
}

# A limit on the size of files, whose signal is ignored, is a disk that is full.
code=0
(
    trap '' XFSZ
    ulimit -f $((points / 25))
    sweep --store limit.db
) || code=$?
disk_is_full "a limit on files"
ends_right "a limit on files" limit.db

mkdir small
if mount -t tmpfs -o "size=$((points * 50))" tmpfs small 2>/dev/null; then
    mounted=yes
    code=0
    sweep --store small/full.db || code=$?
    disk_is_full "a full disk"
    # Still no room: nothing is worse than before.
    code=0
    sweep --store small/full.db || code=$?
    [ $code = 1 ] || die "a disk that is still full: ends with code $code, need 1"
    mount -o remount,size=100m small
    ends_right "a full disk" small/full.db
fi

# ---- ranks ----

ranks() {
    n=$1
    shift
    mpirun -n "$n" --oversubscribe --bind-to none "$weft" sweep study.yaml -j 1 "$@" 2>run.log
}

for n in $rank_counts; do
    ranks "$n" --store "ranks$n.db" -o got.csv -f || die "$n ranks: end with code $?"
    cmp want.csv got.csv || die "$n ranks: rows differ from those of a plain run"
done

# ranks_of PID: the processes that mpirun started.
ranks_of() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$1" '$2 == "(weft)" && $4 == parent { print $1 }'
}

for rank in $victims; do
    mpirun -n 2 --oversubscribe --bind-to none "$weft" sweep study.yaml -j 1 --store "dead$rank.db" 2>run.log &
    pid=$!
    wait_for "dead$rank.db"
    victim=$(ranks_of $pid | sed -n "${rank}p")
    [ -n "$victim" ] || die "a rank that is killed: has ended before"
    kill -9 "$victim"
    if wait $pid; then die "a rank that is killed: mpirun ends with code 0"; fi
    ranks 2 --store "dead$rank.db" -o got.csv -f || die "a rank that was killed: the sweep that goes on ends with code $?"
    cmp want.csv got.csv || die "a rank that was killed: rows differ from those of a plain run"
done

# Each rank has a file of its own; they are read as one, by whoever reads the first.
ranks 2 --store apart.db || die "files of ranks: the sweep ends with code $?"
[ -f apart.1.db ] || die "files of ranks: the second rank has none"
grep -q 'stored in apart.db and 1 files beside it' run.log || die "files of ranks: are not said"
"$weft" export apart.db -o got.csv -f || die "files of ranks: export ends with code $?"
cmp want.csv got.csv || die "files of ranks: rows differ from those of a plain run"
sweep --store plain.db || die "a plain store: ends with code $?"
"$weft" front plain.db -q --of csv | grep -v '^# command' >want.front
"$weft" front apart.db -q --of csv | grep -v '^# command' | sed 's/apart\.db/plain.db/g' >got.front
cmp want.front got.front || die "files of ranks: the front is another one"
mv apart.1.db away
code=0
"$weft" export apart.db -o no.csv 2>run.log || code=$?
[ $code = 4 ] || die "a file of a rank that is missing: ends with code $code, need 4"
says "a file of a rank that is missing" 1 "apart.1.db: is missing"
[ ! -e no.csv ] || die "a file of a rank that is missing: is exported all the same"
"$weft" export apart.db --partial -o got.csv -f 2>run.log || die "a file of a rank that is missing, --partial: ends with code $?"
[ "$(wc -l <got.csv)" -lt "$(wc -l <want.csv)" ] || die "a file of a rank that is missing: all rows are there"
ranks 3 --store apart.db -o got.csv -f || die "a file of a rank was missing: three ranks end with code $?"
cmp want.csv got.csv || die "a file of a rank was missing: rows differ from those of a plain run"

# mpirun tells all ranks to end, and waits for them: of a sweep with twice as many points for each time that all was done by then.
until
    rm -f both*
    mpirun -n 2 --oversubscribe --bind-to none "$weft" sweep study.yaml -j 1 --store both.db 2>run.log &
    pid=$!
    wait_for both.db
    kill -INT $pid
    wait $pid || :
    grep -q "interrupted, [0-9,]* of [0-9,]* points are in both.db" run.log
do
    grep -q "points tried" run.log || die "mpirun that is interrupted: does not say how to go on"
    points=$((points * 2))
    write_sweep_study study.yaml "$points"
done
"$weft" sweep study.yaml -j 2 -o want.csv -f 2>plain.log || die "a plain run: ends with code $?"
ends_right "mpirun that is interrupted" both.db
