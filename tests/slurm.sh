#!/bin/sh
# Sweeps under a real Slurm of one node, in a folder of its own: a job array of shards that are merged, and
# srun with PMIx, give the rows of a plain run.
#     FOLDER=build/release tests/slurm.sh
# Needs root (Slurm's daemons start jobs as others), munge and slurm-wlm, but no systemd; where it cannot be
# started, says so and exits 0. Daemons have ports, a socket and a key of their own, and end with the script.
set -eu
cd "$(dirname "$0")/.."
weft=$PWD/${FOLDER:-build/release}/weft
program=$PWD/${FOLDER:-build/release}/tests/mpi/fleet_ranks
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/sbin:/sbin

skip() {
    echo "tests/slurm.sh: skipped, $*"
    exit 0
}

die() {
    echo "tests/slurm.sh: $*"
    tail -n 20 "$work"/*.log "$work"/*.out 2>/dev/null || :
    exit 1
}

[ "$(id -u)" = 0 ] || skip "it needs root"
for tool in munged mungekey slurmctld slurmd sbatch srun scancel; do
    command -v $tool >/dev/null || skip "$tool is missing (packages slurm-wlm and munge)"
done

# Short: sockets have names of at most 107 bytes.
work=$(mktemp -d /tmp/weft-slurm-XXXXXX)

# ---- up and down ----

# stop FILE: end the daemon that wrote its process id there, and wait for it.
stop() {
    [ -s "$1" ] || return 0
    pid=$(cat "$1")
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 50); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || :
}

down() {
    [ ! -s "$work/slurmctld.pid" ] || scancel --user=root 2>/dev/null || :
    stop "$work/slurmd.pid"
    stop "$work/slurmctld.pid"
    stop "$work/munged.pid"
    cd /
    rm -rf "$work"
}
trap down EXIT
trap 'exit 130' INT TERM

write_conf() {
    # Two ports that no other Slurm is likely to have.
    port=$((20000 + $$ % 20000))
    host=$(hostname -s)
    # "CPUs=2 Boards=1 ..": a node must be described as it is.
    hardware=$(slurmd -C | sed -n 's/^NodeName=[^ ]* //p')
    cat <<..
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 $hardware State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP OverSubscribe=FORCE:8
..
}

up() {
    mkdir -m 755 "$work/state" "$work/spool"
    chmod 755 "$work"
    mungekey --create --keyfile="$work/munge.key" || return 1
    munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
        --log-file="$work/munged.log" --seed-file="$work/munged.seed" 2>"$work/munged.out" || return 1
    write_conf >"$work/slurm.conf"
    SLURM_CONF=$work/slurm.conf
    export SLURM_CONF
    slurmctld >"$work/slurmctld.out" 2>&1 || return 1
    slurmd >"$work/slurmd.out" 2>&1 || return 1
    # A node that does not come up within 20 s will not.
    for _ in $(seq 20); do
        timeout 10 srun -n 1 -I1 true 2>/dev/null && return 0
        sleep 1
    done
    return 1
}

up || {
    tail -n 5 "$work"/*.out "$work"/*.log 2>/dev/null || :
    skip "Slurm does not start here"
}
cd "$work"

# ranks N COMMAND: as tasks of one step; more than the node has cores, if need be.
ranks() {
    n=$1
    shift
    timeout 120 srun --mpi=pmix -n "$n" --overcommit "$@" 2>run.log
}

# array COMMAND: as four jobs, SLURM_ARRAY_TASK_ID being 1 to 4.
array() {
    timeout 240 sbatch --quiet --wait --array=1-4 --overcommit --output="$work/array-%a.out" --wrap "$*"
}

rows_of() {
    grep -hv '^done ' "$@" | sort
}

# ---- who does what, without a model ----

"$program" plain units=1501 2>run.log
rows_of plain >want
[ -s want ] || die "a plain run: no rows"

array "$program part\$SLURM_ARRAY_TASK_ID units=1501 us=200 shard=\$SLURM_ARRAY_TASK_ID shards=4" ||
    die "an array of 4 shards: ends with code $?"
rows_of part1 part2 part3 part4 | cmp -s want - || die "an array of 4 shards: rows differ from those of a plain run"

ranks 2 "$program" two units=1501 us=200 || die "srun of 2 ranks: ends with code $?"
grep -q 'rank 1 of 2' run.log || die "srun of 2 ranks: are not ranks of one run"
rows_of two | cmp -s want - || die "srun of 2 ranks: rows differ from those of a plain run"

timeout 60 srun -n 2 --overcommit "$program" alone units=10 2>run.log && die "srun without PMIx: is not refused"
grep -q 'use srun --mpi=pmix' run.log || die "srun without PMIx: does not say what is needed"

# PMIx ends the others; what the first rank wrote is there, and the next run goes on with it.
(sleep 2 && kill -9 "$(cat killed.1)") &
ranks 2 "$program" killed units=1501 us=10000 && die "a rank that is killed: srun ends with code 0"
wait
[ -n "$(rows_of killed)" ] || die "a rank that is killed: nothing was written"
ranks 2 "$program" killed units=1501 || die "after a rank was killed: ends with code $?"
rows_of killed | cmp -s want - || die "after a rank was killed: rows differ from those of a plain run"

# ---- weft ----

cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  network: ["ring:4 switch:8", "full:4 ring:2 switch:4", "ring:2 ring:2 switch:8"]
  total_GBps: { from: 100, to: 600, points: 101 }
  model: [bandwidth, alpha-beta]
..

# same WHAT STORE: what is in it is what a plain run gave.
same() {
    "$weft" export "$2" --of csv | grep -v '^#' | cmp -s plain.csv - || die "$1: rows differ from those of a plain run"
}

"$weft" sweep study.yaml --store plain.db -q
"$weft" export plain.db --of csv | grep -v '^#' >plain.csv
[ "$(wc -l <plain.csv)" = 607 ] || die "a plain sweep: $(wc -l <plain.csv) lines, need 607"

array "$weft sweep study.yaml --store part\$SLURM_ARRAY_TASK_ID.db --shard \$SLURM_ARRAY_TASK_ID/4" ||
    die "weft sweep, an array of 4 shards: ends with code $?"
"$weft" merge all.db part1.db part2.db part3.db part4.db >/dev/null || die "weft merge: ends with code $?"
same "weft sweep, an array of 4 shards" all.db

"$weft" sweep study.yaml --slurm --jobs 4 >array.sh || die "weft sweep --slurm: ends with code $?"
mkdir study-shards
PATH=$(dirname "$weft"):$PATH timeout 240 sbatch --quiet --wait --overcommit array.sh ||
    die "the script of weft sweep --slurm: ends with code $?"
same "the script of weft sweep --slurm" study-shards

ranks 2 "$weft" sweep study.yaml --store two.db >/dev/null || die "weft sweep, srun of 2 ranks: ends with code $?"
same "weft sweep, srun of 2 ranks" two.db

echo "tests/slurm.sh: arrays and srun give the rows of a plain run"
