#!/bin/sh
# The figures of docs/figures, by the commands that the documents show or their studies name (tests/cli/ownership.sh has its own).
# FIGURES=FOLDER keeps them there; ALL_FIGURES=1 draws those that take minutes as well:
# FIGURES=$PWD/docs/figures ALL_FIGURES=1 tests/cli/run.sh build/release/weft tests/cli/drawn.sh
docs=$PWD/docs
ln -s "$PWD/configs" "$TMPDIR/configs"
cd "$TMPDIR" || exit 1
weft() { "$WEFT" "$@" -q; }
# figure NAME ARGUMENTS OF weft plot
figure() {
    name=$1
    shift
    weft plot "$@" -o "$name.svg" || return
    [ -z "$FIGURES" ] || cp "$name.svg" "$FIGURES/$name.svg"
    cmp -s "$name.svg" "$docs/figures/$name.svg" && echo "docs/figures/$name.svg is what its command draws" || echo "docs/figures/$name.svg differs"
    grep -rlq "figures/$name.svg" "$docs"/*.md "$docs/guide" || echo "$name.svg is not shown"
}
# The lines of a study's comment that draw its figure, as words of weft plot.
drawn_by() { sed -n '/^#.*weft plot/,/ -o /s/^# *//p' "configs/studies/$1.yaml" | sed 's/.*weft plot //; s/ \\$//; s/ -o .*//' | tr '\n' ' '; }

weft sweep main -o main.csv
figure pareto pareto main.csv
figure nic nic main.csv
weft sweep rails-taper -o rails.csv
eval "figure rails $(drawn_by rails-taper)"
weft sweep fabrics -o fabrics.csv 2>/dev/null
eval "figure fabrics $(drawn_by fabrics)"
weft sim configs/studies/three-switches.yaml --timeline timeline.csv -o sim.txt
figure timeline timeline timeline.csv --where order=fixed --where order=themis
weft alloc configs/clusters/mix-2026.yaml -o mix.csv
figure mix xy mix.csv --x cost_usd --y jct_s --where fate=run --front min,min --title "Completion of a mix of jobs by the price of GPUs and network"

[ -n "$ALL_FIGURES" ] || exit 0
weft hetero configs/studies/hetero-dlrm.yaml -o d.csv --plans d-plans.csv
figure strip strip d-plans.csv --where scheduler=oracle --where throughput.per_s=8e6
weft place configs/clusters/spine-cost.yaml -o spine.csv
figure place_diff place_diff spine.csv
weft gossip configs/studies/gossip-bandwidth.yaml -o need.csv
figure gossip_need gossip_need need.csv
weft gossip configs/studies/gossip.yaml -o gossip.csv
figure gossip gossip gossip.csv
weft hetero configs/studies/heterps.yaml -o h.csv --curves h-curves.csv
figure learning learning h-curves.csv --where throughput.of=best --where draw.types=16
weft sweep configs/studies/factor-4096.yaml --store factor.db
weft front factor.db --of csv -o front.csv
figure front front front.csv
