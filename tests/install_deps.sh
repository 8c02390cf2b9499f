#!/bin/sh
# Install those of the given Debian packages that are not there yet; silent when none is missing.
set -eu

if ! command -v dpkg-query >/dev/null; then
    echo "deps: this is not a Debian system; make sure you have what these packages hold: $*" >&2
    exit 0
fi

missing=
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=absent
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "deps: these packages are missing:$missing" >&2
    echo "deps: cannot install them without root or sudo; as root: apt-get install$missing" >&2
    exit 1
fi

echo "deps: installing$missing"
# $as_root and $missing are lists of words without blanks inside.
# shellcheck disable=SC2086
install() {
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 $missing
}
install || { echo "deps: apt-get could not install:$missing" >&2; exit 1; }
