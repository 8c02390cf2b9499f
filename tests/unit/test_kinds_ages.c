/* Dates of prices: what they can mean, which prices a design takes, and that all of the catalogue have one.
 */
#include "kinds/design/answer/ages.h"
#include "kinds/design/ask/load.h"
#include "tests/unit/catalogue_files.h"
#include "tests/unit/folder.h"

/* Days by the C library's calendar would be its own arithmetic: these are from tables. */
TEST(a_date_means_the_last_day_it_can)
{
    CASES(const char *date; int64_t day) = {
        { "1970-01-01", 0 },           { "1970", 364 },
        { "2000-02", 11016 },          { "2024-02", 19782 },
        { "2024-12", 20088 },          { "2026-03-20", 20532 },
        { "mid-2026", 20818 },         { "read 2026-11-20", 20777 },
        { "A100 80 GB, 2024", 20088 }, { "2026-13", 20818 },
        { "2026-02-40", 20512 },       { "", INT64_MIN },
        { "recalled", INT64_MIN },     { "12345", INT64_MIN },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(ages_day(cases[i].date), cases[i].day);
}

#define STUDY                                                                                                \
    "network: { npu: { name: A, watt: 5 }, dims: [ { name: a, shape: switch, size: 8, bw_GBps: 50, tier: P " \
    "} ] }\n"                                                                                                \
    "parts:\n"                                                                                               \
    "  date: 2025-06-01\n"                                                                                   \
    "  catalogue:\n"                                                                                         \
    "    - { name: n, kind: nic, ports: 1, bw_GBps: 50, usd: 1, date: 2024 }\n"                              \
    "    - { name: s, kind: switch, ports: 64, bw_GBps: 50, usd: 1, date: unknown }\n"                       \
    "    - { name: l, kind: link, bw_GBps: 50, usd: 1 }\n"                                                   \
    "    - { name: unused, kind: link, bw_GBps: 50, usd: 1, date: 1999 }\n"                                  \
    "  build: [ { tier: P, nic: n, switch: s, end_link: l } ]\n"                                             \
    "workload: { step: { compute_ms: 1 } }\n"                                                                \
    "system: { checkpoint: { size_GB: 1 }%s, server: { name: S, holds: [A], npus_per_node: 8, npu_usd: { "   \
    "low: 1, typ: 2, high: 3, grade: D, date: 2023-05, source: x } } }\n"

static void read_ages(struct ages *a, const char *more)
{
    char text[2048];
    FOLDER(f);
    KEEP(struct design_point, s, design_point_free);
    snprintf(text, sizeof text, STUDY, more);
    MUST(design_point_load(&s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD, e));
    assert_int_equal(s.price_days, 365);
    ages_add(a, &s);
    ages_add(a, &s);
}

/* On 2025-12-31, day 20453: the link is 213 days old, the NIC 365, the server's 944; the box has no date. */
TEST(prices_that_a_design_takes_are_dated_once)
{
    struct ages a = { .n = 0 }, own = { .n = 0 };
    const struct age *oldest;
    read_ages(&a, "");
    assert_int_equal(a.n, 4);
    assert_int_equal(ages_old(&oldest, &a, 20453, 365), 1);
    assert_int_equal(ages_old(&oldest, &a, 20453, 364), 2);
    assert_int_equal(ages_old(&oldest, &a, 20453, 213), 2);
    assert_int_equal(ages_old(&oldest, &a, 20453, 212), 3);
    assert_string_equal(oldest->name, "npu_usd of S");
    read_ages(&own, ", npu_usd: 7");
    assert_int_equal(own.n, 3);
    assert_int_equal(ages_old(&oldest, &own, 20453, 365), 0);
}

static void assert_dated(const char *path, const struct yaml_doc *doc, struct err *e)
{
    struct topo_parts p;
    OK(topo_read_parts(&p, doc, doc->root, e));
    for (int32_t k = 0; k < p.n_parts; k++)
        if (!isnan(p.parts[k].usd.typ) && ages_day(p.parts[k].date) == INT64_MIN)
            fail_msg("%s: %s has no date", path, p.parts[k].name);
    for (int32_t k = 0; k < p.n_rates; k++)
        if (ages_day(p.rates[k].date) == INT64_MIN)
            fail_msg("%s: %s has no date", path, p.rates[k].tier);
    topo_parts_free(&p);
}

TEST(every_price_of_the_catalogue_has_a_date)
{
    each_catalogue_file("parts", 3, assert_dated);
}
