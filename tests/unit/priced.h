/** @file Tests of bills: a network with the parts file that prices it. */
#ifndef TESTS_UNIT_PRICED_H
#define TESTS_UNIT_PRICED_H

#include "topo/bill.h"

#define LIBRA_4D    "configs/parts/libra-2024-4d.yaml"
#define LIBRA_3D    "configs/parts/libra-2024-3d.yaml"
#define LIBRA       "configs/parts/libra-2024.yaml"
#define LIBRA_2022  "configs/parts/libra-2022.yaml"
#define CATALOGUE   "configs/parts/catalogue-2026.yaml"
#define HAMMINGMESH "configs/parts/hammingmesh-2022.yaml"

/** A network and what prices it: open_parts_*(), then set_network(); close_parts() at the end. */
struct priced {
    struct yaml_doc doc;
    struct topo_parts parts;
    struct topo_network net;
    double bw_Bps[TOPO_MAX_DIMS]; /**< those of the spec word; NaN where it has none */
};

/* All fail the running test when something goes wrong. */

/** Read the prices, from a file or from YAML text. */
void open_parts_file(struct priced *s, const char *path);
void open_parts_text(struct priced *s, const char *text);
void close_parts(struct priced *s);

/** Network from a spec word; tiers, innermost first, separated by one blank. */
void set_network(struct priced *s, const char *spec, const char *tiers);

/** The bill at s->bw_Bps. */
void build_bill(struct topo_bill *b, struct priced *s);

/** Typical USD of that bill. */
double bill_usd(struct priced *s);

/** What topo_prices() says at s->bw_Bps: USD, USD of NICs and watts. */
struct linear_bill {
    double usd, nic_usd, watt;
};
struct linear_bill linear_bill(struct priced *s);

/** Count of the line of dimension @p d whose item is @p item; 0 when there is none. */
double count_of(const struct topo_bill *b, int32_t d, const char *item);

/** What these prices are, and the bill of a network by them, released where the block ends. */
#define PARTS_FILE(s, file)                                                                                  \
    KEEP(struct priced, s, close_parts);                                                                     \
    open_parts_file(&s, file)
#define PARTS_TEXT(s, text)                                                                                  \
    KEEP(struct priced, s, close_parts);                                                                     \
    open_parts_text(&s, text)
#define BILL(b, s)                                                                                           \
    KEEP(struct topo_bill, b, topo_bill_free);                                                               \
    build_bill(&b, s)

#endif
