#!/bin/sh
# Of the given sources, those that differ from the commit before: tests/changed.sh base/num.c ...
# "Before" is where this branch left origin/main; on main itself the parent commit; where neither is known (a tarball,
# a clone of depth 1) everything counts as changed. A header stands for the source of its name and for one that
# includes it.
set -eu
cd "$(dirname "$0")/.."

before=$(git merge-base HEAD origin/main 2>/dev/null || :)
if [ -z "$before" ] || [ "$before" = "$(git rev-parse HEAD)" ]; then
    before=$(git rev-parse -q --verify HEAD^ 2>/dev/null || :)
fi
if [ -z "$before" ]; then
    printf '%s\n' "$@"
    exit 0
fi
sources=$(mktemp)
changed=$(mktemp)
trap 'rm -f "$sources" "$changed"' EXIT
printf '%s\n' "$@" | sort -u >"$sources"
{
    git diff --name-only --diff-filter=d "$before" -- '*.c' '*.h'
    git ls-files --others --exclude-standard -- '*.c' '*.h'
} | while read -r file; do
    echo "$file"
    case $file in
    *.h)
        echo "${file%.h}.c"
        xargs grep -l "include \"$file\"" <"$sources" | head -n 1
        ;;
    esac
done | sort -u >"$changed"
comm -12 "$sources" "$changed"
