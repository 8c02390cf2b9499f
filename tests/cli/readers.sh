#!/bin/sh
# Workloads of other programs: SimAI text and Chakra traces.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }

printf 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n1\n' >simai.txt
printf 'attn\t-1\t1000\tALLREDUCE\t4096\t1000\tALLREDUCE\t4096\t500\tALLTOALL_EP\t8192\t100\n' >>simai.txt
cat >simai.yaml <<..
network: "ring:2@100 switch:4@50"
workload: { name: toy, simai: simai.txt }
..
run sim simai.yaml
echo "== a file that is wrong"
sed 's/all_gpus: 8/all_gpus: 7/' simai.txt >bad.txt
run sim simai.yaml --set workload.simai=bad.txt
sed 's/_EP/_XX/' simai.txt >bad.txt
run sim simai.yaml --set workload.simai=bad.txt

# A record: length and content. Node 1 "fwd" computes 25 us, node 2 "ar" is an all-reduce of 1 MiB on dimension 1.
{
    printf '\007\n\0050.0.4'
    printf '\013\010\001\022\003fwd\030\0048\031'
    printf '\102\010\002\022\002ar\030\007*\001\001'
    printf 'R\015\n\tcomm_typeH\000R\017\n\tcomm_sizeH\200\200@'
    printf 'R\025\n\014involved_dim\342\001\004\n\002\001\000'
} >t.0.et
cat >chakra.yaml <<..
network: "ring:2@100 switch:4@50"
workload: { name: trace, chakra: t.0.et }
..
run sim chakra.yaml
head -c 60 t.0.et >cut.0.et
run sim chakra.yaml --set 'workload.chakra={prefix: cut}'
echo "== what a trace leaves open: senders, and times that the NPU gives"
{
    printf '\007\n\0050.0.4'
    printf '\012\010\001\022\004recv\030\006'
    printf '\057\010\002\022\004gemm\030\004*\001\001R\016\n\007num_opsH\200\240\215\006'
    printf 'R\020\n\013tensor_sizeh\200\010'
} >gemm.0.et
run sim chakra.yaml --set workload.chakra=gemm.0.et
run sim chakra.yaml --set workload.chakra=gemm.0.et --set 'network={dims: [{shape: ring, size: 8, bw_GBps: 1}], npu: {peak_TFLOPS: 1, mem_GBps: 1000}}'
