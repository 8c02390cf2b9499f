#!/bin/sh
# Is the first line of a commit message one that a stranger understands in a list of them? At most 72 characters, no full stop, no "wip".
#     tests/check_title.sh FILE         the message in FILE (a commit-msg hook); "-": standard input
set -eu
title=$(sed -n '/^#/d; /./{p;q;}' "$1")
fault=
case $title in
'') fault="is empty" ;;
[Ww][Ii][Pp]*) fault="is \"wip\", expected what changes for whom" ;;
Merge\ *) fault="is a merge, expected a rebase" ;;
fixup!* | squash!*) exit 0 ;;
*.) fault="ends with a full stop" ;;
esac
[ ${#title} -le 72 ] || fault="has ${#title} characters, expected at most 72"
[ -z "$fault" ] || { echo "commit title \"$title\" $fault" >&2; exit 1; }
