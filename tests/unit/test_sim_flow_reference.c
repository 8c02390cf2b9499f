/* Flows against SimGrid's answers for the same flows: tests/oracle/README.md says how they were made. */
#include "tests/support.h"

#include "base/table.h"
#include "tests/unit/flow_cases.h"

#define GOLDEN "tests/oracle/simgrid.csv"

/* Ends of phases as SimGrid has them, for one case after the other. */
static void check_case(struct flow_case *c, const struct table *t, int64_t *row, double *worst)
{
    double last_s = 0;
    flow_case_run(c);
    for (int32_t p = 0; p < c->n_phases; p++) {
        if (!c->phases[p].shown)
            continue;
        assert_in_range(*row, 0, t->n_rows - 1);
        assert_string_equal(table_cell(t, *row, 0)->text, c->name);
        assert_int_equal((int)table_number(t, *row, 1), p);
        double want_s = table_number(t, *row, 2);
        assert_close(c->phases[p].finish_s, want_s, 1e-6);
        *worst = fmax(*worst, fabs(c->phases[p].finish_s / want_s - 1));
        last_s = fmax(last_s, want_s);
        (*row)++;
    }
    if (!isnan(c->collective_s)) {
        assert_close(c->collective_s, last_s, 1e-6);
        *worst = fmax(*worst, fabs(c->collective_s / last_s - 1));
    }
}

TEST(flows_and_collectives_end_when_simgrid_says)
{
    const char *other = getenv("WEFT_SIMGRID_CSV");
    KEEP(struct table, t, table_free);
    int64_t row = 0;
    double worst = 0;
    OK(table_read_csv(&t, other ? other : GOLDEN, e));
    for (int i = 0; i < flow_case_count(); i++) {
        KEEP(struct flow_case, c, flow_case_free);
        flow_case_build(&c, i);
        check_case(&c, &t, &row, &worst);
    }
    assert_int_equal(row, t.n_rows);
    print_message("%lld times, largest relative difference %.1e\n", (long long)row, worst);
}
