#!/bin/sh
# From which share of communication-reduced jobs on does a cheaper spine cost less than 1 %? The example that asks.
echo "== what a spine of 1/8 costs, by the share of jobs that exchange every 64 steps"
"$WEFT" place configs/clusters/diloco-share.yaml -q --set 'schedulers=[fifo+spread]' --of csv -o "$TMPDIR/share.csv"
awk -F, '/^#/ { next }
    !n { for (i = 1; i <= NF; i++) at[$i] = i; n = NF; next }
    $at["network.dims.pod.taper"] == 8 {
        share = $at["jobs.mix.diloco.share"]; x = $at["vs_base_pct"]; half = $at["vs_base_pct_ci"]
        printf "%s %.2f +- %.2f %%\n", share, x, half
        if (x - half > 1) dear = share
        if (x < 1 && mean == "") mean = share
        if (x + half < 1 && from == "") from = share
        if (x > last && last != "") print "wrong: it rises with the share"
        last = x
    }
    END { print "less than 1 % from " mean " on; sure are more up to " dear ", less from " from " on" }' "$TMPDIR/share.csv"
