/* Parts files: rates, catalogues and recipes with their source, date and grade. */
#include "tests/support.h"
#include "topo/parts.h"

struct loaded {
    struct yaml_doc doc;
    struct topo_parts p;
};

static void load_file(struct loaded *l, const char *path)
{
    MUST(yaml_read_file(&l->doc, path, e));
    MUST(topo_read_parts(&l->p, &l->doc, l->doc.root, e));
}

static void load_text(struct loaded *l, const char *text)
{
    MUST(yaml_read_text(&l->doc, "parts.yaml", text, strlen(text), e));
    MUST(topo_read_parts(&l->p, &l->doc, l->doc.root, e));
}

static void unload(struct loaded *l)
{
    topo_parts_free(&l->p);
    yaml_free(&l->doc);
}

#define PARTS_FILE(l, path)                                                                                  \
    KEEP(struct loaded, l, unload);                                                                          \
    load_file(&l, path)
#define PARTS_TEXT(l, text)                                                                                  \
    KEEP(struct loaded, l, unload);                                                                          \
    load_text(&l, text)

TEST(shipped_files_are_read_and_every_figure_has_source_and_date)
{
    static const struct {
        const char *path, *name;
        int32_t n_rates, n_parts, n_recipes;
    } cases[] = {
        { "configs/parts/libra-2024.yaml", "libra-2024", 4, 0, 0 },
        { "configs/parts/libra-2024-4d.yaml", "libra-2024-4d", 4, 0, 0 },
        { "configs/parts/libra-2024-3d.yaml", "libra-2024-3d", 3, 0, 0 },
        { "configs/parts/libra-2022.yaml", "libra-2022", 4, 0, 0 },
        { "configs/parts/hammingmesh-2022.yaml", "hammingmesh-2022", 0, 3, 1 },
        { "configs/parts/catalogue-2026.yaml", "catalogue-2026", 0, 108, 24 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        PARTS_FILE(l, cases[i].path);
        assert_string_equal(l.p.name, cases[i].name);
        assert_true(l.p.n_rates == cases[i].n_rates && l.p.n_parts == cases[i].n_parts);
        assert_int_equal(l.p.n_recipes, cases[i].n_recipes);
        for (int32_t r = 0; r < l.p.n_rates; r++) {
            assert_string_not_equal(l.p.rates[r].source,
                                    cases[i].path); /* what stands in for a missing one */
            assert_true(l.p.rates[r].date[0] != '\0');
        }
        for (int32_t r = 0; r < l.p.n_parts; r++) {
            assert_string_not_equal(l.p.parts[r].source, cases[i].path);
            assert_true(l.p.parts[r].date[0] != '\0');
        }
    }
}

/* astra-sim/libra@0044db0 inputs/cost_model/4d_cost_model.yml without its last digits. */
TEST(libra_rates_are_usd_per_byte_and_second)
{
    static const struct {
        const char *tier;
        double link, port, nic; /* USD per GB/s */
    } cases[] = { { "InterChiplet", 2, NAN, NAN },
                  { "InterPackage", 4, 13, NAN },
                  { "InterNode", 4, 13, NAN },
                  { "InterPod", 7.8, 18, 31.6 } };
    struct loaded l;
    load_file(&l, "configs/parts/libra-2024.yaml");
    assert_true(l.p.counting == COUNT_TWO_WAY && l.p.nic_port_Bps == 50e9);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct topo_rate *r = topo_find_rate(&l.p, cases[i].tier);
        assert_true(r && r->link.typ == cases[i].link / 1e9);
        assert_true(isnan(cases[i].port) ? isnan(r->port.typ) : r->port.typ == cases[i].port / 1e9);
        assert_true(isnan(cases[i].nic) ? isnan(r->nic.typ) : r->nic.typ == cases[i].nic / 1e9);
        assert_true(isnan(r->link.low) && isnan(r->link.high) && r->grade == GRADE_VERIFIED);
        assert_string_equal(r->date, "2024-05-07");
    }
    assert_null(topo_find_rate(&l.p, "InterTile"));
    unload(&l);

    load_file(&l, "configs/parts/libra-2022.yaml");
    assert_true(l.p.counting == COUNT_ONE_WAY && isnan(l.p.nic_port_Bps));
    assert_non_null(topo_find_rate(&l.p, "InterTile"));
    unload(&l);
}

/* Prices of 2026-09: an SN5600 is not what one reseller of 2023 asked; copper fails less, by its own figure.
 */
TEST(catalogue_has_parts_of_2026)
{
    PARTS_FILE(l, "configs/parts/catalogue-2026.yaml");
    const struct topo_part
        *sw = &l.p.parts[topo_find_part(&l.p, "Spectrum-4 SN5600 64x800G")],
        *half = &l.p.parts[topo_find_part(&l.p, "Spectrum-4 SN5600 as 128x400G")],
        *box = &l.p.parts[topo_find_part(&l.p, "Tomahawk 5 box 64x800G (UfiSpace S9321-64E)")],
        *aec = &l.p.parts[topo_find_part(&l.p, "800G AEC, 1 to 7 m")];
    assert_true(sw->usd.low == 67200 && sw->usd.typ == 70400 && sw->usd.high == 87100);
    assert_true(half->usd.typ == sw->usd.typ &&
                half->bw_Bps * (double)half->ports == sw->bw_Bps * (double)sw->ports);
    assert_true(box->usd.low == 39700 && box->usd.typ == 60000 && box->usd.high == 115200);
    assert_true(aec->mtbf_s == 1e7 * 3600 && isnan(sw->mtbf_s));
    const struct topo_recipe *r = topo_find_recipe(&l.p, "InterPodEthernet");
    assert_true(topo_recipe_link_Bps(&l.p, r) == 50e9 && l.p.parts[r->nic].ports == 2);
}

TEST(catalogue_keeps_bands_watts_and_grades_apart)
{
    PARTS_FILE(l, "configs/parts/catalogue-2026.yaml");

    const struct topo_part *nic = &l.p.parts[topo_find_part(&l.p, "ConnectX-7 400G NDR")];
    assert_true(nic->kind == PART_NIC && nic->year == 2022);
    assert_true(nic->usd.low == 1200 && nic->usd.typ == 1580 && nic->usd.high == 2000);
    assert_true(nic->bw_Bps == 50e9 && nic->watt == 25 && isnan(nic->lat_s) && nic->grade == GRADE_DERIVED);
    assert_true(nic->band_grade == GRADE_RECALLED && nic->watt_grade == GRADE_RECALLED);

    const struct topo_part *sw = &l.p.parts[topo_find_part(&l.p, "QM9700 NDR 64x400G")];
    assert_true(sw->kind == PART_SWITCH && sw->ports == 64);
    assert_close(sw->lat_s, 330e-9, 1e-15);
    assert_int_equal(sw->grade, GRADE_VERIFIED);
    assert_string_equal(sw->date, "2024-08");

    const struct topo_part *dac = &l.p.parts[topo_find_part(&l.p, "400G QSFP-DD DAC (MCP7F80)")];
    assert_true(isnan(dac->usd.typ) && dac->ports == -1);
    assert_close(dac->lat_s_per_m, 4.5e-9, 1e-15);
    assert_int_equal(topo_find_part(&l.p, "ConnectX-9"), -1);

    const struct topo_recipe *pod = topo_find_recipe(&l.p, "InterPod");
    assert_true(pod && &l.p.parts[pod->nic] == nic && &l.p.parts[pod->sw] == sw);
    assert_true(pod->taper == 1 && pod->rails == 1);
    assert_int_equal(topo_find_recipe(&l.p, "InterRail")->rails, 8);
    assert_int_equal(topo_find_recipe(&l.p, "InterChiplet")->sw, -1);
}

/* "R+A": recalled, but reproduces published sums; no better than recalled in a sum. */
TEST(grades_fall_back_to_the_file_and_then_to_recalled)
{
    static const char graded[] = "grade: D\n"
                                 "source: a\n"
                                 "catalogue:\n"
                                 "  - { name: n, kind: nic, grade: R+A, band_grade: V, watt_grade: V-weak }\n"
                                 "  - { name: m, kind: cable, bw_GBps: 1, usd: 1, source: b, date: c }\n"
                                 "build:\n"
                                 "  - { tier: t, end_link: m }\n";
    static const char bare[] = "rates:\n  - { tier: t, link_usd_per_GBps: { low: 1, typ: 2, high: 3 } }\n";
    struct loaded l;
    load_text(&l, graded);
    assert_true(l.p.parts[0].grade == GRADE_RECALLED && l.p.parts[0].band_grade == GRADE_VERIFIED);
    assert_true(l.p.parts[0].watt_grade == GRADE_WEAK && l.p.parts[1].grade == GRADE_DERIVED);
    assert_true(l.p.parts[1].band_grade == GRADE_DERIVED && l.p.parts[1].watt_grade == GRADE_DERIVED);
    assert_string_equal(l.p.parts[0].source, "a");
    assert_string_equal(l.p.parts[0].date, "");
    assert_string_equal(l.p.parts[1].source, "b");
    assert_string_equal(l.p.parts[1].date, "c");
    unload(&l);

    load_text(&l, bare);
    assert_string_equal(l.p.name, "parts.yaml");
    assert_string_equal(l.p.rates[0].source, "parts.yaml");
    assert_int_equal(l.p.rates[0].grade, GRADE_RECALLED);
    assert_true(l.p.rates[0].link.low == 1e-9 && l.p.rates[0].link.high == 3e-9);
    unload(&l);
}

TEST(link_rate_is_that_of_the_slowest_part_with_a_rate)
{
    PARTS_TEXT(l, "catalogue:\n"
                  "  - { name: n, kind: nic, bw_GBps: 100, ports: 1, usd: 1 }\n"
                  "  - { name: s, kind: switch, ports: 64, usd: 1 }\n"
                  "  - { name: c, kind: cable, bw_GBps: 50, usd: 1 }\n"
                  "  - { name: slow, kind: cable, bw_GBps: 25, usd: 1 }\n"
                  "build:\n"
                  "  - { tier: a, nic: n, switch: s, end_link: c }\n"
                  "  - { tier: b, nic: n, switch: s, end_link: c, up_link: slow }\n");
    assert_true(topo_recipe_link_Bps(&l.p, topo_find_recipe(&l.p, "a")) == 50e9);
    assert_true(topo_recipe_link_Bps(&l.p, topo_find_recipe(&l.p, "b")) == 25e9);
}

/* The rule of docs/ownership.md: copper as far as it goes, then optics by their class. Parts of both rates
 * that are sold today; 2 m of passive copper at 100G lanes is what IEEE 802.3ck asks at least. */
TEST(medium_of_a_link_follows_from_its_metres)
{
    static const struct {
        double m;
        const char *at_400G, *at_800G;
    } cases[] = {
        { 0.5, "400G DAC", "800G DAC" },
        { 2, "400G DAC", "800G DAC" },
        { 2.5, "400G DAC", "800G ACC" },
        { 3, "400G DAC", "800G ACC" },
        { 3.01, "400G AEC", "800G AEC" },
        { 7, "400G AEC", "800G AEC" },
        { 8, "400G link of 800G SR8", "800G SR8" },
        { 50, "400G link of 800G SR8", "800G SR8" },
        { 51, "400G link of 800G DR8", "800G DR8" },
        { 500, "400G link of 800G DR8", "800G DR8" },
        { 501, "400G link of 800G 2xFR4", "800G 2xFR4" },
        { 2000, "400G link of 800G 2xFR4", "800G 2xFR4" },
    };
    static const char *const nics[] = { "ConnectX-8 800G SuperNIC as 2x400GbE",
                                        "ConnectX-8 800G XDR SuperNIC" };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int fast = 0; fast < 2; fast++) {
            KEEP(struct yaml_doc, doc, yaml_free);
            KEEP(struct topo_parts, p, topo_parts_free);
            char metres[32];
            OK(yaml_read_file(&doc, "configs/parts/catalogue-2026.yaml", e));
            yaml_each (row, &doc, yaml_get(&doc, doc.root, "build"))
                if (yaml_get(&doc, row, "end_m") >= 0) {
                    snprintf(metres, sizeof metres, "%g", cases[i].m);
                    doc.nodes[yaml_get(&doc, row, "end_m")].text = metres;
                    doc.nodes[yaml_get(&doc, row, "nic")].text = nics[fast];
                    doc.nodes[yaml_get(&doc, row, "switch")].text =
                        fast ? "Spectrum-4 SN5600 64x800G" : "Spectrum-4 SN5600 as 128x400G";
                }
            OK(topo_read_parts(&p, &doc, doc.root, e));
            const struct topo_recipe *r = topo_find_recipe(&p, "InterPodByMetres");
            const char *want = fast ? cases[i].at_800G : cases[i].at_400G;
            if (strncmp(p.parts[r->end_link].name, want, strlen(want)) != 0)
                fail_msg("%g m: %s, expected %s", cases[i].m, p.parts[r->end_link].name, want);
            assert_true(p.parts[r->end_link].run_m == cases[i].m && p.parts[r->up_link].run_m == 300);
            assert_true(topo_recipe_link_Bps(&p, r) == (fast ? 100e9 : 50e9));
        }
}

/* Three parts that recipes below refer to. */
#define CATALOGUE                                                                                            \
    "catalogue:\n"                                                                                           \
    "  - { name: nic, kind: nic, bw_GBps: 50, ports: 1, usd: 1 }\n"                                          \
    "  - { name: box, kind: switch, bw_GBps: 50, ports: 8, usd: 1 }\n"                                       \
    "  - { name: port, kind: switch, bw_GBps: 50, ports: 1, usd: 1 }\n"                                      \
    "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"                                                 \
    "  - { name: free, kind: cable, bw_GBps: 50 }\n"                                                         \
    "  - { name: band, kind: cable, bw_GBps: 50, usd: { low: 1 } }\n"                                        \
    "  - { name: dark, kind: cable, usd: 1 }\n"                                                              \
    "  - { name: blind, kind: switch, bw_GBps: 50, usd: 1 }\n"                                               \
    "  - { name: fabric, kind: product, bw_GBps: 450, ports: 8 }\n"                                          \
    "  - { name: vague, kind: product, bw_GBps: 450 }\n"                                                     \
    "  - { name: near, kind: cable, bw_GBps: 50, usd: 1, reach_m: 3 }\n"                                     \
    "  - { name: far, kind: cable, bw_GBps: 50, usd: 9, reach_m: 500 }\n"                                    \
    "  - { name: wide, kind: cable, bw_GBps: 100, usd: 9, reach_m: 9000 }\n"

