#!/bin/sh
# The manual of the YAML keys, from the tables that read them: sections, search, schema.
WEFT_DATA=$PWD/configs
export WEFT_DATA
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
run keys dims
run keys budget --of csv
run keys npu --of json
"$WEFT" keys | grep '^[a-z]' | grep ': '

echo "== search"
run keys taper
run keys dims.taper
run keys dims nics
run keys mtbi
run keys restart_s
run keys double binary tree
run keys oversubscription
run keys tapper
run keys no such words
run keys taper --of csv
"$WEFT" keys latency --of json | grep -c '"key"'

echo "== schema"
for kind in study network npu parts model workload place hetero gossip profile; do
    "$WEFT" keys --schema "$kind" -o "$kind.json" || echo "failed: $kind"
done
"$WEFT" keys --schema | cmp - study.json
cut -c1-300 npu.json
run keys --schema nosuch
run keys --schema study -o npu.json
