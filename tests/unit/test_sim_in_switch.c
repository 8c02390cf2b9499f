/*
 * Reductions in the switches of a fat tree: streams counted on the graph's own links, by who is below each
 * switch, against the flows that are simulated and the closed form.
 */
#include "tests/unit/flow_plant.h"

enum { MAX_NPUS = 128, MAX_VERTICES = 1024, MAX_ARCS = 2048, BYTES = 1000000000 };

/* The graph below each switch: found by going up from the NPUs. */
struct below {
    bool npu[MAX_VERTICES][MAX_NPUS]; /* of each vertex: which NPUs */
    int32_t lower[MAX_ARCS / 2];      /* of each link up from a switch that end, else -1 */
    int32_t ways[MAX_ARCS / 2];       /* links up from the same NPUs */
};

/* Links are listed class by class, NPUs' first, so that what is below an end is known when its links up come.
 */
static void look_below(struct below *b, const struct topo_routes *r, int32_t entry)
{
    static bool above[MAX_VERTICES];
    memset(b, 0, sizeof *b);
    memset(above, 0, sizeof above);
    for (int32_t i = 0; i < r->n_npus; i++)
        b->npu[i][i] = true;
    for (int32_t cls = 0; cls < r->net.dims[entry].n_levels; cls++) {
        static bool next[MAX_VERTICES];
        memset(next, 0, sizeof next);
        for (int32_t l = 0; l < r->n_arcs / 2; l++) {
            if (topo_link_dim(r, l) != entry + cls)
                continue;
            int32_t x = r->to[2 * l], y = r->to[2 * l + 1];
            int32_t low = cls ? (above[x] ? x : y) : x < y ? x : y, high = low == x ? y : x;
            for (int32_t i = 0; i < r->n_npus; i++)
                b->npu[high][i] |= b->npu[low][i];
            next[high] = true;
            b->lower[l] = low;
        }
        memcpy(above, next, sizeof above);
    }
    for (int32_t l = 0; l < r->n_arcs / 2; l++)
        for (int32_t k = 0; k < r->n_arcs / 2; k++)
            b->ways[l] += topo_link_dim(r, k) == topo_link_dim(r, l) &&
                          !memcmp(b->npu[b->lower[l]], b->npu[b->lower[k]], sizeof b->npu[0]);
}

/* Bytes on each arc when all groups work: @p first[i] is member 0 of the group of NPU i. */
static void count_streams(double *bytes, const struct below *b, const struct topo_routes *r, int32_t entry,
                          const int32_t *first, int32_t n, enum collective_kind kind)
{
    for (int32_t l = 0; l < r->n_arcs / 2; l++) {
        bytes[2 * l] = bytes[2 * l + 1] = 0;
        if (topo_link_dim(r, l) < entry)
            continue;
        int32_t up_arc = r->to[2 * l] == b->lower[l] ? 2 * l + 1 : 2 * l;
        for (int32_t f = 0; f < r->n_npus; f++) {
            double below = 0, up = 1, down = 1;
            for (int32_t i = 0; i < r->n_npus; i++)
                below += first[f] == f && first[i] == f && b->npu[b->lower[l]][i];
            if (below == 0 || below == n)
                continue;
            bool source = b->npu[b->lower[l]][f];
            if (kind == COLLECTIVE_BROADCAST) {
                up = source;
                down = !source;
            } else if (kind ==
                       COLLECTIVE_REDUCE_SCATTER) { /* sums of parts for others; sums for those below */
                up = (n - below) / n;
                down = below / n;
            } else if (kind == COLLECTIVE_ALL_GATHER) { /* shards of BYTES */
                up = below;
                down = n - below;
            }
            bytes[up_arc] += up * BYTES / b->ways[l];
            bytes[up_arc ^ 1] += down * BYTES / b->ways[l];
        }
    }
}

