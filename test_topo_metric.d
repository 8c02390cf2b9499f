test_topo_metric.o: tests/unit/test_topo_metric.c tests/support.h \
 base/err.h base/rng.h topo/graph.h base/text.h topo/network.h topo/npu.h \
 base/schema.h base/yaml.h topo/shape.h
tests/support.h:
base/err.h:
base/rng.h:
topo/graph.h:
base/text.h:
topo/network.h:
topo/npu.h:
base/schema.h:
base/yaml.h:
topo/shape.h:
