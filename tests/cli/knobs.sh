#!/bin/sh
# A key of dims, of classes of a graph, of parts or of system that changes nothing and does not say so would be a knob without effect: each is
# turned once, on a study that it belongs to, and what topo, alloc, sim and explain say of it must differ, or
# warn, or refuse. The keys are those that `weft keys` lists, so that a new one has to be turned here too.
cd "$TMPDIR" || exit 1

cat >parts.yaml <<..
name: p
grade: V
catalogue:
  - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: { low: 900, typ: 1000, high: 1100 }, watt: 20 }
  - { name: box, kind: switch, ports: 16, bw_GBps: 50, usd: { low: 9000, typ: 10000, high: 12000 }, watt: 500, latency_ns: 300 }
  - { name: end, kind: link, bw_GBps: 50, usd: { low: 90, typ: 100, high: 200 }, watt: 9, latency_ns_per_m: 5, reach_m: 40 }
  - { name: up, kind: link, bw_GBps: 50, usd: 400, watt: 9, reach_m: 400 }
  - { name: fabric, kind: product, bw_GBps: 100, ports: 4, watt: 100 }
  - { name: cooler, kind: product, bw_GBps: 100, ports: 4, watt: 50 }
build:
  - { tier: In, nic: nic, switch: box, end_link: end, up_link: up }
  - { tier: Out, nic: nic, switch: box, end_link: end, up_link: up }
..
sed 's/end_link: end, up_link: up/end_m: 30, up_m: 300/' parts.yaml >laid.yaml
sed 's/tier: In, .*/tier: In, product: fabric }/' parts.yaml >bought.yaml
cat >prices.yaml <<..
name: r
nic_port_GBps: 50
rates:
  - { tier: In, link_usd_per_GBps: 2, switch_usd_per_GBps: 3, nic_usd_per_GBps: 4 }
  - { tier: Out, link_usd_per_GBps: { low: 1, typ: 5, high: 6 }, switch_usd_per_GBps: 6, nic_usd_per_GBps: 7 }
..
# study NAME INNER OUTER: two dimensions, half of the outer one in the second collective
study() {
    cat >"$1.yaml" <<..
network:
  npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000 }
  parts: ${4-parts.yaml}
  dims:
    - { name: in, $2, latency_ns: 500, bw_GBps: 100, tier: In }
    - { name: out, $3, latency_ns: 900, bw_GBps: 50, tier: Out }
model: alpha-beta
constraints: [ total == 150 ]
workload:
  groups: { part: { size: 4 } }
  step: { sum: [ { all-reduce: { size_MB: 100, group: all } }, { all-to-all: { size_MB: 9, group: all } }, { all-gather: { size_MB: 9, group: part } } ] }
..
}
study ring "shape: ring, size: 4" "shape: switch, size: 64"
study rates "shape: ring, size: 4" "shape: switch, size: 8" prices.yaml
study metres "shape: ring, size: 4" "shape: switch, size: 64" laid.yaml
study server "shape: switch, size: 4" "shape: switch, size: 64" bought.yaml
study full "shape: full, size: 8" "shape: switch, size: 8"
study sharp "shape: full, size: 4" "shape: switch, size: 8, in_switch: sharp"
study tree "shape: switch, size: 4" "shape: fat-tree, sizes: [ 8, 4 ], taper: 2"
study hash "shape: switch, size: 4" "shape: fat-tree, sizes: [ 8, 4 ], taper: 2, load_balance: hash"
study radix "shape: switch, size: 4" "shape: fat-tree, size: 64, radix: 16, taper: 2"
study shared "shape: switch, size: 4" "shape: fat-tree, sizes: [ 8, 4 ], taper: 2, spine: shared"
study fly "shape: switch, size: 4" "shape: dragonfly, sizes: [ 2, 4, 5 ], links: 2"
study words "shape: switch, size: 4" "shape: dragonfly, hosts: 2, routers: 4, groups: 5, links: 2"
study plus "shape: switch, size: 4" "shape: dragonfly+, hosts: 2, leaves: 2, spines: 2, links: 2, groups: 5"
study slim "shape: switch, size: 4" "shape: slim-fly, q: 4, hosts: 2"
study hx "shape: switch, size: 4" "shape: hammingmesh, sizes: [ 2, 2, 4, 4 ]"
study lines "shape: switch, size: 4" "shape: hammingmesh, sizes: [ 1, 1, 24, 2 ]"
study wide "shape: switch, size: 4" "shape: fat-tree, sizes: [ 8, 6 ], taper: 1"
study spread "shape: switch, size: 4" "shape: switch, size: 96"
study curve "shape: switch, size: 4" "shape: switch, size: 64, curves: [ { collective: all-reduce, members: 64, latency_ns: 300, efficiency: 0.9, up_to_KB: 1e6 }, { collective: all-reduce, members: 64, latency_ns: 400, efficiency: 0.8 } ]"
study nics "shape: switch, size: 4" "shape: switch, size: 64, nics: [ { share: 0.5, nics: 1 }, { share: 0.5, nics: 2 } ]"
study regime "shape: switch, size: 4" "shape: switch, size: 64, regimes: [ { latency_ns: 300, efficiency: 0.9, up_to_KB: 1e9 } ]"
study torus "shape: switch, size: 2" "shape: torus, sizes: [ 4, 4, 8 ]"

