#!/bin/sh
# The program as a user's shell and manual meet it, installed into an empty folder: pages without a fault of roff, every option
# and key in them, completion as bash, zsh and fish do it. What is not on this machine is skipped with a line. Needs $FOLDER, a build.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
top=$scratch/opt/weft
version=$(sed -n 's/^#define WEFT_VERSION  *"\(.*\)"/\1/p' include/weft.h)
DESTDIR=$scratch PREFIX=/opt/weft tests/install.sh install "$FOLDER" "$version"
PATH=$top/bin:$PATH
# The build knows another place of its data.
WEFT_DATA=$top/share/weft/configs
export PATH WEFT_DATA
cd "$scratch"

fail() {
    echo "tests/installed.sh: $*"
    exit 1
}
has() {
    command -v "$1" >/dev/null || { echo "tests/installed.sh: no $1 here: skipped"; return 1; }
}

# ---- manual ----
man=$top/share/man
[ "$(find "$man" -type f | wc -l)" = $(($(weft --help | grep -c '^  [a-z]') + 2)) ] || fail "a page for each command, weft.1 and weft-keys.5"
if grep -l '^\.\\" more$' "$man"/*/*; then fail "a page lacks its paragraph of docs/man"; fi
for more in "$here"/docs/man/*.more; do
    ls "$man"/man?/"$(basename "$more" .more)" >/dev/null || fail "$more is of no page"
done
if has mandoc; then
    mandoc -Tlint "$man"/*/* >lint.txt || { cat lint.txt; fail "mandoc finds faults"; }
fi
if has groff; then
    groff -man -ww -Tutf8 "$man"/*/* 2>&1 >/dev/null | tee lint.txt
    [ ! -s lint.txt ] || fail "groff warns"
fi
weft --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' >commands
while read -r command; do
    grep -q "weft.-$command (1)" "$man/man1/weft.1" || fail "weft.1 lacks $command"
    sed 's/\\-/-/g; s/\\f.//g' "$man/man1/weft-$command.1" >page
    weft "$command" --help | sed -n 's/^  .*\(--[a-z][A-Za-z-]*\).*  .*/\1/p' | while read -r option; do
        grep -q -e "^$option\|, $option" page || fail "weft-$command.1 lacks $option"
    done
done <commands
weft keys --of csv | awk -F, '!/^#/ && NR > 1 { print $2 }' | sort -u >names
sed 's/\\-/-/g' "$man/man5/weft-keys.5" >page
while read -r key; do
    [ "$key" = key ] || grep -q "^.fB$key.fR  (" page || fail "weft-keys.5 lacks $key"
done <names

# ---- completion ----
# What each line may become, its last word being the one under the cursor: a word that is offered, and one that is not.
cat >asked <<'..'
sw|sweep|sim
help fr|front|--help
front x.csv --by time_s,co|cost_usd|usd_per_Mtoken
plot spee|speedup|main.csv
plot speedup main|main.csv|speedup
sweep --sto|--store|--shard
topo --of=|csv|yaml
sim dgx-h100-p|dgx-h100-pod|dgx-h100-superpod
alloc x.yaml --set obj|objective=|constraints=
alloc x.yaml --set objective=perf|perf_per_cost|time
alloc x.yaml --set network.dims[0].laten|latency_ns=|bw_GBps=
alloc dgx-h100-superpod --set network.dims.|network.dims.node.|network.dims.dim1.
topo dgx-h100-pod --set dims.node.bw|dims.node.bw_GBps=|dims.node.size=
alloc x.yaml --set network.npu=h100-8|h100-80gb|h200
gossip x.yaml --set me|methods=|network=
import --trace ph|philly|pai
import --trace csv --profile llm|llm-2024|main.csv
keys tape|taper|tapes
keys --schema gos|gossip|study
..
touch main.csv x.yaml
# ask_SHELL LINE: what the shell offers, a line each.
ask_bash() {
    # shellcheck disable=SC2016 # bash expands them
    bash --norc -c '. "$1"; COMP_LINE="weft $2"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($COMP_LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _weft; printf "%s\n" "${COMPREPLY[@]}"' bash "$top/share/bash-completion/completions/weft" "$1"
}
ask_fish() {
    XDG_CONFIG_HOME=$scratch XDG_DATA_HOME=$scratch HOME=$scratch fish --no-config -c \
        "source '$top/share/fish/vendor_completions.d/weft.fish'; complete -C 'weft $1'" | sed 's/\t.*//'
}
# zsh shows its choices to a terminal alone.
ask_zsh() {
    zsh -f "$here/tests/complete.zsh" "$top/share/zsh/site-functions" "weft $1"
}
for shell in bash zsh fish; do
    has $shell || continue
    while IFS='|' read -r line yes no; do
        ask_$shell "$line" >offered
        # The whole word, or what is behind the last = of it, which the shell puts in.
        word=${line##* }
        start=${word%"${word##*[=,.]}"}
        grep -qxF -e "$yes" -e "$start$yes" offered || { cat offered; fail "$shell: 'weft $line' does not offer $yes"; }
        if grep -qxF -e "$no" -e "$start$no" offered; then fail "$shell: 'weft $line' offers $no"; fi
    done <asked
done
