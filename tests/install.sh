#!/bin/sh
# Copy what `make install` copies below $DESTDIR$PREFIX, or remove it, and the folders that are ours and empty then.
#     tests/install.sh install|uninstall BUILD_FOLDER VERSION
# From the environment: PREFIX; below it LIBDIR (lib) and ZSHDIR (share/zsh/site-functions), which Debian's packages have elsewhere.
set -eu
action=$1
built=$2
version=$3
top=${DESTDIR-}$PREFIX
lib=${LIBDIR:-lib}
zsh=${ZSHDIR:-share/zsh/site-functions}
soname=libweft.so.${version%.*}

# Where Debian's Python looks for modules: below /usr for all versions of it, elsewhere below its own.
python=lib/python3/dist-packages
if [ "$PREFIX" != /usr ] && [ -x /usr/bin/python3 ]; then
    python=$(/usr/bin/python3 -c 'import sys; print("lib/python3.%d/dist-packages" % sys.version_info[1])')
fi

# put MODE FROM TO, link TARGET TO: each is one path below $top, which uninstall removes.
put() {
    case $action in
    install) install -D -m "$1" "$2" "$top/$3" ;;
    uninstall) rm -f "$top/$3" ;;
    esac
}
link() {
    case $action in
    install) ln -sf "$1" "$top/$2" ;;
    uninstall) rm -f "$top/$2" ;;
    esac
}
# write TO <CONTENT
write() {
    cat >"$built/installed"
    put 644 "$built/installed" "$1"
}

# What the program writes of itself. What no table of it says of a page lies in docs/man.
write_pages() {
    "$built/weft" help --man >"$built/names"
    while read -r page; do
        "$built/weft" help --man "$page" | sed -e '/^\.\\" more$/{' -e "r docs/man/$page.more" -e 'd' -e '}' |
            write "share/man/man${page##*.}/$page"
    done <"$built/names"
}
write_schemas() {
    "$built/weft" help --words keys --schema '' >"$built/names"
    while read -r kind _; do
        "$built/weft" keys --schema "$kind" | write "share/weft/schema/weft-$kind.schema.json"
    done <"$built/names"
}

put 755 "$built/weft" bin/weft
put 644 include/weft.h include/weft.h
put 644 "$built/libweft.a" "$lib/libweft.a"
put 644 "$built/libweft.so.$version" "$lib/libweft.so.$version"
link "libweft.so.$version" "$lib/$soname"
link "$soname" "$lib/libweft.so"
write "$lib/pkgconfig/weft.pc" <<end
prefix=$PREFIX
libdir=\${prefix}/$lib
includedir=\${prefix}/include

Name: weft
Description: bandwidth splits, training times and studies of interconnects for distributed deep learning
Version: $version
Requires.private: igraph libxml-2.0 gmp gsl yaml-0.1 libprotobuf-c jansson sqlite3
Libs: -L\${libdir} -lweft
Libs.private: -lglpk -lgomp -lm
Cflags: -I\${includedir}
end
put 644 cli/completion/weft.bash share/bash-completion/completions/weft
put 644 cli/completion/weft.zsh "$zsh/_weft"
put 644 cli/completion/weft.fish share/fish/vendor_completions.d/weft.fish
find configs -type f | while read -r file; do
    put 644 "$file" "share/weft/$file"
done
for file in examples/*; do
    put 644 "$file" "share/doc/weft/$file"
done
[ ! -e python/weft.py ] || put 644 python/weft.py "$python/weft.py"

if [ "$action" = install ]; then
    write_pages
    write_schemas
else
    rm -f "$top"/share/man/man1/weft.1 "$top"/share/man/man1/weft-*.1 "$top"/share/man/man5/weft-*.5
    rm -rf "$top/share/weft" "$top/share/doc/weft"
    for folder in bin include "$lib/pkgconfig" "$python" "${python%/*}" "$lib" lib share/man/man1 share/man/man5 \
        share/man share/bash-completion/completions share/bash-completion share/fish/vendor_completions.d share/fish \
        "$zsh" "${zsh%/*}" share/doc share; do
        rmdir "$top/$folder" 2>/dev/null || :
    done
    [ -z "${DESTDIR-}" ] || rmdir "$top" 2>/dev/null || :
fi
