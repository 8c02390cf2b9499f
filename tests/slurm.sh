#!/bin/sh
# Sweeps under a real Slurm of one node, in a folder of its own: a job array of shards that are merged, and
# srun with PMIx, give the rows of a plain run.
#     FOLDER=build/release tests/slurm.sh
# Needs root (Slurm's daemons start jobs as others), munge and slurm-wlm, but no systemd; where it cannot be
# started, says so and exits 0. Daemons have ports, a socket and a key of their own, and end with the script.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
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

# srun of N tasks; more than the node has cores, if need be.
step() {
    timeout 120 srun -n "$1" --overcommit "$@"
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

array "$program part\$SLURM_ARRAY_TASK_ID units=1501 us=200 shard=\$SLURM_ARRAY_TASK_ID shards=4" || die "an array of 4 shards: ends with code $?"
rows_of part1 part2 part3 part4 | cmp -s want - || die "an array of 4 shards: rows differ from those of a plain run"

timeout 120 srun --mpi=pmix -n 2 --overcommit "$program" two units=1501 us=200 2>run.log || die "srun of 2 ranks: ends with code $?"
rows_of two | cmp -s want - || die "srun of 2 ranks: rows differ from those of a plain run"
grep -q 'rank 1 of 2' run.log || die "srun of 2 ranks: are not ranks of one run"

timeout 120 srun -n 2 --overcommit "$program" alone units=10 2>run.log && die "srun without PMIx: is not refused"
grep -q 'need srun --mpi=pmix' run.log || die "srun without PMIx: does not say what is needed"

echo OK
