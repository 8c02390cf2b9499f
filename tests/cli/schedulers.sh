#!/bin/sh
# Schedulers that see the network, types of GPUs and power: their examples in configs/clusters, and what is wrong.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
echo "== rings at a half and a quarter of their bandwidth"
run place gadget-links --set seeds=2 --set 'vary={racks.rack_GBps: [10, 0.6]}'
run place gadget-links --set seeds=1 --set jobs.tau.inner_GBps=1