{
    cat ring.yaml
    cat <<..
system:
  npu_usd: 20000
  npu_watt: 500
  npus_per_node: 4
  spare_nodes: 1
  step_tokens: 1e5
  items: [ { name: storage, usd: 50000, watt: 900 } ]
  checkpoint: { size_GB: 500 }
..
} >owned.yaml
sed -e 's/npus_per_node: 4/npus_per_node: 2/' -e 's/size: 64, latency_ns: 900, bw_GBps: 50/size: 64, planes: 2, latency_ns: 900, bw_GBps: 100/' \
    -e 's/total == 150/total == 200/' owned.yaml >redundant.yaml
sed 's/size_GB: 500/size_GB: 500, tiers: [ { name: peers, share: 0.9, restart_s: 60 } ]/' owned.yaml >tiers.yaml
sed 's/watt: 900 }/watt: 900, mtbf_h: 1000 }/' owned.yaml >fails.yaml
{ cat owned.yaml; echo "  planned_stops_month: 9"; } >planned.yaml
{ cat owned.yaml; echo "  server: { name: x, holds: [x], npus_per_node: 4, npus_per_domain: 8, npus_per_rack: 8 }"; } >domains.yaml
cat >trained.yaml <<..
network:
  npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000, usd: 9000, watt: 300, matrix_efficiency: 0.5 }
  parts: parts.yaml
  dims: [ { name: in, shape: ring, size: 8, bw_GBps: 50, tier: In } ]
workload:
  model: { layers: 4, hidden: 1024, heads: 8, seq: 1024, vocab: 32000 }
  parallel: { batch: 64 }
system: { run_Gtokens: 100 }
..
cat >links.csv <<..
src,dst,bw_GBps,latency_ns,class
npu0,npu1,25,100,near
npu2,npu3,25,100,near
npu0,npu2,50,100,far
npu1,npu3,50,100,far
..
cat >wires.yaml <<..
network:
  parts: prices.yaml
  graph: links.csv
  classes:
    - { name: near, size: 2, tier: In, max_GBps: 400 }
    - { name: far, size: 2, tier: Out, max_GBps: 500 }
constraints: [ total == 150 ]
workload: { step: { sum: [ { all-reduce: { size_MB: 100, group: all } }, { all-to-all: { size_MB: 9, group: all } } ] } }
..

cat >tokens.yaml <<..
network:
  npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000 }
  parts: parts.yaml
  dims:
    - { name: in, shape: switch, size: 4, bw_GBps: 100, tier: In }
    - { name: out, shape: switch, size: 4, bw_GBps: 50, tier: Out }
constraints: [ total == 150 ]
workload:
  model: { layers: 2, hidden: 64, heads: 4, vocab: 128, seq: 64, moe: { experts: 16, top_k: 4, ffn: 64 } }
  parallel: { batch: 16, ep: 16, dispatcher: merged }
..

# Those first that most keys show in.
commands="alloc bill sim explain topo check"
what_it_says() { # COMMAND STUDY [OVERRIDE]
    command=$1
    s=$2
    shift 2
    case $command in
    bill) "$WEFT" topo "$s.yaml" "$@" --bill ;;
    check) "$WEFT" check "$s.yaml" "$@" --set budget.nics=1 ;;
    *) "$WEFT" "$command" "$s.yaml" "$@" ;;
    esac 2>&1 | grep -v '"command"\|"study_hash"\|^# '
}
has_effect() { # STUDY OVERRIDE
    for c in $commands; do
        what_it_says "$c" "$1" --set "$2" >got
        cmp -s got "$1.$c" || return 0
    done
    return 1
}

# SECTION KEY STUDY OVERRIDE; "-": the file keeps it as a record, as its help says
cat >turns <<..
dims name ring network.dims[1].name=other
dims shape ring network.dims[1].shape=full
dims size ring network.dims[1].size=32
dims bw_GBps ring network.dims[1].bw_GBps=25
dims link_GBps ring network.dims[1].link_GBps=12
dims min_GBps ring network.dims[1].min_GBps=60
dims max_GBps ring network.dims[1].max_GBps=10
dims latency_ns ring network.dims[1].latency_ns=9000
dims latency_per ring network.dims[1].latency_per=collective
dims efficiency ring network.dims[1].efficiency=0.5
dims all_to_all_efficiency ring network.dims[1].all_to_all_efficiency=0.5
dims dispatch_efficiency tokens network.dims[1].dispatch_efficiency=0.5
dims algorithm ring network.dims[1].algorithm=ring
dims detour full network.dims[0].detour=true
dims in_switch ring network.dims[1].in_switch=sharp
dims in_switch_min sharp network.dims[1].in_switch_min=9
dims regimes ring network.dims[1].regimes=[{latency_ns: 9, efficiency: 1, up_to_KB: 1e9}]
dims tier ring network.dims[1].tier=In2
dims sizes tree network.dims[1].sizes=[4, 8]
dims taper tree network.dims[1].taper=4
dims up tree network.dims[1].up=[2]
dims load_balance tree network.dims[1].load_balance=hash
dims flows_per_pair hash network.dims[1].flows_per_pair=4
dims routing fly network.dims[1].routing=valiant
dims links fly network.dims[1].links=1
dims hosts words network.dims[1].hosts=4
dims routers words network.dims[1].routers=6
dims groups words network.dims[1].groups=3
dims leaves plus network.dims[1].leaves=3
dims spines plus network.dims[1].spines=3
dims q slim network.dims[1].q=5
dims radix radix network.dims[1].radix=32
dims filled shared network.dims[1].filled=31
dims spine tree network.dims[1].spine=shared
dims rails shared network.dims[1].rails=2
dims forward shared network.dims[1].forward=true
dims planes tree network.dims[1].planes=2
dims nics tree network.dims[1].nics=2
dims twist torus network.dims[1].twist=true
dims ocs torus network.dims[1].ocs=true
dims.regimes latency_ns regime network.dims[1].regimes[0].latency_ns=600
dims.regimes efficiency regime network.dims[1].regimes[0].efficiency=0.5
dims.regimes up_to_KB regime network.dims[1].regimes[0].up_to_KB=1
dims curves ring network.dims[1].curves=[{collective: all-reduce, latency_ns: 9, efficiency: 0.7}]
dims.curves collective curve network.dims[1].curves[1].collective=all-gather
dims.curves members curve network.dims[1].curves[0].members=2
dims.curves latency_ns curve network.dims[1].curves[0].latency_ns=90000
dims.curves efficiency curve network.dims[1].curves[0].efficiency=0.5
dims.curves up_to_KB curve network.dims[1].curves[0].up_to_KB=1
dims.nics share nics network.dims[1].nics=[{share: 0.75, nics: 1}, {share: 0.25, nics: 2}]
dims.nics nics nics network.dims[1].nics[0].nics=2
classes name wires network.classes[1].name=other
classes size wires network.classes[0].size=4
classes bw_GBps wires network.classes[0].bw_GBps=40
classes min_GBps wires network.classes[0].min_GBps=90
classes max_GBps wires network.classes[0].max_GBps=20
classes efficiency wires network.classes[0].efficiency=0.5
classes tier wires network.classes[0].tier=Out
parts name - -
parts source - -
parts date - -
parts grade ring network.parts.grade=D
parts counting rates network.parts.counting=one-way
parts nic_port_GBps rates network.parts.nic_port_GBps=10
parts rates rates network.parts.rates[0].link_usd_per_GBps=9
parts catalogue ring network.parts.catalogue[0].usd=1
parts build ring network.parts.build[1].up_link=end
parts.rates[] tier rates network.parts.rates[0].tier=Other
parts.rates[] link_usd_per_GBps rates network.parts.rates[0].link_usd_per_GBps=9
parts.rates[] switch_usd_per_GBps rates network.parts.rates[1].switch_usd_per_GBps=9
parts.rates[] nic_usd_per_GBps rates network.parts.rates[1].nic_usd_per_GBps=9
parts.rates[] source - -
parts.rates[] date - -
parts.rates[] grade rates network.parts.rates[0].grade=V
parts.catalogue[] name ring network.parts.catalogue[1].name=other
parts.catalogue[] kind ring network.parts.catalogue[1].kind=nic
parts.catalogue[] year - -
parts.catalogue[] ports ring network.parts.catalogue[1].ports=32
parts.catalogue[] bw_GBps ring network.parts.catalogue[0].bw_GBps=25
parts.catalogue[] usd ring network.parts.catalogue[1].usd=20000
parts.catalogue[] watt ring network.parts.catalogue[1].watt=600
parts.catalogue[] mtbf_h owned network.parts.catalogue[1].mtbf_h=9000
parts.catalogue[] latency_ns - -
parts.catalogue[] latency_ns_per_m - -
parts.catalogue[] reach_m metres network.parts.catalogue[3].reach_m=350
parts.catalogue[] source - -
parts.catalogue[] date - -
parts.catalogue[] grade ring network.parts.catalogue[1].grade=D
parts.catalogue[] band_grade ring network.parts.catalogue[1].band_grade=R
parts.catalogue[] watt_grade ring network.parts.catalogue[1].watt_grade=R
parts.build[] tier ring network.parts.build[1].tier=Other
parts.build[] nic ring network.parts.build[1].nic=end
parts.build[] switch ring network.parts.build[1].switch=nic
parts.build[] end_link ring network.parts.build[1].end_link=up
parts.build[] up_link ring network.parts.build[1].up_link=end
parts.build[] product server network.parts.build[0].product=cooler
parts.build[] end_m metres network.parts.build[1].end_m=50
parts.build[] up_m metres network.parts.build[1].up_m=20
parts.build[] taper ring network.parts.build[1].taper=2
parts.build[] rails ring network.parts.build[1].rails=4
parts.build[] even_spread spread network.parts.build[1].even_spread=true
parts.build[] breakout ring network.parts.build[1].breakout=2
system source - -
system server owned system.server={name: x, holds: [x], npus_per_node: 2}
system npus_per_rack owned system.npus_per_rack=2
system npu_usd owned system.npu_usd=999
system npu_watt owned system.npu_watt=99
system spares_per_domain domains system.spares_per_domain=4
system like owned system.like={name: x, figures: [{key: load, low: 0.1, typ: 0.2, high: 0.3, grade: R, source: x, date: 2026}]}
system server_usd owned system.server_usd=99
system server_watt owned system.server_watt=9
system npus_per_node owned system.npus_per_node=2
system spare_nodes owned system.spare_nodes=5
system repair_h owned system.repair_h=400
system npu_idle owned system.npu_idle=0.3
system server_idle owned system.server_idle=0.3
system network_idle owned system.network_idle=0.3
system life_years owned system.life_years=6
system network_life_years owned system.network_life_years=6
system residual owned system.residual=0.2
system rack_kW owned system.rack_kW=10
system items owned system.items=[]
system capital_rate owned system.capital_rate=0
system support owned system.support=0.1
system energy_usd_kWh owned system.energy_usd_kWh=0.2
system pue owned system.pue=1.1
system load owned system.load=0.5
system building_usd_W owned system.building_usd_W=20
system building_life_years owned system.building_life_years=30
system rent_usd_kW_month owned system.rent_usd_kW_month=150
system staff_usd_year owned system.staff_usd_year=1e6
system sold owned system.sold=0.5
system mtbf owned system.mtbf={npu_h: 100}
system tolerates redundant system.tolerates={planes: false}
system checkpoint owned system.checkpoint={size_GB: 9000}
system straggler_loss owned system.straggler_loss=0.1
system planned_stops_month owned system.planned_stops_month=9
system planned_stop_h planned system.planned_stop_h=9
system step_tokens owned system.step_tokens=1e6
system run_Gtokens owned system.run_Gtokens=5
system run_steps owned system.run_steps=1000
system.items[] name owned system.items[0].name=disks
system.items[] per owned system.items[0].per=node
system.items[] count owned system.items[0].count=3
system.items[] usd owned system.items[0].usd=999
system.items[] life_years owned system.items[0].life_years=1
system.items[] residual owned system.items[0].residual=0.5
system.items[] watt owned system.items[0].watt=99
system.items[] mtbf_h owned system.items[0].mtbf_h=1000
system.items[] mtbf_low_h fails system.items[0].mtbf_low_h=100
system.items[] mtbf_high_h fails system.items[0].mtbf_high_h=9000
system.items[] grade fails system.items[0].grade=R
system.items[] source - -
system.items[] takes_npus fails system.items[0].takes_npus=64
system.items[] idle owned system.items[0].idle=0
system.mtbf npu_h owned system.mtbf.npu_h=100
system.mtbf node_h owned system.mtbf.node_h=100
system.mtbf nic_h owned system.mtbf.nic_h=100
system.mtbf link_h owned system.mtbf.link_h=100
system.mtbf switch_h owned system.mtbf.switch_h=100
system.tolerates planes redundant system.tolerates.planes=false
system.tolerates paths redundant system.tolerates.paths=false
system.tolerates detours redundant system.tolerates.detours=true
system.checkpoint size_GB owned system.checkpoint.size_GB=5000
system.checkpoint bytes_per_param trained system.checkpoint.bytes_per_param=2
system.checkpoint node_GBps owned system.checkpoint.node_GBps=0.1
system.checkpoint store_GBps owned system.checkpoint.store_GBps=5
system.checkpoint async owned system.checkpoint.async=false
system.checkpoint stall_s owned system.checkpoint.stall_s=30
system.checkpoint interval_s owned system.checkpoint.interval_s=3000
system.checkpoint restart_s owned system.checkpoint.restart_s=60
system.checkpoint over owned system.checkpoint.over=out
system.checkpoint sharded trained system.checkpoint.sharded=false
system.checkpoint read trained system.checkpoint.read=each
system.checkpoint tiers owned system.checkpoint.tiers=[{name: peers, share: 0.9, restart_s: 60}]
system.checkpoint.tiers[] name tiers system.checkpoint.tiers[0].name=others
system.checkpoint.tiers[] share tiers system.checkpoint.tiers[0].share=0.5
system.checkpoint.tiers[] every_steps tiers system.checkpoint.tiers[0]={name: peers, share: 0.9, restart_s: 60, every_steps: 1e6}
system.checkpoint.tiers[] interval_s tiers system.checkpoint.tiers[0].interval_s=30
system.checkpoint.tiers[] stall_s tiers system.checkpoint.tiers[0].stall_s=3
system.checkpoint.tiers[] restart_s tiers system.checkpoint.tiers[0].restart_s=90
..

