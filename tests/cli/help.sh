#!/bin/sh
# Help of weft and of every command: from the tables that also drive dispatch and option parsing.
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
run --help
for command in topo alloc sim explain fail check sweep plot import keys; do
    run help "$command"
done
"$WEFT" sweep --help >"$TMPDIR/a" && "$WEFT" help sweep | cmp - "$TMPDIR/a" && echo "help COMMAND = COMMAND --help"
"$WEFT" -h >"$TMPDIR/a" && "$WEFT" help | cmp - "$TMPDIR/a" && echo "help = -h"
run --version
# Of the libraries that run; numbers differ from machine to machine.
"$WEFT" --version --verbose | sed -e 's/ [0-9][0-9.]*$/ VERSION/' -e 's/^\(compiler\|data\|OpenMP\|MPI\|gnuplot\) .*/\1/' | uniq
# Pages of the manual have the codes of --help, each with its meaning.
for page in weft.1 weft-sim.1; do
    "$WEFT" help --man $page | sed -n '/^\.SH EXIT STATUS/,/^\.SH SEE/{/^\.B /{N;s/^\.B \(.*\)\n\(.*\)\./\1 \L\2/p}}' | paste -sd ';' -
done
# What shells are offered: names of the catalogue, tables, keys at the place under way, values.
offered() { echo "? weft $*"; "$WEFT" help --words "$@"; }
offered new --like hgx-h1
offered calibrate --npu b2
offered export x.db --table j
offered sim configs/studies/three-switches.yaml --set dims.
offered sweep configs/studies/libra/gpt3-4d.yaml --set network.dims.p
offered alloc --set workload.parallel.seq_parallel=
offered alloc --set 'dims[0].sh'
offered topo --set 'dims[0].shape=t'
# A disk that is full is said here too.
"$WEFT" help >/dev/full
echo "exit $?"
