/** @file What weft topo knows about a network, and its three forms. */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include "cli/output.h"
#include "topo/graph.h"

struct facts {
    const char *name;
    const struct study *study; /**< NULL for a custom graph */
    int64_t n_links_graph;     /**< of a custom graph */
    struct topo_metrics metrics;
    struct topo_bill bill; /**< empty unless has_bill */
    bool has_bill;
};

int facts_text(const struct facts *f, struct text *out, struct err *e);
/** The bill alone, or after the facts. */
int facts_bill_text(const struct facts *f, struct text *out, struct err *e);
void facts_json(const struct facts *f, struct json *j);
/** One row; the bill as its sums. */
void facts_table(const struct facts *f, struct table *t);
/** One row per line of the bill. */
void facts_bill_table(const struct facts *f, struct table *t);

#endif