static const struct refusal wrong_files[] = {
    { "name: x\n", ERR_PARSE, "give rates, or catalogue and build" },
    { CATALOGUE, ERR_PARSE, "give rates, or catalogue and build" },
    { CATALOGUE "rates: [{ tier: t, link_usd_per_GBps: 1 }]\n", ERR_PARSE, "give one of them" },
    { "rates: []\n", ERR_PARSE, "is empty, expected at least one row" },
    { "rates: 5\n", ERR_PARSE, "parts.yaml:1:" },
    { "rates: [{ link_usd_per_GBps: 1 }]\n", ERR_PARSE, "has no tier" },
    { "rates: [{ tier: t, link_usd_per_GB: 1 }]\n", ERR_PARSE, "link_usd_per_GBps" },
    { "rates: [{ tier: t, link_usd_per_GBps: -1 }]\n", ERR_RANGE,
      "rates[0].link_usd_per_GBps is -1, expected 0 to 1e+09" },
    { "rates: [{ tier: t, link_usd_per_GBps: { typ: -1 } }]\n", ERR_RANGE, "link_usd_per_GBps.typ is -1" },
    { "rates: [{ tier: t, link_usd_per_GBps: cheap }]\n", ERR_PARSE, "cheap" },
    { "rates: [{ tier: t, link_usd_per_GBps: { low: 3, typ: 2 } }]\n", ERR_RANGE,
      "low is 3, expected at most typ, 2" },
    { "rates: [{ tier: t, link_usd_per_GBps: { typ: 2, high: 1 } }]\n", ERR_RANGE,
      "high is 1, expected at least typ, 2" },
    { "rates: [{ tier: t, link_usd_per_GBps: { low: 3, high: 1 } }]\n", ERR_RANGE,
      "low is 3, expected at most high, 1" },
    { "rates: [{ tier: t, link_usd_per_GBps: 1, nic_usd_per_GBps: 1 }]\n", ERR_RANGE,
      "nic_usd_per_GBps is given without effect; give switch_usd_per_GBps too" },
    { "rates: [{ tier: t, link_usd_per_GBps: 1 }, { tier: t, link_usd_per_GBps: 2 }]\n", ERR_PARSE,
      "rates[1].tier is \"t\" again" },
    { "rates:\n  - { tier: a23456789_a23456789_a23456789_a23456789_a2345678, link_usd_per_GBps: 1 }\n",
      ERR_RANGE, "tier is 48 bytes long, expected 1 to 47" },
    { "counting: both\nrates: [{ tier: t, link_usd_per_GBps: 1 }]\n", ERR_PARSE, "two-way, one-way" },
    { CATALOGUE "build: [{ tier: t, end_link: wire }]\ncounting: one-way\n", ERR_RANGE,
      "counting is given without effect; give rates" },
    { CATALOGUE "build: [{ tier: t, end_link: wire }]\nnic_port_GBps: 50\n", ERR_RANGE,
      "nic_port_GBps is given without effect" },
    { "catalogue: [{ name: a, kind: nic }, { name: a, kind: nic }]\nbuild: [{ tier: t, end_link: a }]\n",
      ERR_PARSE, "catalogue[1].name is \"a\" again" },
    { "catalogue: [{ name: a, kind: disk }]\nbuild: []\n", ERR_PARSE,
      "nic, switch, xcvr, cable, link, product" },
    { "catalogue: [{ name: a, kind: nic, usd: -5 }]\nbuild: []\n", ERR_RANGE, "usd is -5" },
    { "catalogue: [{ name: a, kind: nic, watt: -5 }]\nbuild: []\n", ERR_RANGE, "watt is -5" },
    { "catalogue: [{ name: a, kind: nic, grade: A }]\nbuild: []\n", ERR_PARSE, "V, D, V-weak, R" },
    { CATALOGUE "build: []\n", ERR_PARSE, "build is empty" },
    { CATALOGUE "build: [{ tier: t }]\n", ERR_PARSE, "build[0] has no end_link; give it, or end_m" },
    { CATALOGUE "build: [{ tier: t, product: wire }]\n", ERR_PARSE, "of kind cable, expected product" },
    { CATALOGUE "build: [{ tier: t, end_link: fabric }]\n", ERR_PARSE,
      "of kind product, expected cable or link" },
    { CATALOGUE "build: [{ tier: t, product: vague }]\n", ERR_RANGE, "\"vague\" without ports" },
    { CATALOGUE "build: [{ tier: t, product: fabric, end_link: wire }]\n", ERR_RANGE,
      "end_link is given beside product, which brings its own" },
    { CATALOGUE "build: [{ tier: t, product: fabric, rails: 2 }]\n", ERR_RANGE,
      "rails is given beside product" },
    { "catalogue: [{ name: a, kind: product, bw_GBps: 1, ports: 8, usd: 5 }]\nbuild: [{ tier: t, product: a "
      "}]\n",
      ERR_RANGE, "usd is given of a product, whose price is that of its servers" },
    { CATALOGUE "build: [{ tier: t, nic: nic, end_m: 501 }]\n", ERR_RANGE,
      "build[0].end_m is 501 m, expected at most 500: that of \"far\", the longest of 50 GB/s" },
    { CATALOGUE "build: [{ tier: t, nic: nic, end_link: near, end_m: 4 }]\n", ERR_RANGE,
      "end_m is 4 m, expected at most the 3 of end_link, \"near\"" },
    { CATALOGUE "build: [{ tier: t, nic: nic, end_link: wire, end_m: 4 }]\n", ERR_RANGE,
      "end_m is 4 m, but \"wire\" has no reach_m to hold it against" },
    { CATALOGUE "build: [{ tier: t, end_m: 4 }]\n", ERR_RANGE,
      "end_m has no NIC or switch with bw_GBps whose rate a link must have; give end_link" },
    { CATALOGUE "build: [{ tier: t, nic: nic, end_m: 4, up_m: 4 }]\n", ERR_RANGE,
      "up_m is given without effect, expected a switch of several ports" },
    { CATALOGUE "build: [{ tier: t, nic: nic, end_m: 0 }]\n", ERR_RANGE, "end_m is 0" },
    { CATALOGUE "build: [{ tier: t, nic: nic, end_m: -3 }]\n", ERR_RANGE, "end_m is -3" },
    { "catalogue: [{ name: a, kind: nic, bw_GBps: 50, ports: 1, usd: 1, reach_m: 3 }]\nbuild: [{ tier: t, "
      "nic: a, end_m: 1 }]\n",
      ERR_RANGE, "reach_m is given of a nic, expected only of a cable or link" },
    { "catalogue: [{ name: a, kind: nic, bw_GBps: 50, ports: 1, usd: 1 }]\nbuild: [{ tier: t, nic: a, end_m: "
      "1 }]\n",
      ERR_RANGE, "end_m is 1 m, but no cable or link of 50 GB/s has reach_m and a price; give end_link" },
    { CATALOGUE "build: [{ tier: t, end_link: wired }]\n", ERR_PARSE,
      "build[0].end_link is \"wired\", expected a part of the catalogue; did you mean \"wire\"?" },
    { CATALOGUE "build: [{ tier: t, end_link: zzzzzzzzzzzz }]\n", ERR_PARSE,
      "expected a part of the catalogue" },
    { CATALOGUE "build: [{ tier: t, end_link: nic }]\n", ERR_PARSE,
      "is \"nic\" of kind nic, expected cable or link" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, switch: nic }]\n", ERR_PARSE,
      "of kind nic, expected switch" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, nic: box }]\n", ERR_PARSE,
      "of kind switch, expected nic" },
    { CATALOGUE "build: [{ tier: t, end_link: free }]\n", ERR_RANGE,
      "end_link is \"free\" without a typical price" },
    { CATALOGUE "build: [{ tier: t, end_link: band }]\n", ERR_RANGE, "\"band\" without a typical price" },
    { CATALOGUE "build: [{ tier: t, end_link: dark }]\n", ERR_RANGE, "\"dark\" without bw_GBps" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, switch: blind }]\n", ERR_RANGE,
      "\"blind\" without ports" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, breakout: 2 }]\n", ERR_RANGE,
      "breakout is given without effect, expected a switch of several ports" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, breakout: 65 }]\n", ERR_RANGE, "breakout is 65" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, rails: 2 }]\n", ERR_RANGE,
      "rails is given without effect, expected a switch of several ports" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, switch: port, taper: 2 }]\n", ERR_RANGE,
      "taper is given without effect" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, switch: box, taper: 2 }]\n", ERR_RANGE,
      "taper is 2, but would cost no time; give the dimension of tier \"t\" shape: fat-tree and taper: 2" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, switch: box, taper: 0.5 }]\n", ERR_RANGE,
      "taper is 0.5, expected 1 to 64" },
    { CATALOGUE "build: [{ tier: t, end_link: wire, switch: box, rails: 0 }]\n", ERR_RANGE, "rails is 0" },
    { CATALOGUE "build: [{ tier: t, end_link: wire }, { tier: t, end_link: wire }]\n", ERR_PARSE,
      "build[1].tier is \"t\" again" },
};

TEST(wrong_files_are_refused_with_place_and_reason)
{
    for (size_t i = 0; i < COUNT_OF(wrong_files); i++) {
        KEEP(struct yaml_doc, doc, yaml_free);
        KEEP(struct topo_parts, p, topo_parts_free);
        OK(yaml_read_text(&doc, "parts.yaml", wrong_files[i].text, strlen(wrong_files[i].text), e));
        FAILS(topo_read_parts(&p, &doc, doc.root, e), wrong_files[i].code, wrong_files[i].message);
        assert_has(e->msg, "parts.yaml:");
        assert_null(p.parts);
    }
}
