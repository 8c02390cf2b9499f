test_workloads_ideal.o: tests/unit/test_workloads_ideal.c tests/support.h \
 base/err.h base/rng.h tests/unit/folder.h base/text.h workloads/ideal.h \
 topo/wires.h topo/graph.h topo/network.h topo/npu.h base/schema.h \
 base/yaml.h topo/shape.h workloads/step.h workloads/collective.h \
 workloads/algorithm.h
tests/support.h:
base/err.h:
base/rng.h:
tests/unit/folder.h:
base/text.h:
workloads/ideal.h:
topo/wires.h:
topo/graph.h:
topo/network.h:
topo/npu.h:
base/schema.h:
base/yaml.h:
topo/shape.h:
workloads/step.h:
workloads/collective.h:
workloads/algorithm.h:
