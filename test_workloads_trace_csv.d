test_workloads_trace_csv.o: tests/unit/test_workloads_trace_csv.c \
 base/text.h base/err.h tests/unit/trace_sample.h tests/support.h \
 base/rng.h workloads/traces/trace.h base/json_read.h base/table.h
base/text.h:
base/err.h:
tests/unit/trace_sample.h:
tests/support.h:
base/rng.h:
workloads/traces/trace.h:
base/json_read.h:
base/table.h:
