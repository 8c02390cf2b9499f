#!/bin/sh
# Documents stay short: README.md, docs/*.md and docs/guide/*.md have at most 55,000 words together (docs/validation.md, which a
# program writes, does not count), and no paragraph has more than 120. A paragraph is a block between blank lines; headings, rows of
# tables and code do not count. Prints what is too long, with file and line; exit 1 if anything is.
#     tests/check_docs.sh [FILE...]     with files: only their paragraphs
set -eu
LC_ALL=C
export LC_ALL
max_words=55000
max_paragraph=120
rc=0

# Paragraphs of some files that are too long.
long_paragraphs() {
    awk -v max="$max_paragraph" '
        function close_paragraph() {
            if (words > max) { print file ":" start ": paragraph of " words " words, at most " max; bad = 1 }
            words = 0
        }
        FNR == 1                { close_paragraph(); file = FILENAME; fenced = 0; blank = 1 }
        /^ *(```|~~~)/          { close_paragraph(); fenced = !fenced; blank = 0; next }
        fenced                  { next }
        /^[ \t]*$/              { close_paragraph(); blank = 1; next }
        /^(#|\|)/               { close_paragraph(); blank = 0; next }
        /^    / && words == 0 && (blank || indented) { indented = 1; blank = 0; next }
                                { if (words == 0) start = FNR; words += NF; indented = blank = 0 }
        END                     { close_paragraph(); exit bad }' "$@"
}

if [ $# -gt 0 ]; then
    long_paragraphs "$@"
    exit
fi
cd "$(dirname "$0")/.."
set --
for page in README.md docs/*.md docs/guide/*.md; do
    [ "$page" = docs/validation.md ] || set -- "$@" "$page"
done
words=$(cat "$@" | wc -w)
if [ "$words" -gt "$max_words" ]; then
    echo "README.md:1: README, docs and guide have $words words together, at most $max_words:"
    wc -w "$@"
    rc=1
fi
long_paragraphs "$@" || rc=1
exit $rc
