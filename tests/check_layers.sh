#!/bin/sh
# The plan of the house, checked: which folder may include which, the one home of each third-party library, that
# no two files need each other, that files which comments name are there, and the sizes of files and functions. Prints FILE:LINE: what is wrong; exit 1 if anything is.
#     tests/check_layers.sh [ROOT]     without ROOT: first that the check itself finds planted faults
set -eu

FILE_LINES=1500
FUNCTION_LINES=100
here=$(cd "$(dirname "$0")" && pwd)

# Includes of one file against the arrows of the house.
check_includes() {
    awk -v file="$1" '
    BEGIN {
        sees["base"] = "base"
        sees["topo"] = "topo base"
        sees["workloads"] = "workloads topo base"
        sees["alloc"] = "alloc workloads topo base"
        sees["sim"] = "sim workloads topo base"
        sees["study"] = "study base"
        sees["kinds"] = "kinds study alloc sim workloads topo base"
        sees["plots"] = "plots base"
        sees["cli"] = "cli kinds study plots alloc sim workloads topo base"
        # Rooms of a folder, where it has them.
        sees["kinds/design/ask"] = "ask"
        sees["kinds/design/answer"] = "answer ask"
        sees["kinds/design/explore"] = "explore answer ask"
        split(file, part, "/")
        from = part[1]
        room = part[1] "/" part[2] "/" part[3]
    }
    function fault(text) { print file ":" FNR ": " text }
    # Which files may include this system header; "" = every file may.
    function home(header) {
        if (file == "cli/version.c") return "" # asks each for its version
        if (header == "yaml.h") return "^base/yaml[a-z_]*\\.c$"
        if (header ~ /^igraph/ || header ~ /^libxml/) return "^topo/graph(_call|_orbits)?\\.[ch]$"
        if (header == "gmp.h") return "^base/gmp_memory\\.c$"
        if (header ~ /^gsl\/gsl_(rng|randist|qrng)/) return "^base/rng\\.c$"
        if (header == "gsl/gsl_cdf.h") return "^base/stat\\.c$"
        if (header == "gsl/gsl_blas.h") return "^base/matrix\\.c$"
        if (header ~ /^gsl\//) return "^(base/rng\\.c$|alloc/|sim/)"
        if (header ~ /^protobuf-c\// || header ~ /\.pb-c\.h$/) return "^workloads/readers/chakra\\.c$"
        if (header == "jansson.h") return "^base/json_read\\.c$"
        if (header == "glpk.h") return "^base/simplex\\.c$"
        if (header == "sqlite3.h") return "^study/store[a-z_]*\\.c$"
        if (header == "mpi.h") return "^study/fleet_mpi[a-z_]*\\.c$"
        return ""
    }
    /^[ \t]*#[ \t]*include[ \t]*["<]/ {
        own = index($0, "\"") > 0
        name = $0
        sub(/^[^"<]*["<]/, "", name)
        sub(/[">].*/, "", name)
        where = home(name)
        if (where != "" && file !~ where)
            fault(name " is included only in files named " where)
        else if (own && name == "weft.h" && from != "cli" && file != "kinds/library.c")
            fault("weft.h is for programs: cli and kinds/library.c")
        else if (own && name != "weft.h" && where == "") {
            slash = index(name, "/")
            to = slash ? substr(name, 1, slash - 1) : ""
            if (to == "")
                fault("include \"" name "\" does not name its folder")
            else if (index(" " sees[from] " ", " " to " ") == 0)
                fault(from " does not see " to " (" name ")")
            split(name, part, "/")
            if (room in sees && (part[1] "/" part[2] "/" part[3]) in sees && index(" " sees[room] " ", " " part[3] " ") == 0)
                fault(room " does not see " part[3] " (" name ")")
        }
    }' "$1"
}

# A function starts at column 0, with its braces at column 0; counted from its first line to its last.
check_functions() {
    awk -v file="$1" -v limit=$FUNCTION_LINES '
    /^[A-Za-z_]/ && !inside { start = FNR; head = $0 }
    /^\{/                   { inside = 1 }
    /^\}/ && inside {
        if (FNR - start + 1 > limit)
            print file ":" start ": function has " FNR - start + 1 " lines, limit " limit ": " head
        inside = 0
    }' "$1"
}

# Files that comments name: all are there. A path from the root, or the name of one file; not what other projects have (a line with
# a commit or an address), nor fields (a word of one letter).
check_named() {
    find . \( -path ./build -o -path ./out -o -path ./.git \) -prune -o -type f -print | sed 's|^\./||' >"$names"
    # shellcheck disable=SC2016 # what is in quotes is awk's
    find base topo workloads alloc sim study kinds plots cli docs/design.md CONTRIBUTING.md -name '*.[ch]' -o -name design.md -o -name CONTRIBUTING.md 2>/dev/null | LC_ALL=C sort |
        xargs awk -v names="$names" '
        BEGIN {
            while ((getline path < names) > 0) {
                there[path] = 1
                sub(/.*\//, "", path)
                there[path] = 1
            }
        }
        FNR == 1 { inside = FILENAME ~ /\.md$/ }
        /^[ \t]*(\/\*|\*|\/\/)/ || inside {
            rest = /@[0-9a-f]|:\/\/|NAME|shape_hypercube/ ? "" : $0
            while (match(rest, /[a-z_][a-z0-9_\/]+\.[ch]($|[^a-z0-9_*])/)) {
                name = substr(rest, RSTART, RLENGTH)
                before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : " "
                sub(/[^a-z]$/, "", name)
                rest = substr(rest, RSTART + RLENGTH - 1)
                if (before !~ /[A-Za-z0-9.*\/-]/ && !(name in there) && length(name) > 3)
                    print FILENAME ":" FNR ": names " name ", which is not there"
            }
        }'
}

check_length() {
    lines=$(wc -l <"$1")
    [ "$lines" -le $FILE_LINES ] || echo "$1:$lines: file has $lines lines, limit $FILE_LINES"
}

# A file, with its header, that reaches itself by what is included: none could be read or tested before the other.
check_cycles() {
    find base topo workloads alloc sim study kinds plots cli -name '*.[ch]' -exec \
        awk '/^[ \t]*#[ \t]*include[ \t]*"/ { split($0, part, "\""); print FILENAME, part[2] }' '{}' + 2>/dev/null |
        sed 's/\.[ch]\>//g' | awk '$1 != $2' | LC_ALL=C sort -u | tsort 2>&1 >/dev/null |
        awk '/loop:$/ { n++; next } { sub(/^tsort: /, ""); loop[n] = loop[n] " " $0 }
            END { for (i = 1; i <= n; i++) { split(loop[i], at, " "); print at[1] ".c:1: these include each other:" loop[i] } }'
}

# All findings in the tree below the current folder.
find_faults() {
    find base topo workloads alloc sim study kinds plots cli -name '*.[ch]' 2>/dev/null | LC_ALL=C sort |
        while read -r file; do
            check_includes "$file"
            check_functions "$file"
        done
    check_cycles
    check_named
    # shellcheck disable=SC2046 # names of sources hold no blanks
    set -- $(grep -l '# *include *<yaml\.h>' base/*.c 2>/dev/null || :)
    [ $# -le 1 ] || echo "$2:1: yaml.h has one home, but is included in $*"
    find . \( -path ./build -o -path ./out -o -path ./.git \) -prune -o \
        \( -name '*.[ch]' -o -name '*.sh' -o -name Makefile \) -print | sed 's|^\./||' | LC_ALL=C sort |
        while read -r file; do
            check_length "$file"
        done
}

# ---- the check checks itself ----

# plant FILE TEXT: the tree below $planted gets a file with a fault.
plant() {
    mkdir -p "$planted/$(dirname "$1")"
    printf '%b' "$2" >"$planted/$1"
}

repeated() {
    awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) printf "%s\\n", text }'
}

self_test() {
    planted=$(mktemp -d)
    trap 'rm -rf "$planted" "$names"' EXIT
    plant base/up.c '#include "topo/network.h"\n'
    plant alloc/aside.c '\n#include "sim/chunk.h"\n'
    plant sim/cluster/aside.c '#include "alloc/problem.h"\n'
    plant plots/struct.c '#  include "sim/timeline.h"\n'
    plant topo/public.c '#include "weft.h"\n'
    plant topo/bare.c '#include "network.h"\n'
    plant cli/read.c '#include <yaml.h>\n'
    plant topo/metric.c '#include <igraph/igraph.h>\n'
    plant alloc/draw.c '#include <gsl/gsl_rng.h>\n'
    plant workloads/fit.c '#include <gsl/gsl_fit.h>\n'
    plant base/json.c '#include <jansson.h>\n'
    plant alloc/mixed.c '#include <glpk.h>\n'
    plant kinds/design/explore/grid.c '#include <sqlite3.h>\n'
    plant kinds/design/ask/load.c '#include "kinds/design/explore/search.h"\n'
    plant kinds/design/answer/design.c '#include "kinds/design/ask/point.h"\n#include "kinds/design/explore/solve.h"\n'
    plant study/pool.c '#include <mpi.h>\n'
    plant workloads/chakra.c '#include <protobuf-c/protobuf-c.h>\n'
    plant workloads/chakra_leaf.c '#include "workloads/readers/chakra.pb-c.h"\n'
    plant base/yaml.c '#include <yaml.h>\n'
    plant base/yaml_two.c '#include <yaml.h>\n'
    plant sim/hen.h '#include "sim/egg.h"\n'
    plant sim/hen.c '#include "sim/hen.h"\n'
    plant sim/egg.c '#include "sim/egg.h"\n#include "sim/chick.h"\n'
    plant sim/chick.c '#include "sim/hen.h"\n'
    plant base/long.c "int f(int a,\n      int b)\n{\n$(repeated 97 '    a++;')}\n"
    plant base/gone.c '/* As base/went.c does. */\n'
    plant tests/unit/test_long.c "$(repeated 1501 ';')"
    # These are right, up to the last line that is allowed.
    plant base/fits.c "int f(int a,\n      int b)\n{\n$(repeated 96 '    a++;')}\n"
    plant base/named.c '/* As base/fits.c and fits.c do, tuning.cc and a.c, https://x.org/y.c. */\n'
    plant bench/fits.c "$(repeated 1500 ';')"
    plant cli/all.c '#include <stdio.h>\n#include "plots/gnuplot.h"\n#include "alloc/lp.h"\n#include "base/err.h"\n'
    plant cli/version.c '#include "weft.h"\n'
    plant kinds/design/explore/solve.c '#include "kinds/design/answer/whole.h"\n#include "kinds/design/ask/load.h"\n'
    plant kinds/both.c '#include "alloc/problem.h"\n#include "sim/chunk.h"\n'
    plant alloc/newton.c '#include <gsl/gsl_linalg.h>\n'
    plant base/simplex.c '#include <glpk.h>\n'
    plant workloads/readers/chakra.c '#include <protobuf-c/protobuf-c.h>\n#include "workloads/readers/chakra.pb-c.h"\n'
    plant base/json_read.c '#include <jansson.h>\n'
    plant topo/graph.c '#include <igraph.h>\n'

    if "$here/check_layers.sh" "$planted" >"$planted/faults"; then
        echo "tests/check_layers.sh: exits 0 whatever it finds"
        exit 1
    fi
    sed 's/:.*//' "$planted/faults" | LC_ALL=C sort >"$planted/found"
    sed 's/ *//' >"$planted/want" <<..
        alloc/aside.c
        alloc/draw.c
        alloc/mixed.c
        base/gone.c
        base/json.c
        base/long.c
        base/up.c
        base/yaml_two.c
        cli/read.c
        kinds/design/answer/design.c
        kinds/design/ask/load.c
        kinds/design/explore/grid.c
        plots/struct.c
        sim/chick.c
        sim/cluster/aside.c
        study/pool.c
        tests/unit/test_long.c
        topo/bare.c
        topo/metric.c
        topo/public.c
        workloads/chakra.c
        workloads/chakra_leaf.c
        workloads/fit.c
..
    if ! diff -u "$planted/want" "$planted/found"; then
        echo "tests/check_layers.sh: does not find the faults planted for it (- missed, + not a fault)"
        exit 1
    fi
}

names=$(mktemp)
trap 'rm -f "$names"' EXIT
if [ $# = 0 ]; then
    self_test
    cd "$here/.."
else
    cd "$1"
fi
faults=$(find_faults)
[ -z "$faults" ] || { echo "$faults"; exit 1; }
