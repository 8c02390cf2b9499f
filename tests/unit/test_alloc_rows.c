/* Constraints as text, and what a network fixes and limits, as rows in bytes per second or USD. */
#include "tests/support.h"
#include "alloc/problem.h"

static const double usd_per_Bps[] = { 2e-9, 4e-9 }, nic_usd_per_Bps[] = { 0, 3e-9 },
                    watt_per_Bps[] = { 1e-9, 5e-9 }, own_watt_per_Bps[] = { 0, 8e-9 },
                    own_usd_per_Bps[] = { 0, 3e-9 };
static const struct alloc_prices prices = { .rates = { usd_per_Bps, nic_usd_per_Bps, watt_per_Bps,
                                                       own_watt_per_Bps, own_usd_per_Bps },
                                            .fixed = { [ALLOC_USD] = 1e6, [ALLOC_OWN_WATT] = 1e6 },
                                            .site_MW_per_W = 1.25e-6 };

static struct topo_network node_and_pod(void)
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, "full:8 switch:32", e));
    strcpy(net.dims[0].name, "node");
    strcpy(net.dims[1].name, "pod");
    return net;
}

TEST(text_becomes_rows_in_bytes_per_second_or_dollars)
{
    static const struct {
        const char *text;
        double node, pod, rhs, unit;
        enum linexpr_sense sense;
        const char *unit_name;
        double usd_coef;
    } cases[] = {
        { "node <= 200", 1, 0, 200e9, 1e9, LINEXPR_LE, "GB/s", 0 },
        { "total == 1000", 1, 1, 1000e9, 1e9, LINEXPR_EQ, "GB/s", 0 },
        { "total <= 4*node", -3, 1, 0, 1e9, LINEXPR_LE, "GB/s", 0 },
        { "node >= pod", 1, -1, 0, 1e9, LINEXPR_GE, "GB/s", 0 },
        { "node*1000 <= 8000", 1000, 0, 8000e9, 1e9, LINEXPR_LE, NULL, 0 },
        /* The limit goes to the right, with a positive sign. */
        { "2*node - pod >= -10", -2, 1, 10e9, 1e9, LINEXPR_LE, "GB/s", 0 },
        { "8 >= pod", 0, 1, 8e9, 1e9, LINEXPR_LE, "GB/s", 0 },
        { "-usd >= -20e6", 2e-9, 4e-9, 19e6, 1, LINEXPR_LE, "USD", 1 },
        /* The fixed price of a design leaves the row. */
        { "usd <= 20e6", 2e-9, 4e-9, 19e6, 1, LINEXPR_LE, "USD", 1 },
        { "2*usd <= 20e6", 4e-9, 8e-9, 18e6, 1, LINEXPR_LE, NULL, 2 },
        { "usd/1e6 <= 20", 2e-15, 4e-15, 19, 1, LINEXPR_LE, NULL, 1e-6 },
        { "nic_usd <= 5e6", 0, 3e-9, 5e6, 1, LINEXPR_LE, "USD", 0 },
        { "watt <= 5e4", 1e-9, 5e-9, 5e4, 1, LINEXPR_LE, "W", 0 },
        /* Power at the meter, over that of IT: 1.25 MW of 1 MW before any network. */
        { "site_MW <= 20", 0, 1e-14, 18.75, 1, LINEXPR_LE, "MW", 0 },
        { "usd_year <= 3e8", 0, 3e-9, 3e8, 1, LINEXPR_LE, "USD", 0 },
        { "usd_year + usd <= 3e8", 2e-9, 7e-9, 2.99e8, 1, LINEXPR_LE, "USD", 1 },
        { "usd_year + watt <= 3e8", 1e-9, 8e-9, 3e8, 1, LINEXPR_LE, NULL, 0 },
        { "nic_usd <= 0.25*usd", -0.5e-9, 2e-9, 0.25e6, 1, LINEXPR_LE, NULL, -0.25 },
        /* Where both units meet, a GB/s counts as one. */
        { "usd + 1000*pod <= 3e6", 2e-9, 4e-9 + 1000e-9, 2e6, 1, LINEXPR_LE, NULL, 1 },
    };
    const struct topo_network net = node_and_pod();
    KEEP(struct alloc_rows, rows, alloc_rows_free) = { 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        OK(alloc_add_text(&rows, &net, &prices, cases[i].text, e));
        const struct alloc_row *row = &rows.rows[i];
        assert_string_equal(row->name, cases[i].text);
        assert_close(row->coef[0], cases[i].node, 1e-15);
        assert_close(row->coef[1], cases[i].pod, 1e-15);
        assert_close(row->rhs, cases[i].rhs, 1e-15);
        assert_true(row->unit == cases[i].unit && row->sense == cases[i].sense);
        assert_close(row->spent_coef[ALLOC_USD], cases[i].usd_coef, 1e-15);
        assert_int_equal(row->unit_name != NULL, cases[i].unit_name != NULL);
        if (row->unit_name)
            assert_string_equal(row->unit_name, cases[i].unit_name);
        for (int d = 2; d < TOPO_MAX_DIMS; d++)
            assert_true(row->coef[d] == 0);
    }
    assert_int_equal(rows.n, COUNT_OF(cases));
}

TEST(bad_text_is_refused_at_its_column)
{
    static const struct {
        const char *text, *message;
        bool priced;
    } cases[] = {
        { "pdo <= 5", "col 1: unknown name \"pdo\"; did you mean \"pod\"?", true },
        { "node <= 2 + tier", "col 13: unknown name \"tier\"", true },
        { "node < 5", "col 6", true },
        { "node * pod <= 5", "col", true },
        { "0*node <= 5", "", true },
        { "usd <= 5", "col 1: unknown name \"usd\"", false },
        { "nic_usd <= 5", "col 1: unknown name \"nic_usd\"", false },
        { "1e-300*node <= 1e-298", "col 1: holds 1e-300 times node, expected a factor of 1e-50 to 1e+50",
          true },
        { "node + 1e300*pod <= 1", "col 8: holds 1e+300 times pod, expected", true },
        { "pod <= 1e302", "col 8: holds the limit 1e+302, expected at most 1e+50", true },
        { "node2_x == 1", "col 1: unknown name", true },
        { "-1e51 == 2*usd", "col 2: holds the limit 1e+51, expected", true },
    };
    const struct topo_network net = node_and_pod();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct alloc_rows, rows, alloc_rows_free) = { 0 };
        FAILS(alloc_add_text(&rows, &net, cases[i].priced ? &prices : NULL, cases[i].text, e), ERR_PARSE,
              cases[i].message);
        assert_int_equal(rows.n, 0);
    }
}

TEST(total_needs_no_prices)
{
    const struct topo_network net = node_and_pod();
    KEEP(struct alloc_rows, rows, alloc_rows_free) = { 0 };
    OK(alloc_add_text(&rows, &net, NULL, "total <= 100", e));
    assert_true(rows.rows[0].coef[0] == 1 && rows.rows[0].coef[1] == 1);
}

TEST(the_network_says_what_it_fixes_and_limits)
{
    struct topo_network net = node_and_pod();
    KEEP(struct alloc_rows, rows, alloc_rows_free) = { 0 };
    net.dims[0].bw_Bps = 300e9;
    net.dims[0].min_Bps = 100e9; /* says nothing beside a bandwidth that is given */
    net.dims[1].min_Bps = 10e9;
    net.dims[1].max_Bps = 50e9;
    OK(alloc_add_network(&rows, &net, e));
    OK(alloc_add_total(&rows, &net, 340e9, 0, e));
    static const struct {
        const char *name;
        double node, pod, rhs;
        enum linexpr_sense sense;
    } want[] = {
        { "node.bw_GBps", 1, 0, 300e9, LINEXPR_EQ },
        { "pod.min_GBps", 0, 1, 10e9, LINEXPR_GE },
        { "pod.max_GBps", 0, 1, 50e9, LINEXPR_LE },
        { "total_GBps", 1, 1, 340e9, LINEXPR_EQ },
    };
    assert_int_equal(rows.n, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_string_equal(rows.rows[i].name, want[i].name);
        assert_true(rows.rows[i].coef[0] == want[i].node && rows.rows[i].coef[1] == want[i].pod);
        assert_true(rows.rows[i].rhs == want[i].rhs && rows.rows[i].unit == 1e9);
        assert_int_equal(rows.rows[i].sense, want[i].sense);
    }
}

TEST(many_rows_fit_and_long_names_are_cut)
{
    const struct topo_network net = node_and_pod();
    KEEP(struct alloc_rows, rows, alloc_rows_free) = { 0 };
    char text[400] = "node";
    for (int i = 0; i < 40; i++)
        strcat(text, " + pod");
    strcat(text, " <= 7");
    for (int i = 0; i < 100; i++)
        OK(alloc_add_text(&rows, &net, NULL, text, e));
    assert_true(rows.n == 100 && strlen(rows.rows[99].name) == ALLOC_ROW_NAME - 1);
    assert_true(rows.rows[99].coef[1] == 40);
}
