#!/bin/sh
# Copy what `make install` copies below $DESTDIR$PREFIX, or remove it, and the folders that are ours and empty then.
#     tests/install.sh install|uninstall BUILD_FOLDER VERSION
set -eu
built=$2
version=$3
top=${DESTDIR-}$PREFIX
soname=libweft.so.${version%.*}

copy() { # MODE FROM TO
    install -D -m "$1" "$2" "$top/$3"
}

do_install() {
    copy 755 "$built/weft" bin/weft
    copy 644 include/weft.h include/weft.h
    copy 644 "$built/libweft.a" lib/libweft.a
    copy 755 "$built/libweft.so.$version" "lib/libweft.so.$version"
    ln -sf "libweft.so.$version" "$top/lib/$soname"
    ln -sf "$soname" "$top/lib/libweft.so"
    mkdir -p "$top/lib/pkgconfig"
    cat >"$top/lib/pkgconfig/weft.pc" <<..
prefix=$PREFIX
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: weft
Description: bandwidth splits, training times and studies of interconnects for distributed deep learning
Version: $version
Requires.private: igraph libxml-2.0 gmp gsl yaml-0.1 libprotobuf-c jansson sqlite3
Libs: -L\${libdir} -lweft
Libs.private: -lglpk -lgomp -lm
Cflags: -I\${includedir}
..
    copy 644 docs/weft.1 share/man/man1/weft.1
    find configs -type f | while read -r file; do
        copy 644 "$file" "share/weft/$file"
    done
    for kind in study network npu parts model workload place hetero gossip profile; do
        "$built/weft" keys --schema "$kind" >"$built/weft-$kind.schema.json"
        copy 644 "$built/weft-$kind.schema.json" "share/weft/schema/weft-$kind.schema.json"
    done
    for file in examples/*.c; do
        copy 644 "$file" "share/doc/weft/$file"
    done
}

do_uninstall() {
    rm -f "$top/bin/weft" "$top/include/weft.h" "$top/lib/libweft.a" "$top/lib/libweft.so" "$top/lib/$soname" \
        "$top/lib/libweft.so.$version" "$top/lib/pkgconfig/weft.pc" "$top/share/man/man1/weft.1"
    rm -rf "$top/share/weft" "$top/share/doc/weft"
    for folder in bin include lib/pkgconfig lib share/man/man1 share/man share/doc share; do
        rmdir "$top/$folder" 2>/dev/null || :
    done
    [ -z "${DESTDIR-}" ] || rmdir "$top" 2>/dev/null || :
}

case $1 in
install) do_install ;;
uninstall) do_uninstall ;;
esac
