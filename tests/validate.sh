#!/bin/sh
# Write docs/validation.md: a head, then what each program validate_NAME prints, in the order of SECTIONS, then the last
# section of the page as it was, which is written by hand: the tests behind the other pages.
# FOLDER (from the environment) holds the programs. Exit 1 when a row contradicts what it is held against;
# the page then says which.
set -eu
cd "$(dirname "$0")/.."

SECTIONS='splits costs networks ladder nccl models training measured other operators cluster hetero gossip'
FOLDER=${FOLDER:-build/release/tests/validate}
PAGE=docs/validation.md
LC_ALL=C
export LC_ALL

print_head() {
    cat <<'..'
# Validation

Written by `make validate`, all but the [last section](#tests-behind-the-other-pages); do not edit. What weft computes, held against figures from outside, row by row.

The reference tables are in `tests/reference`; its `README.md` says where each comes from. None of them is output of this
program. In short: the exact optima were computed for this project by separate programs (SLSQP, dual ascent, an interior-point
method and cutting planes, which agree to 1e-9) from LIBRA's public inputs (github.com/astra-sim/libra@0044db0, MIT); the published
splits are those of the SC'22 artifact of arXiv 2109.11762v1. Other published figures are named, with their source, where they
are used.

Compared is the objective, not the split: some optima are flat or not unique. Every split of ours comes with a lower bound that no
split of the same problem can beat, and the relative gap between the two, rounded up here to a power of ten (1e-12 or more). Every
answer is checked a second time by `alloc/verify`, which shares no code with the solvers: it takes the answer alone, evaluates the
uncompiled step, every constraint and the price again, and proves the lower bound again from the multipliers. A row whose answer
fails that check is marked wrong.

Units: 1 GB = 1e9 B; bandwidths are what one NPU can send into a dimension, one direction, innermost dimension first.
..
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
contradicted=
print_head >"$new"
for section in $SECTIONS; do
    rc=0
    "$FOLDER/validate_$section" >>"$new" || rc=$?
    case $rc in
    0) ;;
    1) contradicted="$contradicted $section" ;;
    *)
        echo "validate: section $section ended with code $rc" >&2
        exit 2
        ;;
    esac
done
mkdir -p docs
[ -z "$(tail -n 1 "$new")" ] || echo >>"$new"
sed -n '/^## Tests behind the other pages/,$p' "$PAGE" >>"$new"
cat "$new" >"$PAGE"
if [ -n "$contradicted" ]; then
    echo "validate: contradicted in$contradicted; see $PAGE" >&2
    exit 1
fi
echo "validate: all rows hold; wrote $PAGE"
