/* A Chakra trace, whatever its bytes, is read or refused; what was read is a whole tree. */
#include "tests/fuzz/whole_tree.h"
#include "workloads/readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char json[] = "{\"1\": [0, 1, 2, 3], \"2\": [0, 5]}";
    struct topo_network net = fuzz_network();
    struct yaml_doc groups;
    struct step_tree t;
    struct err e = { 0 };
    net.npu = (struct topo_npu){ .peak_flops = 1e15, .mem_Bps = 1e12 };
    int rc = yaml_read_text(&groups, "groups", json, sizeof json - 1, &e);
    assert(rc == 0);
    rc = chakra_read_bytes(&t, "fuzz", (const char *)data, size, 0, &groups, &net, &e);
    check_result(&t, rc, &e);
    yaml_free(&groups);
    return 0;
}
