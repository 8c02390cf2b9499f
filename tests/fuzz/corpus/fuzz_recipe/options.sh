fTP=2
pretrain.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --vocab-size 100 --seq-length ${SEQ:-128} --global-batch-size 16 --tensor-model-parallel-size $TP --recompute-granularity full --recompute-method block --recompute-num-layers 1 --swiglu
