/* write_cases: the cases of tests/unit/flow_cases.c as text on standard output, for simgrid_flows. */
#include "tests/unit/flow_cases.h"

int main(void)
{
    for (int i = 0; i < flow_case_count(); i++) {
        struct flow_case c;
        flow_case_build(&c, i);
        flow_case_write(&c, stdout);
        flow_case_free(&c);
    }
    return ferror(stdout) || fflush(stdout);
}
