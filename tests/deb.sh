#!/bin/sh
# shellcheck disable=SC2016  # what is in single quotes is for the shell inside
# The packages as a user of a bare Debian 12 meets them: installed with apt into a minbase folder, tried there far from the sources,
# removed again without a trace. Needs root, debootstrap and the network; BASE names a minbase folder to copy instead of making one.
#     tests/deb.sh FOLDER      where the .deb files are
set -eu
cd "$(dirname "$0")/.."
packages=$1
root=$(mktemp -d)
trap 'umount "$root/dev" "$root/proc" 2>/dev/null; rm -rf --one-file-system "$root"' EXIT

fail() {
    echo "tests/deb.sh: $*"
    exit 1
}
inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

if [ -n "${BASE-}" ]; then
    cp -a "$BASE/." "$root"
else
    debootstrap --variant=minbase bookworm "$root" >"$packages/debootstrap.log" || fail "debootstrap fails: $packages/debootstrap.log"
fi
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
rm -f "$root"/packages/*-dbgsym_*
# install PACKAGE...
install() {
    inside sh -c "apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $*" >"$packages/tried.txt" 2>&1 ||
        { tail -n 20 "$packages/tried.txt"; fail "does not install: $*"; }
}
inside apt-get update -qq
install '/packages/weft_*.deb'
! inside test -e /usr/lib/python3 || fail "weft alone brings Python"
inside weft --version --verbose | grep -q '^data *\/usr/share/weft/configs$' || fail "weft does not know its data folder"

# try NAME COMMAND: succeeds, in a folder of its own.
mkdir "$root/far"
try() {
    inside sh -euc "cd /far; $2" >"$packages/tried.txt" 2>&1 || { cat "$packages/tried.txt"; fail "$1"; }
}
try new 'weft new mine.yaml --like gb300-nvl72 --like llama3-70b && weft sim mine.yaml'
try sweep 'weft sweep main -o main.csv && test "$(grep -vc "^#" main.csv)" = 241'
try report 'weft report main.csv -o page.html && grep -q "<title>" page.html'
try keys 'weft keys taper | grep -q "taper in dims" && weft keys tapper 2>&1 | grep -q "did you mean taper"'
try schema 'test -s /usr/share/weft/schema/weft-study.schema.json'
try plot 'weft plot speedup main.csv --where total_GBps=500 -o speedup.svg'
try profile 'printf "job_id,submit_s,gpus\n1,0,8\n" | weft import --trace csv --profile llm-2024 - | grep -q synthetic'
try "completion of bash" 'bash -c ". /usr/share/bash-completion/completions/weft; COMP_LINE=\"weft sim dgx-h100-p\"; COMP_POINT=\${#COMP_LINE}; _weft; [ \"\${COMPREPLY[*]}\" = dgx-h100-pod ]"'
try "no library without its package" '! ls /usr/lib/*/libweft*'

install '/packages/*.deb' gcc libc6-dev pkg-config
[ -z "$(find "$root"/usr/lib -name 'libweft.so.*' -type f -perm /111)" ] || fail "a library is executable"
try "import weft" 'python3 -c "import weft; print(weft.Study(\"main\").rows()[0][\"status\"])" | grep -q solved'
try libweft-dev 'gcc -o split /usr/share/doc/libweft-dev/examples/split.c $(pkg-config --cflags --libs weft) -lm && ./split /usr/share/weft/configs/studies/libra/gpt3-4d.yaml 500'

inside sh -c 'dpkg --purge python3-weft libweft-dev libweft0.2 weft' >"$packages/tried.txt" 2>&1 || fail "purge fails"
[ -z "$(find "$root/usr" "$root/etc" -path '*weft*' -print -quit)" ] || fail "purged, but $(find "$root/usr" "$root/etc" -path '*weft*' | head -3)"
echo "tests/deb.sh: installed, tried and removed on a bare Debian"
