test_workloads_chakra.o: tests/unit/test_workloads_chakra.c \
 workloads/readers/readers.h base/err.h base/text.h workloads/step.h \
 topo/network.h topo/npu.h base/schema.h base/yaml.h topo/shape.h \
 workloads/collective.h workloads/algorithm.h tests/unit/chakra_writer.h \
 tests/support.h base/rng.h tests/unit/step_oracle.h
workloads/readers/readers.h:
base/err.h:
base/text.h:
workloads/step.h:
topo/network.h:
topo/npu.h:
base/schema.h:
base/yaml.h:
topo/shape.h:
workloads/collective.h:
workloads/algorithm.h:
tests/unit/chakra_writer.h:
tests/support.h:
base/rng.h:
tests/unit/step_oracle.h:
