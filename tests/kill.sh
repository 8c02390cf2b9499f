#!/bin/sh
# Programs that are killed at any instant, again and again: a sweep and a study of jobs with a store, one rank of
# a sweep on two, export and merge. A store opens at once and has rows of a plain run alone; files are the old
# ones, or the new, and nothing lies beside them; who goes on ends with the bytes of a run that was left alone.
#     FOLDER=build/release KILLS=25 SEED=8 SUBJECTS="sweep place rank export merge" tests/kill.sh
# SUBJECTS: some of these; each has its share of the kills.
# The sanitizers make a program so slow that few kills would hit it at work: ten there. 1,000 and 50 with SOAK=1.
set -eu
cd "$(dirname "$0")/.."
folder=${FOLDER:-build/release}
weft=$PWD/$folder/weft
case $folder in
*asan*) few=10 many=50 points=1000 seeds=10 ;;
*) few=25 many=1000 points=8000 seeds=200 ;;
esac
[ -z "${SOAK-}" ] || few=$many
kills=${KILLS:-$few}
seed=${SEED:-8}
subjects=${SUBJECTS:-sweep place rank export merge}
. tests/sweep_study.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in" "$work/at"
cd "$work/in"

die() {
    echo "tests/kill.sh: $what, after $killed kills: $*"
    tail -n 5 "$work"/in/*.log 2>/dev/null || :
    exit 1
}

# 0.2 ms a point or so, and rows are committed a few times a second: a sweep lives through most of the kills.
write_sweep_study sweep.yaml "$points"
cat >place.yaml <<..
name: small
network: "ring:4@100 switch:4@50"
model: slots
slots: 40
jobs: { count: 12, zeta: [60, 120], hop_GBps: 0.25 }
schedulers: [drf, las, fifo]
seeds: $seeds
vary: { jobs.count: [8, 12, 16, 20] }
..
killed=0
what="a plain run"
for study in sweep place; do
    "$weft" sweep $study.yaml -j 2 -o $study.csv 2>plain.log || die "$study ends with code $?"
    sed '/^#/d' $study.csv | sort >"$study.sorted"
done
[ "$(grep -c -v '^#' sweep.csv)" = $((points + 1)) ] || die "not $points rows"
for i in 1 2 3; do "$weft" sweep sweep.yaml -j 2 --store "s$i.db" --shard $i/3 -q 2>plain.log || die "shard $i ends with code $?"; done
"$weft" merge two.db s1.db s2.db -q 2>plain.log || die "merge ends with code $?"
"$weft" export two.db -q -o two.csv || die "export ends with code $?"
"$weft" merge all.db s1.db s2.db s3.db 2>plain.log || die "merge ends with code $?"
"$weft" export all.db -o all.csv || die "export ends with code $?"
cmp sweep.csv all.csv || die "a merged store has other rows"

# From 0 to 1, more than are needed, for those that come too late.
awk -v seed="$seed" -v n="$kills" 'BEGIN { srand(seed); for (i = 0; i < 40 * n + 400; i++) printf "%.6f\n", rand() }' >instants
exec 3<instants

# now: in seconds.
now() { date +%s.%N; }
# instant_in S: a moment of the next S seconds.
instant_in() {
    read -r share <&3 || die "no instants are left"
    instant=$(awk -v share="$share" -v s="$1" 'BEGIN { printf "%.4f", share * s }')
}

# kill_one COMMAND: killed at $instant; $code as a shell has it: 137, or that of a command that ended before.
kill_one() {
    "$@" 2>run.log &
    pid=$!
    sleep "$instant"
    kill -9 $pid 2>/dev/null || :
    code=0
    wait $pid 2>/dev/null || code=$?
    [ $code = 137 ] || return 0
    killed=$((killed + 1))
    n=$((n + 1))
}

# ranks_of PID: the processes that mpirun started.
ranks_of() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$1" '$2 == "(weft)" && $4 == parent { print $1 }'
}

# has_begun PID: one of its ranks has the store open.
has_begun() {
    for rank in $(ranks_of "$1"); do
        for fd in "/proc/$rank/fd"/*; do
            case $(readlink "$fd" 2>/dev/null) in */s.db) return 0 ;; esac
        done
    done
    return 1
}

# kill_rank COMMAND: one of two ranks, and mpirun ends the other. Not before MPI is up: Open MPI 4 hangs for ever
# when a rank dies as it says hello.
kill_rank() {
    mpirun -n 2 --oversubscribe --bind-to none "$@" 2>run.log &
    pid=$!
    until has_begun $pid || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
    sleep "$instant"
    victim=$(ranks_of $pid | sed -n "$((1 + n % 2))p")
    hit=
    [ -z "$victim" ] || ! kill -9 "$victim" 2>/dev/null || hit=yes
    code=0
    wait $pid 2>/dev/null || code=$?
    [ -n "$hit" ] && [ $code != 0 ] || return 0
    killed=$((killed + 1))
    n=$((n + 1))
    code=137
}

