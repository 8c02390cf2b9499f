#!/bin/sh
# Model cards and training recipes of other programs as a workload or a study, and what is wrong with them.
cd "$TMPDIR" || exit 1
# What is timed; how long it takes is for other tests.
plan() { echo "\$ weft sim $*"; "$WEFT" sim "$@" 2>&1 | sed -n '1p; / mb[0-9]/{p;q;}'; }
code() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1 | grep -v '^# version'; }

cat >llama.json <<..
{ "architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 128000, "hidden_act": "silu",
  "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "llama",
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
  "rope_scaling": null, "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
  "vocab_size": 128256 }
..
cat >deepseek.json <<..
{ "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168, "intermediate_size": 18432,
  "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type": "deepseek_v3",
  "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256,
  "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
  "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
  "qk_rope_head_dim": 64, "quantization_config": { "quant_method": "fp8", "weight_block_size": [128, 128] },
  "topk_group": 4, "v_head_dim": 128, "vocab_size": 129280 }
..
cat >gpt-oss.json <<..
{ "attention_bias": true, "head_dim": 64, "hidden_size": 2880, "intermediate_size": 2880,
  "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
  "model_type": "gpt_oss", "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 24,
  "num_key_value_heads": 8, "num_local_experts": 32, "sliding_window": 128, "vocab_size": 201088 }
..
cat >gemma3.json <<..
{ "model_type": "gemma3", "text_config": { "head_dim": 128, "hidden_activation": "gelu_pytorch_tanh",
  "hidden_size": 5376, "intermediate_size": 21504, "model_type": "gemma3_text", "num_attention_heads": 32,
  "num_hidden_layers": 62, "num_key_value_heads": 16, "sliding_window": 1024, "new_trick": 7 },
  "vision_config": { "hidden_size": 1152 } }
..
cat >mixtral.sh <<'..'
#!/bin/bash
TP=1
MODEL_ARGS=(
    --disable-bias-linear --seq-length ${SEQ:-4096}
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32
    --attention-dropout 0.0 --hidden-dropout 0.0 --normalization RMSNorm --position-embedding-type rope
    --swiglu --untie-embeddings-and-output-weights
    --group-query-attention --num-query-groups 8 # --num-layers 64
    --vocab-size "32000"
)
MOE_ARGS=( --num-experts 8 --moe-router-topk 2 --moe-token-dispatcher-type flex
    --overlap-grad-reduce )
torchrun --nproc_per_node 8 pretrain_gpt.py ${MODEL_ARGS[@]} ${MOE_ARGS[@]} \
    --micro-batch-size=1 --global-batch-size 256 --lr 1e-4 --bf16 --fp8-format hybrid --fp8-recipe mxfp8 \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size 4 \
    --num-layers-per-virtual-pipeline-stage 4 --expert-model-parallel-size 8 --use-distributed-optimizer \
    --recompute-granularity selective --recompute-modules core_attn moe_act --fancy-new-thing 7
echo done
..
cat >llama70b.yaml <<'..'
ConfigContainer:
  model:
    tensor_model_parallel_size: 2
    pipeline_model_parallel_size: 4
    virtual_pipeline_model_parallel_size: 5
    sequence_parallel: true
    num_layers: 80
    hidden_size: 8192
    ffn_hidden_size: 28672
    num_attention_heads: 64
    num_query_groups: 8
    seq_length: 8192
    vocab_size: 128256
    gated_linear_unit: true
    normalization: RMSNorm
    position_embedding_type: rope
    add_bias_linear: false
    share_embeddings_and_output_weights: false
    tp_comm_overlap: true
  train: { micro_batch_size: 1, global_batch_size: 512, train_iters: 25 }
  ddp: { use_distributed_optimizer: true, grad_reduce_in_fp32: false, overlap_grad_reduce: true }
  mixed_precision: bf16_with_mxfp8_mixed
  mystery: 7
..
cat >titan.toml <<..
[model]
name = "llama3"
flavor = "8B"
converters = ["float8"]
[training]
local_batch_size = 2  # of one GPU
seq_len = 8192
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
[activation_checkpoint]
mode = 'selective'
selective_ac_option = "op"
[compile]
enable = true
components = [
  "model", # and
  "loss",
]
[float8]
enable_fsdp_float8_all_gather = true
..
for card in llama deepseek gpt-oss gemma3; do code import --from hf "$card.json"; done
code import --from megatron mixtral.sh
code import --from nemo llama70b.yaml
code import --from torchtitan titan.toml
code import --from torchtitan titan.toml --network hgx-h100

echo "== what is done again of some layers"
again() { code import --from "$@" | sed -n '/^\$/p; /recompute/p; /gather/p; /divide/p'; }
full='s/selective --recompute-modules core_attn moe_act/full --recompute-num-layers 3/'
sed "$full; s/full --/full --recompute-method block --/" mixtral.sh >block.sh
sed "$full; s/full --/full --recompute-method uniform --/" mixtral.sh >uniform.sh
sed "$full" mixtral.sh >method.sh
sed 's/option = "op"/option = "2"/' titan.toml >second.toml
sed 's/option = "op"/option = "5"/; /enable_fsdp/d' titan.toml >fifth.toml
for script in block uniform method; do again megatron $script.sh; done
again torchtitan second.toml --network hgx-h100
again torchtitan fifth.toml --network hgx-h100

