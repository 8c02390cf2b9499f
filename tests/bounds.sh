#!/bin/sh
# Is every lower bound noticed that says too much? tests/mutants/bounds.txt lists the bounds of all searches: file, function, the line
# that makes the bound with [[what it is => a thousandth more]], and the tests of which one has to fail with that change.
#     tests/bounds.sh BUILD [WORD ...]      BUILD: build/release with its unit tests; WORD: lines that hold one of these alone
# From the environment: JOBS, MUTANT_CC and MUTANT_LIBS (how BUILD compiles and links). Exit 1 if a test passes in spite of a change,
# 2 if a line is no longer in its function or the program does not link.
set -u
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
OMP_NUM_THREADS=1
export LC_ALL OMP_NUM_THREADS

# The file with the change, to standard output; fails unless the function has the line exactly once.
change() {
    awk -v name="$2" -v line="$3" '
        BEGIN {
            from = index(line, "[["); mid = index(line, " => "); to = index(line, "]]")
            was = substr(line, 1, from - 1) substr(line, from + 2, mid - from - 2) substr(line, to + 2)
            is = substr(line, 1, from - 1) substr(line, mid + 4, to - mid - 4) substr(line, to + 2)
        }
        /^[a-z].*\(/ { inside = index($0, name "(") > 0 && $0 !~ /;$/ }
        /^}/ { inside = 0 }
        {
            text = $0
            sub(/^ +/, "", text)
            if (inside && text == was) { print is; n++ } else print
        }
        END { exit n != 1 }' "$1"
}

if [ "$1" = --try ]; then
    build=$2 work=$3
    IFS='	' read -r file name line tests <<END
$(sed -n "$4p" tests/mutants/bounds.txt)
END
    me=$work/build/$4
    mkdir -p "$me/tmp" && TMPDIR=$me/tmp && export TMPDIR
    change "$file" "$name" "$line" >"$me/mutant.c" || { echo "$file: $name() has no such line, or several: $line" && exit 255; }
    # shellcheck disable=SC2086,SC2046 # words
    { $MUTANT_CC -g0 -w -x c -c -o "$me/mutant.o" - <"$me/mutant.c" &&
        $MUTANT_CC -o "$me/unit_tests" $(printf '%s\n' tests/*.c tests/unit/*.c | sed "s,^,$build/,; s,c$,o,") "$me/mutant.o" "$build/objects.a" \
            -lcmocka $MUTANT_LIBS; } 2>"$me/log" || { cat "$me/log" && exit 255; }
    # shellcheck disable=SC2086 # words
    "$me/unit_tests" -x -o "$me" $tests </dev/null >"$me/log" 2>&1
    case $? in
    0) echo "$file: $name(): no test notices $line" | tee -a "$work/live" ;;
    1) echo noticed >>"$work/noticed" ;;
    *) cat "$me/log" && exit 255 ;;
    esac
    rm -rf "$me"
    exit 0
fi

build=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A program finds the files that come with it beside its build folder.
mkdir "$work/build" && ln -s "$PWD/configs" "$work/configs" || exit 2
: >"$work/live" && : >"$work/noticed"
[ $# -gt 0 ] || set -- .
printf '%s\n' "$@" >"$work/words"
grep -n -f "$work/words" tests/mutants/bounds.txt | sed 's/:.*//' |
    xargs -P "${JOBS:-1}" -I '{}' tests/bounds.sh --try "$build" "$work" '{}' || exit 2
echo "bounds: $(wc -l <"$work/noticed") of $(cat "$work/noticed" "$work/live" | wc -l) that say a thousandth more are noticed"
[ ! -s "$work/live" ]