/* A tree of two to four levels, now and then of rails below nodes. Returns the entry's dimension. */
static int32_t draw_tree(char word[96], struct rng *rng)
{
    int32_t levels = 2 + (int32_t)rng_below(rng, 3), at = 0, entry = rng_below(rng, 3) == 0;
    if (entry)
        at += snprintf(word, 96, "switch:4@200 ");
    at += snprintf(word + at, 96 - (size_t)at, "fat-tree:");
    for (int32_t k = 0; k < levels; k++)
        at += snprintf(word + at, 96 - (size_t)at, "%s%d", k ? "x" : "",
                       1 + (int)rng_below(rng, 4 - entry) + !k);
    for (int32_t k = 1; k < levels; k++)
        at += snprintf(word + at, 96 - (size_t)at, "/%g", 1 + 0.5 * (double)rng_below(rng, 4));
    snprintf(word + at, 96 - (size_t)at, "%s@50", !entry ? "" : rng_below(rng, 2) ? "+shared" : "+rails2");
    return entry;
}

/* Members of each level with a stride, and member 0 of every NPU's group. Returns the members of a group. */
static int32_t draw_group(struct flow_group_spec *spec, int32_t *first, const struct topo_network *net,
                          int32_t entry, struct rng *rng)
{
    int32_t n = 1, stride = 1;
    *spec = (struct flow_group_spec){ .npus = NULL };
    for (int32_t i = 0; i < net->n_npus; i++)
        first[i] = i;
    for (int32_t d = 0; d < net->n_dims; stride *= net->dims[d++].size) {
        int32_t size = net->dims[d].size, m, s;
        do {
            m = d < entry ? 1 : 1 + (int32_t)rng_below(rng, size);
            s = 1 + (int32_t)rng_below(rng, size / m);
        } while (size % (m * s));
        spec->members[d] = m;
        spec->stride[d] = s;
        n *= m;
        for (int32_t i = 0; i < net->n_npus; i++)
            first[i] -= i / stride % size / s % m * s * stride;
    }
    return n;
}

TEST(streams_are_those_counted_below_each_switch)
{
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                                  COLLECTIVE_ALL_GATHER, COLLECTIVE_BROADCAST };
    static struct below b;
    static double bytes[MAX_ARCS];
    RNG(rng, 33, 7);
    int32_t n_met = 0, n_rails = 0, times = repeats(300);
    for (int32_t t = 0; t < times; t++) {
        KEEP(struct plant, p, plant_close);
        char word[96];
        int32_t entry = draw_tree(word, rng), first[MAX_NPUS];
        struct flow_group_spec spec;
        plant_word(&p, word, 0);
        for (int32_t d = entry; d < p.net.n_dims; d++)
            p.net.dims[d].in_switch = TOPO_IN_SWITCH_SHARP;
        plant_open(&p);
        if (p.routes.n_npus > MAX_NPUS || p.routes.n_vertices > MAX_VERTICES || p.routes.n_arcs > MAX_ARCS)
            continue; /* counting takes all links by all NPUs */
        int32_t n = draw_group(&spec, first, &p.net, entry, rng);
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        if (n < 2)
            continue;
        look_below(&b, &p.routes, entry);
        count_streams(bytes, &b, &p.routes, entry, first, n, kind);
        int32_t id = issue(&p, group(&p, &spec), kind, BYTES, 0);
        run(&p);
        double most_s = 0, bw_Bps[TOPO_MAX_DIMS];
        for (int32_t a = 0; a < p.routes.n_arcs; a++) {
            assert_close(flow_arc_use(flow_sim_net(p.sim), a).bytes, bytes[a], 1e-9);
            most_s = fmax(most_s, bytes[a] / topo_arc_bw(&p.routes, a));
        }
        struct collective_time time;
        const struct collective_way way = { &p.net, &stage_rules_plain, topo_get_bandwidths(bw_Bps, &p.net) };
        collective_time(&time, kind, BYTES, spec.members, spec.stride, NULL, &way);
        assert_close(time.time_s, most_s, 1e-9);
        assert_close(flow_sim_finish_s(p.sim, id), most_s, 1e-9);
        n_met++;
        n_rails += entry;
    }
    assert_true(n_met > times * 2 / 3 && n_rails > times / 6);
}
