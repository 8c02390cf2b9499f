#!/bin/sh
# For tests of sweeps to read in: how ranks of MPI start anywhere, and a study with prices.

# mpirun refuses to be started by root, as in a container, unless told. CMA needs rights that containers lack.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_btl_vader_single_copy_mechanism=none
# Open MPI leaves memory of its own behind; that of sweeps and of the fleet is checked by unit tests.
ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
LC_ALL=C
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_btl_vader_single_copy_mechanism
export ASAN_OPTIONS LC_ALL

# write_sweep_study FILE POINTS: in this folder, with prices.yaml beside it.
write_sweep_study() {
    cat >prices.yaml <<..
name: prices
rates:
  - { tier: A, link_usd_per_GBps: 4 }
  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
..
    cat >"$1" <<..
network:
  dims:
    - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100 }
    - { name: pod, shape: switch, size: 8, tier: B, latency_ns: 500 }
parts: prices.yaml
total_GBps: 300
simulation: { algorithms: [ default, ring ] } # written into the network, whose bandwidths vary
workload:
  name: toy
  groups: { tp: { size: 4 }, dp: { after: tp } }
  step:
    sum:
      - compute_ms: 1
      - max: [ { compute_ms: 0.2 }, { all-reduce: { size_MB: 80, group: dp } } ]
      - all-to-all: { size_MB: 8, group: tp }
vary:
  model: [ chunk, alpha-beta ]
  objective: [ perf_per_cost, time ]
  network.dims.pod.max_GBps: { from: 20, to: 220, points: $(($2 / 4)) }
..
}