echo "== what a recipe leaves to its provider; layers of an unknown kind; a model by its folder"
sed '/normalization:/d; /position_embedding/d; /add_bias/d; /gated_linear/d; s/^  model:/&\n    _target_: megatron.bridge.models.Llama3ModelProvider70B/; s/^model:/&\n  _target_: megatron.bridge.models.Llama3ModelProvider70B/' llama70b.yaml >provider.yaml
sed '/_target_/d' provider.yaml >silent.yaml
for f in provider silent; do code import --from nemo $f.yaml | grep -e '^\$' -e 'activation:\|norm:\|positions:\|biases' -e 'given'; done
mkdir Llama-3.1-8B
sed 's/"attention_bias": false,/& "layer_types": ["full_attention", "linear_attention", "linear_attention"],/' llama.json >Llama-3.1-8B/config.json
code import --from hf Llama-3.1-8B/config.json | grep -e '^name' -e layer_types
(cd Llama-3.1-8B && code import --from hf ./config.json -q | grep '^name')

echo "== from a card to the time of a step"
code import --from hf llama.json --network dgx-h100-pod -q -o card.yaml
plan card.yaml -q --set network.npu=h100-80gb
# One command: the same step and band as through a file; keys of the workload may be set.
one() { "$WEFT" sim "$@" 2>&1 | grep -e '^one step' -e '^evidence' -e warning -e '^weft'; }
one hgx-h100 -q --card llama.json
one hgx-h100 --card llama.json --set workload.parallel.batch=512 --set workload.search.top=1
"$WEFT" import --from hf llama.json --network hgx-h100 -q -o card.yaml -f
one card.yaml -q
code sim hgx-h100 --card nosuch.json
code sim hgx-h100 --card llama.json --set workload=llama3-8b
code sim hgx-h100 --card llama.json -f -o llama.json
code sim hgx-h100 --card mixtral.sh
# A place of a card is one line; model is the study's where it says or varies one, whatever else it lacks.
sed 's/"num_hidden_layers": 32/"num_hidden_layers": 99999/' llama.json >deep.json
code sim hgx-h100 --card deep.json -q
printf 'model: bandwidth\nworkload: gpt3\nvary: { network: [hgx-h100] }\n' >said.yaml
printf 'network: hgx-h100\nvary: { zip: { model: [bandwidth, alpha-beta], network.dims.pod.bw_GBps: [50, 50] } }\n' >zip.yaml
code sweep said.yaml -q --card llama.json
printf 'network: hgx-h100\nworkload: nosuch\n' >nowork.yaml
one nowork.yaml -q --card llama.json
cat >plans.yaml <<..
network: hgx-h100
workload: { model: { layers: 2, hidden: 4096, heads: 32, vocab: 32000, seq: 4096 }, parallel: { batch: 512 } }
vary: { workload.search: [{ tp: [2] }, { tp: [4] }] }
..
code sweep plans.yaml -q --search parallelism
code sweep zip.yaml -q --card llama.json
code alloc mix-2026 -q --card llama.json 2>&1 | sed 's:; .*/:; :'
code import --from megatron mixtral.sh --network dgx-h100-pod -q -o mixtral.yaml
plan mixtral.yaml -q --set network.npu=b200
echo "== a workload alone is a file that a study names"
code import --from nemo llama70b.yaml -q -o work.yaml
cat >study.yaml <<..
network: hgx-b200
model: alpha-beta
workload: work.yaml
..
plan study.yaml -q

echo "== wrong"
sed 's/"model_type": "llama"/"model_type": "mamba2"/' llama.json >mamba.json
code import --from hf mamba.json
printf '{ "model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12 }\n' >vit.json
code import --from hf vit.json
sed 's/"num_hidden_layers": 32/"num_hidden_layers": 0/' llama.json >flat.json
code import --from hf flat.json
"$WEFT" import --from nemo llama70b.yaml --network hgx-h100 -q -o lacks.yaml # mxfp8
code sim lacks.yaml -q
bad() {
    echo "== $1"
    printf '%b' "$3" >bad
    "$WEFT" import --from "$2" bad 2>&1
    echo "exit $?"
}
sed '/vocab_size/d; s/"torch_dtype": "bfloat16",/"torch_dtype": "bfloat16" }/' llama.json >novocab.json
code import --from hf novocab.json
code import llama.json --network hgx-h100
code import --from hf --trace philly llama.json
code import --from hf llama.json mixtral.sh
code import --from hf llama.json --network nosuch
bad "not a number" hf '{ "num_hidden_layers": 32,\n  "hidden_size": "big" }\n'
bad "no rhythm" hf '{ "model_type": "gpt_oss", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100, "sliding_window": 8, "layer_types": ["full_attention", "sliding_attention", "sliding_attention"] }\n'
bad "unknown family" hf '{ "model_type": "novel", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100 }\n'
# shellcheck disable=SC2016  # the file has the placeholder
bad "placeholder" nemo 'model:\n  num_layers: ${LAYERS}\n'
bad "said twice" nemo 'model: { seq_length: 4096 }\ndataset:\n  seq_length: 8192\n'
bad "open quote" megatron 'train --num-layers "4\n'
bad "no value" megatron 'train --num-layers --hidden-size 8\n'
bad "unknown flavor" torchtitan '[model]\nname = "llama3"\nflavor = "debugmodel"\n'
bad "inline table" torchtitan 'model = { name = "llama3" }\n'
bad "twice" torchtitan '[model]\nname = "a"\nname = "b"\n'
bad "open text" torchtitan '[model]\nname = "a\n'
bad "open list" torchtitan '[model]\nconverters = [ "a", \n'
bad "two on a line" torchtitan '[training]\nseq_len = 1 steps = 2\n'
