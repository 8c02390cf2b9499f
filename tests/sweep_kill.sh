#!/bin/sh
# A sweep that is killed at any instant, again and again, ends with the rows of one that was left alone: none
# lost, none doubled, the same bytes.
#     FOLDER=build/release KILLS=30 SEED=8 tests/sweep_kill.sh
# The sanitizers make a program so slow that few kills would hit it at work: five there. 100 and ten with SOAK=1.
set -eu
cd "$(dirname "$0")/.."
folder=${FOLDER:-build/release}
weft=$PWD/$folder/weft
case $folder in
*asan*) few=5 many=10 points=1500 ;;
*) few=30 many=100 points=40000 ;;
esac
[ -z "${SOAK-}" ] || few=$many
kills=${KILLS:-$few}
seed=${SEED:-8}
LC_ALL=C
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() {
    echo "tests/sweep_kill.sh: $*"
    tail -n 5 ./*.log 2>/dev/null || :
    exit 1
}

# 0.2 ms a point or so, and rows are committed a few times a second: a sweep lives through most of the kills.
cat >prices.yaml <<..
name: prices
rates:
  - { tier: A, link_usd_per_GBps: 4 }
  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
..
cat >study.yaml <<..
network:
  dims:
    - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100 }
    - { name: pod, shape: switch, size: 8, tier: B, latency_ns: 500 }
parts: prices.yaml
workload:
  name: toy
  groups: { tp: { size: 4 }, dp: { after: tp } }
  step:
    sum:
      - compute_ms: 1
      - max: [ { compute_ms: 0.2 }, { all-reduce: { size_MB: 80, group: dp } } ]
      - all-to-all: { size_MB: 8, group: tp }
vary:
  model: [ chunk, alpha-beta ]
  objective: [ perf_per_cost, time ]
  total_GBps: { from: 100, to: 600, points: $((points / 4)) }
..
"$weft" sweep study.yaml -j 2 -o want.csv 2>plain.log || die "a sweep that is left alone: ends with code $?"
[ "$(grep -c -v '^#' want.csv)" = $((points + 1)) ] || die "a sweep that is left alone: not $points rows"

# Instants of the kills, in seconds after the start: some before the store is there, some after a few commits.
# More than are needed, for those that come too late.
awk -v seed="$seed" -v n="$kills" 'BEGIN { srand(seed); for (i = 0; i < 3 * n; i++) printf "%.4f\n", 0.5 * rand() }' >instants

# finish: what is left, and the rows of all.
finish() {
    "$weft" sweep study.yaml --store s.db -j 2 -o got.csv -f 2>last.log || die "after $killed kills: ends with code $?"
    cmp want.csv got.csv || die "after $killed kills: rows differ from those of a sweep that was left alone"
    rm -f s.db s.db-wal s.db-shm
}

killed=0
wholes=0
while [ $killed -lt "$kills" ] && read -r instant; do
    "$weft" sweep study.yaml --store s.db -j 2 2>run.log &
    pid=$!
    sleep "$instant"
    kill -9 $pid 2>/dev/null || :
    code=0
    wait $pid 2>/dev/null || code=$?
    case $code in
    137) killed=$((killed + 1)) ;;
    0) # It came to its end before: look at it, and begin again.
        finish
        wholes=$((wholes + 1))
        ;;
    *) die "after $killed kills: ends with code $code" ;;
    esac
done <instants
finish
[ $killed = "$kills" ] || die "$killed kills, need $kills"
echo "tests/sweep_kill.sh: the same rows after $killed kills of $((wholes + 1)) sweeps"