# opens STORE SORTED: a store that was just killed, with the rows of a plain run. While columns that are blank in
# all rows so far are left out, lines differ.
opens() {
    code=0
    "$weft" export "$1" -o part.csv -f 2>open.log || code=$?
    if [ $code != 0 ]; then
        [ $code = 3 ] || die "export ends with code $code"
        grep -q -e 'has nothing in it yet' -e 'is empty, not' -e 'no such store' open.log || die "the store does not open"
        return 0
    fi
    sed '/^#/d' part.csv | sort >part.txt
    grep -q -x -F -e "$(grep -v '^#' part.csv | head -n 1)" "$2" || return 0
    comm -23 part.txt "$2" >other.txt
    [ ! -s other.txt ] || die "the store has rows that a plain run has not: $(head -n 1 other.txt)"
}

# has_alone NAME..: of all names that may be in at/, no others are.
has_alone() {
    for file in ../at/* ../at/.[!.]*; do
        [ -e "$file" ] || continue
        for name in "$@"; do [ "$file" != "../at/$name" ] || continue 2; done
        die "leaves $file behind"
    done
}

# go_on STUDY: with what a kill left; then the bytes are those of a plain run.
go_on() {
    "$weft" sweep "$1.yaml" --store ../at/s.db -j 2 -o got.csv -f 2>last.log || die "the run that goes on ends with code $?"
    cmp "$1.csv" got.csv || die "rows differ from those of a run that was left alone"
    # Of a rank's own file one process only reads what a kill left. Names have no spaces.
    # shellcheck disable=SC2086
    has_alone s.db ${logged#* s.db-journal}
    rm -f ../at/*
}

# kill_study STUDY KILL COMMAND..: with its store.
kill_study() {
    study=$1 by=$2 stores=s.db
    shift 2
    [ "$by" != kill_rank ] || stores="s.db s.1.db"
    logged=
    for store in $stores; do logged="$logged $store $store-wal $store-shm $store-journal"; done
    while [ $n -lt "$most" ]; do
        instant_in 0.5
        $by "$@"
        opens ../at/s.db "$study.sorted"
        # shellcheck disable=SC2086
        has_alone $logged
        # It came to its end before: look at it, and begin again.
        [ $code != 0 ] || go_on "$study"
    done
    go_on "$study"
}

# wants SUBJECT SHARE: is it asked for? Its kills, of a hundred, are then $most.
wants() {
    what=$1
    n=0
    most=$(((kills * $2 + 50) / 100))
    case " $subjects " in *" $1 "*) ;; *) return 1 ;; esac
}

# time_of COMMAND: $took seconds when nobody kills it.
time_of() {
    start=$(now)
    "$@" 2>plain.log || die "ends with code $?"
    took=$(awk -v a="$start" -v b="$(now)" 'BEGIN { print b - a }')
}

kill_exports() {
    time_of "$weft" export all.db -o got.csv -f
    while [ $n -lt "$most" ]; do
        rm -f ../at/*
        # A file that is there is replaced, or there is none yet, by turns.
        [ $((n % 2)) = 0 ] || cp two.csv ../at/out.csv
        instant_in "$took"
        kill_one "$weft" export all.db -o ../at/out.csv -f
        has_alone out.csv
        [ ! -e ../at/out.csv ] || cmp -s all.csv ../at/out.csv || cmp -s two.csv ../at/out.csv ||
            die "leaves a file that is neither the old nor the new one"
    done
}

kill_merges() {
    time_of "$weft" merge -f got.db s1.db s2.db s3.db
    while [ $n -lt "$most" ]; do
        rm -f ../at/*
        [ $((n % 2)) = 0 ] || cp two.db ../at/out.db
        instant_in "$took"
        kill_one "$weft" merge -f ../at/out.db s1.db s2.db s3.db
        has_alone out.db
        [ -e ../at/out.db ] || continue
        "$weft" export ../at/out.db -q -o got.csv -f 2>open.log || die "the merged store does not open"
        cmp -s all.csv got.csv || cmp -s two.csv got.csv || die "a store has other rows than the old and the new one"
    done
    rm -f ../at/*
    "$weft" merge ../at/out.db s1.db s2.db s3.db 2>last.log || die "a merge that is left alone ends with code $?"
    "$weft" export ../at/out.db -o got.csv -f
    cmp all.csv got.csv || die "a merge that is left alone has other rows"
}

! wants sweep 30 || kill_study sweep kill_one "$weft" sweep sweep.yaml --store ../at/s.db -j 2
! wants place 20 || kill_study place kill_one "$weft" place place.yaml --store ../at/s.db -j 2
# Least, as they take longest.
! wants rank 10 || kill_study sweep kill_rank "$weft" sweep sweep.yaml --store ../at/s.db -j 1
! wants export 20 || kill_exports
! wants merge 20 || kill_merges
echo "tests/kill.sh: the same rows after $killed kills of $subjects"
