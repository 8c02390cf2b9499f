/* Cost of ownership: published and worked examples, sums by hand, keys that are refused. */
#include "topo/ownership.h"

#include "tests/support.h"

/* An H100 with its share of servers and network, all in one item: 1.33 kW of IT, 80 % of it in the mean. */
static double h100_usd_h(struct own_cost *c, double usd, double rate, double usd_kWh)
{
    const struct own_item npu = { "H100", 1, usd, .life_y = 4, .watt = 1730 / 1.3, .idle_watt = 0 };
    const struct own_terms terms = {
        .capital_rate = rate,
        .support = 0.03,
        .energy_usd_J = usd_kWh / 3.6e6,
        .pue = 1.3,
        .load = 0.8,
        .building_usd_W = 12,
        .building_life_y = 15,
        .rent_usd_W_month = NAN,
        .sold = 1,
    };
    own_sum(c, &npu, 1, &terms);
    return own_usd_npu_h(c, 1, &terms);
}

TEST(annuities_are_those_of_the_tables)
{
    CASES(double rate, life, crf) = {
        { .08, 3, .3880 },  { .08, 4, .3019 },  { .08, 5, .2505 }, { .08, 6, .2163 },
        { .10, 3, .4021 },  { .10, 4, .3155 },  { .10, 5, .2638 }, { .10, 6, .2296 },
        { .08, 15, .1168 }, { .10, 15, .1315 }, { 0, 4, .25 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_near(own_crf(cases[i].rate, cases[i].life), cases[i].crf, 5.01e-5);
    assert_close(own_crf(1e-12, 4), 0.25, 1e-9);
}

/* Two sums of an H100, each term to the cent: 21 % and 20 % above the rents published for it. */
TEST(worked_examples_are_met_to_the_cent)
{
    struct own_cost c;
    assert_near(h100_usd_h(&c, 42959, 0.10, 0.08), 2.044, 0.005);
    assert_near(c.capital / 8760, 1.547, 0.005);
    assert_near(c.building / 8760, 0.240, 0.005);
    assert_near(c.energy / 8760, 0.111, 0.005);
    assert_near(c.support / 8760, 0.147, 0.005);
    assert_near(h100_usd_h(&c, 35459, 0.06, 0.06), 1.560, 0.005);
    assert_near(h100_usd_h(&c, 42959, 0.10, 0.08) / 1.69, 1.21, 0.005);
}

/* w 8 %, 4 y, support 3 %, 12 USD/W over 15 y, PUE 1.3, 0.08 USD/kWh, all hours: a USD and a W. */
TEST(a_dollar_and_a_watt_cost_what_the_rule_of_thumb_says)
{
    struct own_item one = { "one", 1, 1, .life_y = 4 };
    const struct own_terms terms = { .capital_rate = 0.08,
                                     .support = 0.03,
                                     .energy_usd_J = 0.08 / 3.6e6,
                                     .pue = 1.3,
                                     .load = 1,
                                     .building_usd_W = 12,
                                     .building_life_y = 15,
                                     .rent_usd_W_month = NAN,
                                     .sold = 1 };
    struct own_cost usd, watt;
    own_sum(&usd, &one, 1, &terms);
    one.usd = 0;
    one.watt = 1;
    own_sum(&watt, &one, 1, &terms);
    assert_near(usd.total / 8760, 3.79e-5, 5e-8);
    assert_near(watt.building / 8760, 1.60e-4, 5e-7);
    assert_near(watt.energy / 8760, 1.04e-4, 5e-7);
    assert_near(watt.total / usd.total, 7.0, 0.05);
}

/* Cash flows year by year, discounted: the annuity is what makes their value nothing. */
TEST(capital_pays_back_its_price_and_interest)
{
    RNG(rng, 3, 0);
    for (int32_t i = 0; i < 200; i++) {
        int life = (int)rng_range(rng, 1, 20);
        struct own_item item = { "x", 3, 100, .life_y = life, .residual = rng_uniform(rng) };
        const struct own_terms terms = { .capital_rate = rng_range(rng, 0, 0.3) };
        double paid = own_item_capital(&item, &terms), value = -300;
        for (int y = 1; y <= life; y++)
            value += (paid + (y == life ? 300 * item.residual : 0)) / pow(1 + terms.capital_rate, y);
        assert_near(value, 0, 1e-9);
    }
}

TEST(items_add_up_and_power_is_of_two_kinds)
{
    const struct own_item items[] = { { "a", 10, 5, .life_y = 5, .watt = 100, .idle_watt = 20 },
                                      { "b", 2, 30, .life_y = 2, .watt = NAN },
                                      { "c", 1, 0, .life_y = 1, .watt = 50, .idle_watt = 50 } };
    const struct own_terms terms = { .pue = 2,
                                     .load = 0.25,
                                     .rent_usd_W_month = 0.15,
                                     .staff_usd_year = 7,
                                     .support = 0.1,
                                     .energy_usd_J = 1e-6 };
    struct own_cost c;
    own_sum(&c, items, COUNT_OF(items), &terms);
    assert_close(c.watt_peak, 1050, 1e-12);
    assert_close(c.watt_mean, 10 * 40 + 50, 1e-12);
    assert_close(c.capital, 10 + 30, 1e-12);
    assert_close(c.support, 11, 1e-12);
    assert_close(c.building, 1050 * 12 * 0.15, 1e-12);
    assert_close(c.energy, 450 * 2 * 8760 * 3600.0 * 1e-6, 1e-12);
    assert_close(c.total, 40 + 11 + c.building + c.energy + 7, 1e-12);
}

/* The same sum with other prices, life and residual value included. */
TEST(range_is_the_sum_at_the_ends_of_the_bands)
{
    const struct own_terms terms = {
        .capital_rate = 0.08, .support = 0.03, .pue = 1, .building_life_y = 15, .sold = 1
    };
    struct own_item items[] = {
        { "a", 10, 700, 4, 0.2, 5, .idle_watt = 1, .usd_down = 200, .usd_up = 900 },
        { "b", 3, 50, 7, 0, 9, .idle_watt = 9, .usd_up = 10 },
        { "c", 2, 1000, 5, 0.5, 0, .idle_watt = 0 },
    };
    struct own_cost c, low, high;
    own_sum(&c, items, COUNT_OF(items), &terms);
    items[0].usd = 500;
    own_sum(&low, items, COUNT_OF(items), &terms);
    items[0].usd = 1600;
    items[1].usd = 60;
    own_sum(&high, items, COUNT_OF(items), &terms);
    assert_close(c.low, low.total, 1e-14);
    assert_close(c.high, high.total, 1e-14);
    assert_true(c.low < c.total && c.total < c.high);
}

/* ---- keys ---- */

static int read_system(struct own_system *s, const char *text, struct err *e)
{
    struct yaml_doc doc;
    int rc = yaml_read_text(&doc, "s.yaml", text, strlen(text), e);
    if (rc)
        return rc;
    rc = own_read(s, &doc, doc.root, e);
    yaml_free(&doc);
    return rc;
}

TEST(what_is_not_said_is_the_default)
{
    struct own_system s;
    OK(read_system(&s, "pue: 1.1\nenergy_usd_kWh: 0.05\nmtbf: { npu_h: 1000 }\n", e));
    assert_true(s.terms.pue == 1.1 && s.terms.load == 0.75 && s.life_y == 4 && isnan(s.npu_usd));
    assert_close(s.terms.energy_usd_J, 0.05 / 3.6e6, 1e-12);
    assert_close(s.mtbf.npu_s, 3.6e6, 1e-12);
    assert_close(s.mtbf.switch_s, 1.4e6 * 3600, 1e-12);
    assert_true(s.checkpoint.async && s.checkpoint.restart_s == 600 && isnan(s.checkpoint.interval_s));
}

TEST(wrong_values_are_refused_with_their_place)
{
    static const struct refusal cases[] = {
        { "life_years: 0", ERR_RANGE, "s.yaml:1:13: life_years is 0, expected 0.1 to 100" },
        { "network_life_years: -4", ERR_RANGE, "network_life_years is -4" },
        { "capital_rate: -0.1", ERR_RANGE, "capital_rate is -0.1, expected 0 to 1" },
        { "pue: 0.9", ERR_RANGE, "pue is 0.9, expected 1 to 10" },
        { "residual: 1.5", ERR_RANGE, "residual is 1.5, expected 0 to 1" },
        { "npu_idle: 1.1", ERR_RANGE, "npu_idle is 1.1, expected 0 to 1" },
        { "mtbf: { nic_h: -5 }", ERR_RANGE, "mtbf.nic_h is -5" },
        { "spare_nodes: -1", ERR_RANGE, "spare_nodes is -1" },
        { "repair_h: -1", ERR_RANGE, "repair_h is -1" },
        { "mtbf: { nic_h: 0 }", ERR_RANGE, "mtbf.nic_h is 0" },
        { "mtbf: { nics_h: 1 }", ERR_PARSE, "did you mean \"nic_h\"?" },
        { "checkpoint: { stall_s: -1 }", ERR_RANGE, "checkpoint.stall_s is -1" },
        { "items: [{ name: x, idle: 2 }]", ERR_RANGE, "items[0].idle is 2, expected 0 to 1" },
        { "items: [{ usd: 2 }]", ERR_PARSE, "name" },
        { "items: [{ name: x, per: pod }]", ERR_PARSE, "items[0].per is pod, expected one of npu" },
        { "rent_usd_kW_month: 150\nbuilding_usd_W: 12", ERR_PARSE, "is given together with building_usd_W" },
        { "checkpoint: { size_GB: 5, bytes_per_param: 2 }", ERR_PARSE,
          "checkpoint.bytes_per_param is given together with size_GB" },
        { "run_steps: 5\nrun_Gtokens: 12", ERR_PARSE, "run_steps is given together with run_Gtokens" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct own_system s;
        FAILS(read_system(&s, cases[i].text, e), cases[i].code, cases[i].message);
    }
}
