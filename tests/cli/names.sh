#!/bin/sh
# Names that files bring: shown, never obeyed by a terminal, a spreadsheet or gnuplot.
w=$WEFT
cd "$TMPDIR" || exit

# run TITLE COMMAND...: what it prints must have no control character, no mark that turns text around, no broken
# UTF-8. Only what is found is printed, and the first line that has the name.
run() {
    echo "# $1"
    shift
    "$@" >out.txt 2>&1
    echo "exit $?"
    LC_ALL=C grep -c -a -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' out.txt
    iconv -f UTF-8 -t UTF-8 out.txt >/dev/null || echo "not UTF-8"
    grep -a -m 1 'evil' out.txt
}

cat >study.yaml <<'END'
name: "evil\e[31m\u202e\x9b1mred\nline two"
network:
  name: "evil\e]0;title\a"
  npu: { usd: 100 }
  dims:
    - { name: d, shape: ring, size: 4, tier: "@evil\e" }
    - { name: pod, shape: switch, size: 4, tier: P }
parts:
  name: "evil\e[1m"
  rates: [ { tier: "@evil\e", link_usd_per_GBps: 4 }, { tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: 18 } ]
workload: { name: "=cmd|'/C calc'!evil\e", step: { all-reduce: { size_MB: 8, group: all } } }
total_GBps: 100
END
run "text of a split" "$w" alloc study.yaml
run "of a network" "$w" topo study.yaml
run "of what holds back" "$w" explain study.yaml
run "of a simulation" "$w" sim study.yaml --set network.dims.d.bw_GBps=50 --set network.dims.pod.bw_GBps=50
run "verbose" "$w" alloc -v study.yaml
run "a message" "$w" alloc study.yaml --set "$(printf 'evil\033[31m\342\200\256')=1"
run "a file" "$w" alloc "$(printf 'evil\033[31m.yaml')"
# shellcheck disable=SC2016
run "a column of a table" sh -c 'printf "evil\033[31m,b\n1,2\n" >t.csv && exec "$0" plot xy t.csv --x nope --y b' "$w"

echo "# a CSV has an apostrophe before what a spreadsheet would run, and it goes when it is read"
cat >vary.yaml <<'END'
network: { name: "=1+evil", dims: [ { name: a, shape: ring, size: 4 }, { name: b, shape: switch, size: 4 } ] }
total_GBps: 100
workload: { name: "@evil", step: { all-reduce: { size_MB: 8, group: all } } }
vary: { total_GBps: [100, 200] }
END
"$w" sweep vary.yaml -q -o rows.csv && grep -v '^#' rows.csv | cut -d, -f2-5
"$w" sweep vary.yaml -q --store s.db && "$w" export s.db -o store.csv
grep -v '^#' store.csv >a.csv && grep -v '^#' rows.csv | cmp - a.csv && echo "a store and a sweep say the same"
"$w" front rows.csv --by time_s,total_GBps --of csv | grep -v '^#' | cut -d, -f2-5
"$w" front s.db --by time_s,total_GBps --of json | grep -o '"=1+evil"'
printf "point,a,b,who\n0,1,5,'=x\n1,2,4,''-y\n2,3,3,'plain\n3,4,2,-7\n" >guarded.csv
"$w" front guarded.csv --by min:a,min:b --per "" --of csv | tail -n +1 | grep -v '^#'
"$w" front guarded.csv --by min:a,min:b --per "" --of json | grep -o '"who": "[^"]*"'

echo "# CSV has names as they are, but not for a terminal"
name=$(printf '"\\e[31mevil"')
"$w" sweep vary.yaml -q --of csv --set "network.name=$name" | LC_ALL=C grep -c -a "$(printf '\033')"
script -qec "$w sweep vary.yaml -q --of csv --set 'network.name=$name'" /dev/null | LC_ALL=C grep -c -a "$(printf '\033')"

echo "# gnuplot is run by an absolute name, and nothing of a name is run"
printf '#!/bin/sh\ntouch %s/ran\n' "$TMPDIR" >gnuplot && chmod +x gnuplot
PATH=":.:$PATH" "$w" plot xy rows.csv --x total_GBps --y time_s -v -f -o f.pdf 2>&1 | grep -c '^weft plot: drawn by /'
printf 'set output "%s/ran"\nsystem "touch %s/ran"\n' "$TMPDIR" "$TMPDIR" >.gnuplot
printf "a,\"b';system('touch ran');'\",\"\`touch ran\`\"\n1,2,3\n2,3,4\n" >t.csv
HOME=$TMPDIR GNUTERM=dumb GNUPLOT_LIB=$TMPDIR "$w" plot xy t.csv --x a --y "b';system('touch ran');'" \
    --title "\$(touch ran) \`touch ran\` '.system('touch ran').'
!touch ran" -f -o f.svg && grep -c '</svg>' f.svg
[ ! -e ran ] && echo "nothing ran"

echo "# the program: all relocations read-only before it starts, position-independent, stack and string calls checked"
readelf -lW "$w" | grep -c GNU_RELRO
readelf -dW "$w" | grep -o 'BIND_NOW\|NOW PIE' | sort -u
readelf -lW "$w" | grep 'GNU_STACK' | grep -c 'RW '
if nm -a "$w" | grep -q __asan_init; then
    printf '%s\n' __snprintf_chk __stack_chk_fail # a build for tests has its own checks
else
    readelf -sW --dyn-syms "$w" | grep -o '__stack_chk_fail\|__snprintf_chk' | sort -u
fi
