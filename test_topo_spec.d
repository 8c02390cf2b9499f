test_topo_spec.o: tests/unit/test_topo_spec.c tests/support.h base/err.h \
 base/rng.h base/num.h topo/network.h topo/npu.h base/schema.h \
 base/text.h base/yaml.h topo/shape.h
tests/support.h:
base/err.h:
base/rng.h:
base/num.h:
topo/network.h:
topo/npu.h:
base/schema.h:
base/text.h:
base/yaml.h:
topo/shape.h:
