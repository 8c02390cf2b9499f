/* ASTRA-sim text, whatever it holds, is read or refused; what was read is a whole tree. */
#include "tests/fuzz/whole_tree.h"
#include "workloads/readers/astra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct topo_network net = fuzz_network();
    struct astra_rule rule = { -1, -1, -1 };
    if (size > 0) {
        rule.loop = data[0] % 3 - 1;
        rule.recompute = data[0] / 3 % 4 - 1;
    }
    struct step_tree t;
    struct err e = { 0 };
    int rc = astra_read(&t, "fuzz", (const char *)data, size, &net, rule, &e);
    check_result(&t, rc, &e);
    return 0;
}
