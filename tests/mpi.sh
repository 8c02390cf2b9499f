#!/bin/sh
# Threads, ranks of MPI and shards give the same rows, and a rank that dies loses none that were written.
#     FOLDER=build/release tests/mpi.sh
# The work is that of tests/mpi/fleet_ranks.c, which has no model: what is tested is who does what.
set -eu
cd "$(dirname "$0")/.."
program=$PWD/${FOLDER:-build/release}/tests/mpi/fleet_ranks
weft=$PWD/${FOLDER:-build/release}/weft
. tests/sweep_study.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() {
    echo "tests/mpi.sh: $*"
    tail -n 20 ./*.log 2>/dev/null || :
    exit 1
}

# ranks N FILE OPTIONS..
ranks() {
    n=$1
    shift
    mpirun -n "$n" --oversubscribe --bind-to none "$program" "$@" 2>"$work/run.log"
}

rows_of() {
    grep -hv '^done ' "$@" | sort
}

# same WHAT FILE..: the rows are those of one thread.
same() {
    what=$1
    shift
    rows_of "$@" >got
    cmp -s want got || die "$what: rows differ from those of one thread"
}

# wait_for FILE N: until N batches are written.
wait_for() {
    tries=0
    until [ -f "$1" ] && [ "$(sed -n '/^done /=' "$1" | wc -l)" -ge "$2" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 12000 ] || die "$1: no $2 batches after 240 s"
        sleep 0.02
    done
}

# ---- the same rows, whoever computes them ----

size="units=1501 columns=12"
# The options are words without blanks.
# shellcheck disable=SC2086
{
    "$program" one $size 2>run.log
    rows_of one >want
    [ "$(wc -l <want)" = 1500 ] || die "one thread: $(wc -l <want) rows, need 1500" # 0 + 1 + 2 + 0 + ..
    "$program" eight $size threads=8 2>run.log
    same "8 threads" eight
    for n in 1 2 4; do
        ranks $n "ranks$n" $size || die "$n ranks: end with code $?"
        same "$n ranks" "ranks$n"
    done
    ranks 2 two $size threads=2 || die "2 ranks of 2 threads: end with code $?"
    same "2 ranks of 2 threads" two
    for i in 1 2 3; do
        "$program" "shard$i" $size "shard=$i" shards=3 2>run.log
    done
    same "3 shards" shard1 shard2 shard3
}

# ---- stopped, failed, killed; then on from there ----

"$program" all units=400 2>run.log
rows_of all >want
ranks 3 stopped units=400 us=2000 stop=1 || die "a run that is stopped: ends with code $?"
[ "$(grep -c ', stopped' run.log)" = 3 ] || die "a run that is stopped: not all ranks know"
[ "$(rows_of stopped | wc -l)" -lt "$(wc -l <want)" ] || die "a run that is stopped: all was done"
ranks 3 stopped units=400 || die "a run that goes on: ends with code $?"
same "a run that was stopped" stopped

ranks 3 failed units=400 us=500 fail=200 && die "a unit that fails: ends with code 0"
[ "$(grep -c 'error -4: .*unit 200: fails; choose another' run.log)" = 3 ] || die "a unit that fails: not all ranks say so"

ranks 2 missing/file units=10 && die "a file that cannot be made: ends with code 0"
[ "$(grep -c 'error -2: missing/file: cannot be made' run.log)" = 2 ] || die "a file that cannot be made: not all ranks say so"
grep -q MPI_ABORT run.log && die "a file that cannot be made: ranks do not end together"
for rank in 0 1; do
    ranks 2 alone units=10 alone=$rank && die "rank $rank fails alone: mpirun ends with code 0"
    [ "$(grep -c 'fails alone' run.log)" = 1 ] || die "rank $rank fails alone: is not said"
done

# mpirun tells all ranks to end, and waits for them.
mpirun -n 2 --oversubscribe --bind-to none "$program" interrupted units=400 us=20000 2>run.log &
pid=$!
wait_for interrupted 3
kill -INT $pid
wait $pid || :
[ "$(grep -c ', stopped' run.log)" = 2 ] || die "mpirun that is interrupted: not all ranks end as they should"
ranks 2 interrupted units=400 || die "a run that goes on: ends with code $?"
same "a run that was interrupted" interrupted

for kill in "0 2" "1 3" "1 9"; do
    rank=${kill% *}
    file=killed${kill#* }
    mpirun -n 2 --oversubscribe --bind-to none "$program" "$file" units=400 us=10000 2>run.log &
    pid=$!
    wait_for "$file" "${kill#* }"
    kill -9 "$(cat "$file.$rank")"
    killed=$(date +%s)
    if wait $pid; then die "rank $rank is killed: mpirun ends with code 0"; fi
    [ $(($(date +%s) - killed)) -le 60 ] || die "rank $rank is killed: the others do not end within 60 s"
    ranks 2 "$file" units=400 || die "rank $rank was killed: the run that goes on ends with code $?"
    same "rank $rank was killed" "$file"
done

# ---- what a user reads when a rank is killed: one line, with mpirun -q ----

cat >study.yaml <<EOF
network:
  dims: [ { name: node, shape: ring, size: 4, link_usd_per_GBps: 4 }, { name: pod, shape: ring, size: 8, link_usd_per_GBps: 8 } ]
objective: perf_per_cost
workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 80, group: all } } ] } }
vary: { total_GBps: { from: 100, to: 500, points: 4000 }, network.dims.pod.size: { from: 2, to: 100, points: 99 } }
EOF
# weft_is_killed: mpirun ends the first rank a second after it has asked it to end; what it said meanwhile is in run.log.
weft_is_killed() {
    rm -f killed.* pid.*
    # shellcheck disable=SC2016 # for the shell of each rank
    mpirun -q -n 2 --oversubscribe --bind-to none sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$0" sweep study.yaml -j 1 --store killed.db' \
        "$weft" 2>run.log &
    pid=$!
    tries=0
    # Rows of the second rank: before there are any the first waits for it, and sees no signal.
    until [ "$(stat -c %s killed.1.db-wal 2>/dev/null || echo 0)" -gt 50000 ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 12000 ] || die "weft: has no store after 240 s"
        sleep 0.02
    done
    kill -9 "$(cat pid.1)"
    if wait $pid; then die "weft, rank 1 is killed: mpirun ends with code 0"; fi
    "$weft" export killed.db -o killed.csv -f 2>export.log || die "weft, rank 1 is killed: its store does not open"
}
# On a busy machine a second may be too short: the best of eight.
for try in 1 2 3 4 5 6 7 8; do
    weft_is_killed
    [ "$(wc -l <run.log)" -le 1 ] || die "weft, rank 1 is killed: says more than a line"
    [ ! -s run.log ] || break
done
grep -q 'stopping, but a rank has not ended: .* what is done is in killed.db' run.log || die "weft, rank 1 is killed: is not said, $try times"

# ---- started in a way that cannot work ----

refused() {
    what=$1
    shift
    env "$@" "$program" refused 2>run.log && die "$what: is not refused"
    [ "$(wc -l <run.log)" = 1 ] || die "$what: is more than a line"
    grep -q 'use.*srun --mpi=pmix' run.log || die "$what: does not say what is needed"
}
refused "srun without an MPI plug-in" SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2
refused "mpirun of another MPI" PMI_RANK=0 PMI_SIZE=2
env SLURM_JOB_ID=7 SLURM_NTASKS=2 "$program" batch units=5 2>run.log || die "inside sbatch, without srun: is refused"
