test_topo_graph.o: tests/unit/test_topo_graph.c base/outfile.h \
 base/text.h base/err.h tests/support.h base/rng.h topo/graph.h \
 topo/network.h topo/npu.h base/schema.h base/yaml.h topo/shape.h
base/outfile.h:
base/text.h:
base/err.h:
tests/support.h:
base/rng.h:
topo/graph.h:
topo/network.h:
topo/npu.h:
base/schema.h:
base/yaml.h:
topo/shape.h:
