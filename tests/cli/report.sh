#!/bin/sh
# weft report: the page but for its style and script, which report_page.py measures; hostile names; what it refuses.
# shellcheck disable=SC2016 # the shell of a name must not run either
configs=$PWD/configs
cd "$TMPDIR" || exit
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
body() { sed -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' -e 's/<path[^>]*>//g' "$1" | grep -v '^$\|^<g text\|^</g>$\|^<text\|^<svg x\|^</svg>$'; }
check() { python3 "$OLDPWD/tests/report_page.py" "$@" && echo "pages are well-formed, closed, accessible"; }
cat >rows.csv <<'..'
# version=0.2.0
# command=weft sweep study.yaml
# study_hash=0123456789abcdef
# seed=1
point,network,workload,objective,total_GBps,status,time_s,cost_usd,equal_time_s,equal_cost_usd,nic_GBps,message
0,flat,A,time,100,solved,10,1000000,12,1500000,10,
1,flat,A,time,200,solved,6,1200000,7,3000000,20,
2,flat,A,time,300,solved,5,4000000,5.5,4500000,30,
3,torus,A,time,100,solved,9,3000000,9.5,3500000,5,
4,torus,A,time,200,infeasible,,,,,,no split within 3 <= 2
5,torus,A,time,300,infeasible,,,,,,no split within 3 <= 2
6,flat,B,time,100,solved,3,1000000,3.5,1500000,10,
7,flat,B,time,200,solved,2,900000,2.5,1500000,10,
..
echo "== a page"
run report rows.csv -o page.html
body page.html
"$WEFT" report rows.csv -o again.html && sed 's/again/page/' again.html | cmp - page.html && echo "same table, same bytes"
echo "== rows that are chosen"
run report rows.csv --where workload=B --title 'B & "C"' -o b.html
grep -o '<title>.*</title>' b.html | head -1
grep -o 'class="warn".*' b.html
run report rows.csv --front-only -o front.html
grep -o 'class="warn".*' front.html
grep -c '<tr id=' front.html
echo "== work that two columns tell apart, one of them blank"
cat >work.csv <<'..'
point,network,workload,workload.traffic,status,time_s,cost_usd
0,f,B,8,solved,1,5
1,g,B,8,solved,2,3
2,f,B,,solved,1,5
3,g,B,,solved,2,3
..
"$WEFT" report work.csv -o work.html && grep -o '<li><b>[^<]*</b>' work.html
echo "== a hundred rows show what each dimension has, and repeat what goes with the network; more rows do not"
for n in 100 101; do
    awk -v n=$n 'BEGIN {
        print "point,network,n_dims,dims,status,time_s,cost_usd,bw1_GBps,util1"
        for (i = 0; i < n; i++)
            printf "%d,%s,%d,d,solved,%g,%g,%d,%g\n", i, i % 2 ? "a" : "b", i % 2 + 1, 1 + i, 1e6 / (1 + i), 10 + i, 0.2 + i / 1000
    }' >wide.csv
    "$WEFT" report wide.csv -o $n.html && sed -n '/<section id="rows"/,$p' $n.html | grep -o '<caption>.*</thead>' |
        sed -e 's/<caption>/== /' -e 's/<\/caption>/: /' -e 's/<\/th>/;/g' -e 's/<[^>]*>//g'
done
echo "== hostile names"
long=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "x" }')
{
    echo 'point,network,workload,status,time_s,cost_usd,message'
    printf '0,"</script><img src=x onerror=alert(1)>","W ""q"" ]]> \033[31m\047",solved,1,5,\n'
    printf '1,"\342\200\256rtl \377\376 $(id) <!--","W ""q"" ]]> \033[31m\047",solved,2,3,\n'
    printf '2,=1+1,"W ""q"" ]]> \033[31m\047",solved,4,2,\n3,%s,"</title><script>alert(1)</script>",solved,4,2,"</style>"\n' "$long"
} >'x"><b>&.csv'
run report 'x"><b>&.csv' -o hostile.html
grep -c '<img\|x"><b>\|<script>alert\|<!--' hostile.html
grep -c "$(printf '[\033\377]\|\342\200\256')" hostile.html
grep -o '<h1>.*</h1>' hostile.html
grep -c '<script' hostile.html
grep -o '<td>=1+1</td>' hostile.html
name=$(printf 'a\033[31m\342\200\256b\377 ]]>.csv')
cp rows.csv "$name"
"$WEFT" report "$name" --title "$(printf '</title><script>\033\342\200\256\377')" -o name.html && grep -o '<h1>.*</h1>' name.html
grep -c "$(printf '[\033\377]\|\342\200\256')\|]]>\.csv" name.html
echo "== no result: a page of reasons"
run report rows.csv --where status=infeasible -o none.html
grep -A3 'class="lead"\|Rows without' none.html
check page.html b.html front.html hostile.html name.html none.html
echo "== the store of a shard"
cat >study.yaml <<'..'
name: small
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 20 }
  network: ["ring:4 switch:8", "full:4 ring:2 switch:4"]
..
"$WEFT" sweep study.yaml -q --store half.db --shard 1/2 >/dev/null 2>&1
"$WEFT" sweep study.yaml -q --store whole.db >/dev/null 2>&1
"$WEFT" report half.db -o half.html
grep -o 'class="warn".*\|<h1>.*' half.html
"$WEFT" report whole.db -o whole.html
grep -o 'class="warn".*\|<h1>.*' whole.html
"$WEFT" sweep study.yaml -q --set 'keep={front: [total_GBps, time_s]}' --store kept.db >/dev/null 2>&1
"$WEFT" report kept.db -o kept.html
grep -o 'class="warn".*' kept.html
check half.html whole.html kept.html
echo "== a study is run first; its answers are explained"
run report study.yaml -o study.html
"$WEFT" sweep study.yaml -q -o study.csv
"$WEFT" report study.csv -o csv.html
rows() { sed -n '/<section id="rows"/,/<\/section>/p' "$1"; }
rows csv.html >a
rows study.html | cmp - a && echo "its rows are those of weft sweep"
grep -o '<h1>.*\|<h2.*</h2>' study.html
grep -v vary study.yaml | sed -e '/total_GBps:/d' -e '/^  network:/d' -e 's|^name: .*|name: "</pre><b>one"\ntotal_GBps: 100|' >one.yaml
run report one.yaml -o one.html
grep -o '<h1>.*\|<h2.*</h2>\|<caption>[^<]*' one.html
grep 'class="lead"' -A2 one.html
sed -n '/<summary>The study/,/<\/details>/p' one.html
grep -o '<title>The network[^<]*</title>' one.html
check study.html one.html
echo "== what is uncertain, as weft tornado has it"
run report one.yaml --set 'uncertain={keys: {workload.traffic: {uniform: [0.9, 1.2]}}}' -o uncertain.html
sed -n '/id="h-uncertain"/,/<\/section>/p' uncertain.html | grep -o '<h2.*</h2>\|<p>.*</p>\|<title>.*</title>\|<desc>.*</desc>'
run report one.yaml --set 'uncertain={keys: {total_GBps: {uniform: [0.9, 1.2]}}}' -o refused.html
grep -o '<figcaption>.*</figcaption>' refused.html
check uncertain.html refused.html
echo "every part of the bill is on the page of a network that a catalogue prices"
"$WEFT" report "$configs/studies/rails-taper.yaml" --set 'vary={network.dims.pod.taper: [2]}' -q -o parts.html
"$WEFT" topo "$configs/studies/rails-taper.yaml" --bill --of json |
    grep -o '"item": "[^"]*' | sed -e 's/"item": "//' -e "s/'.*//" | sort -u >items
while IFS= read -r item; do grep -qF -- "$item" parts.html || echo "lacks $item"; done <items
grep -o '<p>In all .*</p>\|<caption>The next[^<]*' parts.html
grep -o '<p>Evidence: [^,;.]*' parts.html
[ "$(wc -l <items)" -ge 4 ] && check parts.html
printf 'network: ring:4\nworkload: nothing.yaml\n' >bad.yaml
run report bad.yaml -o ab.html
echo "== refused"
printf 'a,b\n1,2\n' >ab.csv
run report ab.csv -o ab.html
run report rows.csv --where network=none -o ab.html
run report rows.csv -o page.csv
run report rows.csv -o page.html
run report missing.csv -o ab.html
awk 'BEGIN { print "point,network,status,time_s,cost_usd"; for (i = 0; i < 40000; i++) printf "%d,network %d of very many with names that are long because somebody wanted to say %d all of it in them\047%d,solved,%d,%d\n", i, i, i * 7, i * 13, i, i }' >many.csv
awk 'BEGIN { FS = OFS = "," } { $2 = $2 $2 } 1' many.csv >more.csv
run report more.csv -o ab.html
[ -e ab.html ] || echo "nothing is left behind"
echo "== designs that are no different, and nothing that was free to split"
printf '%s\n' point,network,workload,objective,total_GBps,status,time_s,cost_usd 0,a,A,time,100,solved,10.003,1000000 1,a,A,time,200,solved,10.001,1200000 \
    2,a,A,time,300,solved,10,4000000 3,a,A,time,400,solved,12,900000 >near.csv
"$WEFT" report near.csv -o near.html
grep -o '<h1>.*</h1>\|designs of the front.*</li>' near.html
grep -c 'qual split' near.html || true
echo "== more rows, groups and reasons than a page lists; its script has all rows"
awk 'BEGIN {
    print "point,network,workload,status,time_s,cost_usd,mine,note,message"
    for (i = 0; i < 420; i++) {
        bad = i >= 390
        printf "%d,n%d,w%02d,%s,%s,%s,%d,%s,%s\n", i, i % 3, i % 14, bad ? "infeasible" : "solved", bad ? "" : 1 + i % 29 + i / 1000,
            bad ? "" : 1e6 / (1 + i % 31), i % 5, i % 7 == 6 ? "\"</script><b>\"\"q\"\" & \\ <!--\"" : i % 7 ? "note " i % 7 : "", bad ? "reason " i : ""
    }
}' >large.csv
"$WEFT" report large.csv -o large.html
grep -c '</script><b>' large.html
grep -o '<p>[^<]*other reasons[^<]*\|<p>[^<]*table below[^<]*\|<p>Drawn[^<]*' large.html
python3 - <<'..'
import csv, json, re
rows = list(csv.DictReader(open("large.csv")))
data = json.loads(re.search(r'id="data">(.*?)</script>', open("large.html").read(), re.S).group(1))
for col in data["cols"]:
    for i, row in enumerate(rows):
        v, want = col["v"][i], row[col["n"]]
        if "w" in col:
            got = col["w"][v] if v >= 0 else ""
            same = got == want
        else:
            got = "" if v is None else v
            same = got == want or abs(v - float(want)) <= 1e-5 * v
        if not same:
            print("row", i, col["n"], "is", got, "in the page and", want, "in the table")
print(len(data["cols"]), "columns of", len(rows), "rows are those of the table")
..