# The same keys on further shapes that have them, and recipes that a shape has no use for.
cat >turns.more <<..
dims radix hx network.dims[1].radix=4
dims planes hx network.dims[1].planes=2
dims sizes hx network.dims[1].sizes=[4, 4, 2, 2]
parts.build[] nic hx network.parts.build[1].nic=other
parts.build[] even_spread lines network.parts.build[1].even_spread=true
parts.build[] rails hx network.parts.build[1].rails=4
parts.build[] even_spread wide network.parts.build[1].even_spread=true
parts.build[] even_spread fly network.parts.build[1].even_spread=true
parts.build[] breakout tree network.parts.build[1].breakout=2
parts.build[] breakout fly network.parts.build[1].breakout=2
parts.build[] breakout wide network.parts.build[1].breakout=2
parts.build[] rails tree network.parts.build[1].rails=4
parts.build[] rails fly network.parts.build[1].rails=4
parts.build[] nic torus network.parts.build[1].nic=end
parts.catalogue[] ports torus network.parts.catalogue[0].ports=6
parts.catalogue[] ports hx network.parts.catalogue[0].ports=4
dims planes ring network.dims[1].planes=2
dims nics ring network.dims[1].nics=2
dims taper shared network.dims[1].taper=4
dims twist torus network.dims[1].algorithm=fixed-order
dims links plus network.dims[1].links=1
dims hosts plus network.dims[1].hosts=4
dims hosts slim network.dims[1].hosts=4
dims groups plus network.dims[1].groups=3
..

# Keys as weft lists them, under the title of their section.
"$WEFT" keys | awk '/^[^ ]+: / { section = $1; sub(/:$/, "", section) }
    /^  [a-z]/ && $1 != "key" && section ~ /^(dims|classes|parts|system)/ { print section, $1 }' >listed
cut -d' ' -f1,2 turns | sort >turned
sort listed | diff - turned >missing && echo "every key of dims, classes, parts and system is turned"
cat missing

for s in *.yaml; do
    case $s in parts.yaml | prices.yaml | laid.yaml | bought.yaml) continue ;; esac
    for c in $commands; do
        what_it_says "$c" "${s%.yaml}" >"${s%.yaml}.$c"
        grep -E 'expected|give ' "${s%.yaml}.$c" | grep -v "give the graph's own file" && echo "$s is refused"
    done
done
while read -r section key study override; do
    [ "$study" = - ] && continue
    has_effect "$study" "$override" || echo "no effect: $section.$key ($override)"
done <<.
$(cat turns turns.more)
.
echo "all turned"
