#!/bin/sh
# The figures of docs/ownership.md, by the commands that stand above them. FIGURES=FOLDER keeps them there:
# FIGURES=$PWD/docs/figures tests/cli/run.sh build/release/weft tests/cli/ownership.sh
docs=$PWD/docs
ln -s "$PWD/configs" "$TMPDIR/configs"
cd "$TMPDIR" || exit 1
weft() { "$WEFT" "$@" -q; }
awk '/^## / { figures = /Figures/ } /^```/ { inside = !inside; next } figures && inside' "$docs/ownership.md" >commands.sh
# shellcheck source=/dev/null
. ./commands.sh
for figure in *.svg; do
    [ -z "$FIGURES" ] || cp "$figure" "$FIGURES/$figure"
    cmp -s "$figure" "$docs/figures/$figure" && echo "docs/figures/$figure is what its command draws" || echo "docs/figures/$figure differs"
    grep -q "figures/$figure" "$docs/ownership.md" || echo "$figure is not shown"
done
sed -n 's,.*](figures/\(.*\)).*,\1,p' "$docs/ownership.md" | while read -r figure; do
    [ -f "$figure" ] || echo "$figure has no command"
done
# Machines drawn and added up by hand: tests/reference/ownership_checks.csv, whose head says how.
cat >checks.yaml <<..
network: { dims: [ { name: node, shape: switch, size: 8, bw_GBps: 400, tier: N }, { name: pod, shape: switch, size: 16, bw_GBps: 50, tier: P } ] }
workload: { step: { compute_ms: 1 } }
split: given
model: alpha-beta
..
grep -v '^#' "$docs/../tests/reference/ownership_checks.csv" | sed 1d | while IFS=';' read -r nodes ms system parts want; do
    weft sweep checks.yaml --of csv --set "vary={network.dims.pod.size: [$nodes]}" --set "workload.step.compute_ms=$ms" --set "system=$system" --set "parts=$parts" 2>/dev/null |
        awk -F, -v want="$want" 'BEGIN { n = split("usd_year usd_npu_h watt_site mtbi_h goodput usd_per_Mtoken", name, " "); split(want, w, ";") }
            /^#/ { next } !head { for (i = 1; i <= NF; i++) col[$i] = i; head = 1; next }
            { for (k = 1; k <= n; k++) { x = $(col[name[k]]) / w[k] - 1; most = (x < 0 ? -x : x) > most ? (x < 0 ? -x : x) : most } print (most <= 1e-3 ? "within 0.1 %" : "off by " most) }'
done
# The numbers of the text, by commands: each stands on the line of the page that has its words.
said() { # WORDS NUMBER..
    words=$1
    shift
    for number; do
        tr '\n' ' ' <"$docs/ownership.md" | grep -qF -- "$words$number" && echo "said: $words$number" || echo "not said: $words$number"
    done
}
owned() { # KEY [OPTIONS]: of the machine of llama3-owned
    key=$1
    shift
    weft sim llama3-owned --split --of json "$@" 2>/dev/null | sed -n "s/.*\"$key\": *\([-+.0-9e]*\).*/\1/p" | head -1
}
round() { LC_ALL=C printf "%.$1f" "$2"; }
for like in 'meta-rsc-2024`: two clusters of A100, Alibaba'"'"'s links and switches' 'alibaba-2024`: links and switches alone' 'mlsys-2026`, assumed, not counted' 'meta-2024`, of that very run'; do
    name=${like%%\`*}
    low=$(round 2 "$(owned mtbi_low_h --set "system.like=$name")")
    high=$(round 2 "$(owned mtbi_high_h --set "system.like=$name")")
    said "\`$like" " | $(round 2 "$(owned mtbi_h --set "system.like=$name")") | $([ "$low" = "$high" ] || echo "$low to $high ")|"
done
said '16,384 H100 cost ' "$(round 2 "$(owned usd_npu_h)") USD"
said 'They stop each ' "$(round 2 "$(owned mtbi_h)") h ($(round 2 "$(owned mtbi_h --set system.tolerates.paths=false)") with"
weft explain llama3-owned >explained
said 'Of a token ' "$(round 0 "$(awk '$1 == "by" && $2 == "term" { print $5 }' explained)") % is capital, $(round 0 "$(awk '$1 == "by" && $2 == "item" { print $5 }' explained)") % the NPUs"
weft fail llama3-owned | tr -d , | awk '/^pod: NDR inter-switch/ { printf "one of %.0f000 links up slows the job by %.0f %% for four hours %.0f times a year. That is %.2f %% in all\n", $5 / 1000, $(NF - 3), $7, $NF }
    /^pod: NDR link GPU-leaf/ { printf "the %.0f end links\n", $8 }' | sed 's/of 33000/of 33,000/' >failed
while read -r line; do said '' "$line"; done <failed
meter() { # NETWORK
    weft sweep llama3-owned --of csv --set "vary={network: [$1], \"network.dims[1].size\": [16]}" --set 'workload={step: {compute_ms: 1}}' --set 'system={checkpoint: {size_GB: 5}}' 2>/dev/null |
        awk -F, '/^#/ { next } !at { for (i = 1; i <= NF; i++) if ($i == "watt_site") at = i; next } { print $at }'
}
said 'over 16 nodes or racks): H100 ' "$(round 2 "$(meter hgx-h100 | awk '{ print $1 / 128e3 }')") kW a GPU (published 1.73)"
said 'B200 ' "$(round 2 "$(meter hgx-b200 | awk '{ print $1 / 128e3 }')") (2.17)"
said 'GB200 ' "$(round 2 "$(meter gb200-nvl72 | awk '{ print $1 / 1152e3 }')") (2.10)"
said 'MI355X ' "$(round 2 "$(meter mi355x-1024 | awk '{ print $1 / 128e3 }')") (2.65"
seconds() { owned restart_s "$@" | awk '{ printf "%.1f", $1 - 600 }'; }
said '' "in $(seconds) s, $(seconds --set system.checkpoint.read=each) s where each of 128 replicas reads"
said '' "keeps $(round 3 "$(owned goodput --set 'system.checkpoint.tiers=[{name: peers, share: 0.9, every_steps: 1, restart_s: 120}]')") instead of $(round 3 "$(owned goodput)")"
best() { weft sim goodput --of json "$@" 2>/dev/null | sed -n "s/.*\"$key\": *\([0-9.]*\).*/\1/p" | head -1; }
key=interval_s
twice=$(best | awk '{ print 2 * $1 }')
key=goodput
said 'costs ' "$(echo "$(best) $(best --set "system.checkpoint.interval_s=$twice")" | awk '{ printf "%.1f", 100 * ($1 - $2) }') % of the time at 79,000 h"
