#!/bin/sh
# shellcheck disable=SC2016  # backquotes here are those of Markdown
#
# The documents against the program: every command of README.md, docs/tour.md and docs/guide is run, in their order, and every line of
# output shown there must come out of it, in that order ("..." stands for anything left out). Then what the documents
# name must exist (tests, files).
LC_ALL=C
export LC_ALL
root=$PWD
rc=0

weft() { "$WEFT" "$@"; }
last_exit() { return "$rc"; }
# The last digits of a gap are rounding, and differ between compilers; how long a sweep takes differs from run to run.
without_gap() { sed -e 's/gap [0-9][0-9.e+-]*/gap GAP/g' -e 's/estimate: .*)$/estimate: TIME/'; }

# What must not be there. The time in it keeps `make golden` from making it expected.
complain() { echo "WRONG at $(date +%s): $1"; }

# Is every line of $1 in $2, in order? A line may end in "..." for the rest of it.
compare_shown() {
    without_gap <"$1" | awk -v actual="$2" -v wrong="$(complain "README.md, docs/tour.md or docs/guide shows what the command does not print")" '
        function next_line() { have = (getline line <actual) > 0; return have }
        $0 == "..." || $0 == "" { next }
        {
            shown = $0
            cut = sub(/ *\.\.\.$/, "", shown)
            while (next_line())
                if (cut ? index(line, shown) == 1 : line == shown) next
            print wrong ": " $0
            exit
        }'
}

run_command() {
    echo "\$ $1"
    last_exit
    eval "$1" >"$TMPDIR/raw" 2>&1
    rc=$?
    without_gap <"$TMPDIR/raw" | sed "s|$root/||g" >"$TMPDIR/actual"
    cat "$TMPDIR/actual"
    [ "$rc" = 0 ] || echo "exit $rc"
    compare_shown "$TMPDIR/shown$2" "$TMPDIR/actual"
}

# Fenced blocks marked "console" of some documents: "$ " starts a command, "> " continues it, the rest is output. In a folder of
# their own, where the commands of one document follow on those of the one before.
run_documents() {
    folder=$TMPDIR/$1
    shift
    mkdir "$folder"
    rm -f "$TMPDIR"/shown* "$TMPDIR/list"
    awk -v folder="$TMPDIR" -v list="$TMPDIR/list" '
        /^```console$/ { inside = 1; next }
        /^```/         { inside = 0; next }
        !inside        { next }
        /^\$ /         { n++; close(file); file = folder "/shown" n; printf "" >file
                         print substr($0, 3) >list; next }
        /^> /          { print substr($0, 3) >list; next }
                       { print >file }' "$@"
    cd "$folder" || exit 1
    # The guide says that its commands run in any folder.
    [ "$folder" = "$TMPDIR/guide" ] || ln -s "$root/configs" configs
    n=0
    # Without -r: a backslash at the end of a line joins it with the next.
    # shellcheck disable=SC2162
    while IFS= read command <&3; do
        n=$((n + 1))
        run_command "$command" $n
    done 3<"$TMPDIR/list"
    cd "$root" || exit 1
}
run_documents work README.md docs/tour.md
run_documents guide docs/guide/*.md

echo "# tests named in docs/validation.md that do not exist:"
grep -o '`test_[a-z0-9_]*: [A-Za-z0-9_]*`' docs/validation.md | tr -d '`' | sort -u | while IFS=': ' read -r file name; do
    grep -qw -- "$name" "tests/unit/$file.c" 2>/dev/null || complain "$file: $name"
done
grep -o '`test_[a-z0-9_]*[`:]' docs/validation.md | tr -d '`:' | sort -u | while IFS= read -r file; do
    [ -e "tests/unit/$file.c" ] || complain "$file"
done

echo "# files linked from the documents that do not exist:"
for page in README.md CHANGES.md CONTRIBUTING.md docs/*.md docs/guide/*.md; do
    grep -o '](\([^)#:]*\)' "$page" | sed 's/^](//' | sort -u | while IFS= read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] || complain "$page: $link"
    done
done
