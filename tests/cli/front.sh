#!/bin/sh
# Fronts of a table: plot, knee, limits, the distance of a design; scripts read them; what is wrong is said.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
# Of A time * cost = 12 on the front (points 0 to 4); 5 and 6 lie behind it, 7 is too large, 8 has no answer.
cat >rows.csv <<..
# version=0
point,network,workload,status,time_s,cost_usd,nic_GBps,speedup,fits,message
0,one,A,solved,1,12000000,80,1.5,yes,
1,one,A,solved,2,6000000,40,1.4,yes,
2,two,A,solved,3,4000000,30,1.3,yes,
3,two,A,solved,6,2000000,20,1.2,yes,
4,two,A,solved,12,1000000,10,1.1,yes,
5,two,A,solved,4,6000000,20,1.9,yes,
6,one,A,solved,6,6000000,5,1.8,,
7,one,A,solved,0.1,1,1,9,no,
8,one,A,infeasible,,,,,,no split
9,one,B,solved,5,5000000,50,2,yes,
10,one,B,stalled,5,5000000,50,2,yes,a proof that fell short
..
run front rows.csv
run front rows.csv --where workload=A --limit "nic_GBps <= 35" --design 5
run front rows.csv --where workload=A --limit "nic_GBps <= 100"
run front rows.csv --at time_s=7,cost_usd=7e6
run front rows.csv --by time_s,max:speedup --per network --where point=0 --where point=5 --where point=6
echo "== scripts"
run front rows.csv --of csv
run front rows.csv --where workload=A --limit "nic_GBps <= 35" --design 5 -o front.csv
sed -n 's/^\([0-9]*\),[^,]*,A.*,\([a-z]*,[a-z]*,[0-9.]*\)$/\1,\2/p' front.csv
echo "== what it wrote it reads"
"$WEFT" front front.csv --of csv | grep -c ,all,
run front rows.csv --where workload=B --of json
"$WEFT" front rows.csv --of csv | grep -v '^#' >file.csv
"$WEFT" front - --of csv <rows.csv | grep -v '^#' | cmp - file.csv && echo "a pipe is read as a file"
"$WEFT" front rows.csv --behind 9 --of csv | sed -n 's/^\([0-9]*\),.*,\(behind,no,.*\)$/\1,\2/p'
for i in 1 2 3 4 5 6 7 8 9; do # many rows: at most so many are taken
    sed -n "s/^5,/5$i,/p" rows.csv >>extra.csv
done
cat rows.csv extra.csv >many.csv
"$WEFT" front many.csv --behind 3 --of csv | grep -c behind
echo "== of a long front the ends, the knee and some between"
awk 'BEGIN { print "point,status,time_s,cost_usd"; for (i = 1; i <= 100; i++) printf "%d,solved,%d,%g\n", i, i, 1e6 / i }' >long.csv
run front long.csv | sed -n '/^point/,/^    5 /p; /  knee$/p; /^  100 /p; / of 100 /p'
run plot front front.csv -o front.svg
grep -c 'front within the limits' front.svg
run plot front rows.csv
echo "== a store"
cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 20 }
  network: ["ring:4 switch:8", "full:4 ring:2 switch:4"]
..
by=total_GBps,time_s
"$WEFT" sweep study.yaml -q -o sweep.csv
"$WEFT" sweep study.yaml -q --store all.db >all.txt
"$WEFT" sweep study.yaml -q --set "keep={front: [total_GBps, time_s]}" --store kept.db >kept.txt
for rows in sweep.csv all.db kept.db; do # the front of what survives is the front of all
    "$WEFT" front $rows --by $by --of csv | grep -v '^#' | cut -d, -f1-9 >front.$rows
