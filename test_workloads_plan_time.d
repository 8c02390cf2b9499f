test_workloads_plan_time.o: tests/unit/test_workloads_plan_time.c \
 tests/unit/training_fixture.h base/rng.h base/err.h \
 tests/unit/step_oracle.h tests/support.h workloads/step.h topo/network.h \
 topo/npu.h base/schema.h base/text.h base/yaml.h topo/shape.h \
 workloads/collective.h workloads/algorithm.h workloads/plan_cost.h \
 workloads/block.h workloads/model.h workloads/plan.h workloads/step_fn.h
tests/unit/training_fixture.h:
base/rng.h:
base/err.h:
tests/unit/step_oracle.h:
tests/support.h:
workloads/step.h:
topo/network.h:
topo/npu.h:
base/schema.h:
base/text.h:
base/yaml.h:
topo/shape.h:
workloads/collective.h:
workloads/algorithm.h:
workloads/plan_cost.h:
workloads/block.h:
workloads/model.h:
workloads/plan.h:
workloads/step_fn.h:
