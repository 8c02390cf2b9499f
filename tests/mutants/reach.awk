# Lines of sources that ran, "FILE:LINE:", from what gcov prints; with all=1 every line that has code.
/^ *-: *0:Source:/ { source = $0; sub(/.*Source:/, "", source); next }
/^ *[0-9=#-][^:]*: *[0-9]+:/ && source ~ /\.c$/ {
    split($0, part, ":")
    if (part[1] !~ /-$/ && (all || part[1] !~ /[#=]$/))
        seen[source ":" part[2] + 0 ":"] = 1
}
END { for (line in seen) print line }