done
cmp front.sweep.csv front.all.db && cmp front.all.db front.kept.db && echo "store and CSV have one front"
wc -l <front.kept.db
run front kept.db --by $by -o kept.csv
echo "== different work"
run front rows.csv --per '' --of csv
run front rows.csv --per network,status -q --of csv
echo "== nothing there"
run front rows.csv --where workload=A --limit "nic_GBps <= 2"
run front rows.csv --where network=none
run front rows.csv --where status=infeasible
run front rows.csv --where status=infeasible --by time_s,cost_usd,min:nic_GBps,speedup
echo "== values of a design in place of a row, axes over decades, more designs than a table shows"
run front rows.csv --at time_s=7,cost_usd=7e6 --limit "nic_GBps <= 35" --where workload=A -q --of csv
run front rows.csv --by speedup,nic_GBps,min:point --at speedup=1.35,nic_GBps=12,point=4 --per network,workload -q --of csv
awk 'BEGIN {
    print "point,workload,time_s,cost_usd,watt"
    for (i = 0; i < 90; i++)
        printf "%d,%s,%.6g,%.6g,%.4g\n", i, i % 3 ? "A" : "B", 1.1 ^ i / 50, 1e9 / 1.21 ^ i, 3 + (i * 37 % 90) / 40
}' >wide.csv
run front wide.csv --by time_s,cost_usd --where workload=A
run front wide.csv --by min:watt,cost_usd --where workload=B
run front wide.csv --by time_s,cost_usd,min:watt --per '' --design 44 -q | sed -n '1,20p;/ on the front/,$p'
run front wide.csv --by time_s,min:watt --at time_s=1,watt=4.5 -q
"$WEFT" front wide.csv --by time_s,cost_usd --design 44 -q | grep -e '^workload' -e X -e '^Point' -A 1
"$WEFT" front wide.csv --by time_s,cost_usd --design 45 -q | grep -e '^workload' -e X -e '^Point' -A 1
echo "== methods, a row each of a point"
cat >methods.csv <<..
point,jobs.count,network,model,scheduler,seeds,jct,network_usd,status,message
0,40,a,slots,las,1,30,400,done,
0,40,a,slots,drf,1,20,400,done,
1,40,b,slots,las,1,25,500,done,
1,40,b,slots,drf,1,28,300,done,
..
run front methods.csv --by jct,network_usd
run front methods.csv --by jct,network_usd --per scheduler --of csv
echo "== of designs that pay the same factor the first is named, whichever follows"
cat >paid.csv <<..
point,status,time_s,cost_usd,nic_GBps
0,solved,1,12,90
1,solved,2,6,90
2,solved,4,3,90
3,solved,2,12,10
4,solved,4,6,10
..
"$WEFT" front paid.csv --limit 'nic_GBps <= 50' -q | grep ' at the same '
sed 's/^4,solved,4,6/4,solved,4,7.5/' paid.csv >more.csv
"$WEFT" front more.csv --limit 'nic_GBps <= 50' -q | grep ' at the same '
echo "== a value of 0 has no factor; columns below 0; a design that is the best in one column"
sed 's/^2,solved,4,3/2,solved,4,0/' paid.csv >free.csv
"$WEFT" front free.csv --limit 'nic_GBps <= 50' -q | grep ' at the same '
awk -F, -v OFS=, 'NR > 1 { $3 -= 3; $4 -= 20 } 1' paid.csv >below.csv
run front below.csv --by min:time_s,min:cost_usd -q
run front paid.csv --at time_s=1,cost_usd=20 -q | sed -n '/^A design/,$p;/behind/,$p'
echo "== a limit is held to 1e-9 of what is compared, however small that is"
printf 'point,x,y\n0,1e-12,3\n1,1.0000000001e-12,2\n2,2e-12,1\n' >tiny.csv
"$WEFT" front tiny.csv --by min:x,min:y --limit 'x <= 1e-12' --of csv | sed -n 's/^\([0-9]\),.*,\([a-z]*\),[a-z]*,[^,]*$/point \1: \2/p'
echo "== designs whose bands of measured steps overlap"
cat >bands.csv <<..
point,status,time_s,cost_usd,time_low_s,time_high_s
0,solved,1,12,0.8,1.2
1,solved,1.1,6,0.9,1.3
2,solved,4,3,1.2,5
3,solved,5,2,1.3,6
..
run front bands.csv -q | grep overlap
echo "== mistakes"
run front
run front none.csv
run front rows.csv --by time_s
run front rows.csv --by time_s,cost_us
run front rows.csv --by time_s,network
run front rows.csv --by time_s,point
run front rows.csv --by time_s,time_s
run front rows.csv --by time_s,cost_usd,min:point,nic_GBps,speedup,max:speedup
printf "R\n1\n" >other.csv
run front other.csv
run front rows.csv --per wrkload
run front rows.csv --where netwrk=one
run front rows.csv --limit "nic <= 3"
run front rows.csv --limit "network <= 3"
run front rows.csv --design x
run front rows.csv --design 99
run front rows.csv --design 8
run front rows.csv --at time_s=1
run front rows.csv --at time_s=1,cost_us=2
run front rows.csv --at time_s=1,cost_usd=x
run front rows.csv --at time_s=1,cost_usd=2 --design 3
sed 's/^point/pnt/' rows.csv >other.csv
run front other.csv
echo "== one word among the numbers of a column"
printf 'point,status,time_s,cost_usd,mine\n0,solved,1,2,a\n1,solved,0.5,3,b\n2,solved,oops,4,c\n3,solved,0.2,5,d\n' >word.csv
"$WEFT" front word.csv
echo "exit $?"
"$WEFT" front word.csv --by cost_usd,min:time_s
echo "exit $?"
"$WEFT" front word.csv --by cost_usd,min:mine
echo "exit $?"
sed 's/oops//' word.csv >blank.csv
"$WEFT" front blank.csv --limit 'time_s <= 0.7' --of csv | sed '/^#/d'
sed 's/oops/0.3/; s/,5,d/,5 USD,d/' word.csv >limit.csv
"$WEFT" front limit.csv --by time_s,min:point --limit 'cost_usd <= 4'
echo "exit $?"
"$WEFT" plot xy word.csv --x cost_usd --y time_s -o word.svg
echo "exit $?"
echo "== designs that are all equal"
{
    echo point,status,time_s,cost_usd
    seq -f '%g,solved,1,2' 0 24
} >ties.csv
"$WEFT" front ties.csv --of csv | sed '/^#/d' | wc -l
"$WEFT" front ties.csv --ties 3 --limit 'time_s <= 1'
"$WEFT" front ties.csv --ties 0
echo "exit $?"
