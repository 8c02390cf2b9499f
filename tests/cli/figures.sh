#!/bin/sh
# Every kind of figure to the last digit: the script that gnuplot draws it from, of the tables of tests/figures. Positions,
# labels, legends, axes, order and styles of what is drawn; what they must be by the data is said case by case in tests/figures.
tables=$PWD/tests/figures
cd "$TMPDIR" || exit 1
cat "$tables"/*.txt | awk '/^table / { out = $2 ".csv"; next } /^$/ { out = "" } out { print >out }'
# A panel (margins, axes) is one line of the golden file, and so is a block of data.
draw() {
    figure=$1 table=$2
    shift 2
    echo "== $figure $table $*"
    "$WEFT" plot "$figure" "$table.csv" --of gp "$@" -o - 2>&1 | awk '
        line ~ /^ / && !/^(un)?set (border|grid|[lrtb]margin|logscale|[xy]range|[xy]tics)/ { print "panel" line; line = "" }
        / << EOD$/ { line = $1; next }
        /^EOD$/ { print line; line = ""; next }
        line ~ /^\$/ { line = line " | " $0; next }
        /^set [lrtb]margin|^(un)?set (border|grid|logscale|[xy]range|[xy]tics)/ { line = line " " substr($0, 1 + 4 * /^set/); next }
        !/^unset label$|^set (encoding|tics)/'
}
# Rows of tests/figures are few: more that vary in several ways at once.
awk 'BEGIN {
    print "point,tp.x,jobs.count,network,model,scheduler,seeds,jct_s,jct_s_ci,makespan_s,makespan_s_ci,embedded_frac," \
        "optimum_frac,optimum_frac_ci,used_frac,network_usd,status"
    for (i = 0; i < 24; i++)
        printf "%d,%d,%d,%s,events,%s,3,%g,%g,%g,%g,%g,%g,%g,%g,%d,done\n", i / 2, i % 4 < 2, 20 * int(i / 8 + 1), i % 8 < 4 ? "flat" : "tree", \
            i % 2 ? "gadget" : "drf", 400 - 7 * i, i % 3 * 9, 900 + 31 * i, i % 4 * 20, 1 - i / 25, 0.9 - i / 50, i % 5 / 90, 0.3 + i / 60, 1000 * int(1 + i / 4)
}' >jobs.csv
awk 'BEGIN {
    print "point,seed,scheduler,job,server_name,unit,server,gpus,from,to"
    for (i = 0; i < 30; i++)
        printf "0,1,%s,j%d,n%d,s,%d,%d,%d,%d\n", i % 2 ? "a" : "b", i % 7, i % 5, i % 5, 1 + i % 3, 13 * i, 13 * i + 20 + i % 4 * 15
}' >stays.csv
awk 'BEGIN {
    print "a,b,c,d,e"
    for (i = 0; i < 40; i++)
        printf "%g,%g,%s,%s,%g\n", 1 + i * 7 % 40, 1e6 / (1 + i * 11 % 40) + i, (i % 3 ? i % 3 == 2 ? "x" : "y" : "z"), (i % 4 < 2 ? "p" : "q"), i * i
}' >any.csv
for figure in speedup cost perf_per_cost split time utilization pareto nic; do
    draw $figure designs
done
draw time designs --where workload=GPT-3 --width 300 --height 260
draw front front
draw tornado tornado
for figure in breakdown mfu plans; do
    draw $figure training
done
draw timeline timeline --where workload=toy
draw timeline timeline --where order=themis
draw calibrate calibrate
draw place place
draw embedded place
for figure in place embedded optimum makespan place_cost; do
    draw $figure jobs
done
draw gantt gantt
draw gantt stays
draw links links
draw hetero hetero
draw learning learning
draw strip strip
draw gossip gossip
draw gossip_loss gossip_loss
draw gossip_need gossip
draw xy any --x a --y b
draw xy any --x a --y b --color e --facet c --shared --front min,min --label front
draw xy any --x a --y b --color c --shape d --log y --front max,min --label top --text a,e --top 3 --behind --best min:b
draw xy any --x a --y b --y e --color c --join --best min:b --best min:e --linear --range-x 2:30 --limit 'a <= 35' --label knee
draw xy any --x a --y b --front min,min --label front --text a,b,e --width 400 --height 300
draw xy any --x a --y e --linear --front max,min --label front --text a,b --width 400 --height 300
draw xy any --x c --y b --color d --bars --best min:b --log y --x-label word
draw xy any --x c --y e --facet d --facet-rows c --where a=1 --where a=8 --where a=15 --where a=22
draw xy designs --x total_GBps --y time_s --y cost_usd --color workload --shape network --join --best min:time_s --best min:cost_usd --title Title --height 700
