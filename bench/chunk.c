/* How fast collectives are simulated in chunks: all-reduces on networks of 4,096 and 1,048,576 NPUs. */
#include "bench/bench.h"

#include "sim/fidelity.h"
#include "topo/network.h"

/* A network given as a word, its rules, and an all-reduce of 1 GiB over all of it. */
struct entry {
    struct topo_network net;
    double bw_Bps[TOPO_MAX_DIMS];
    struct sim_rules rules;
    struct sim_job job;
};

static void open_entry(struct entry *x, const char *word, double lat_s, int32_t chunks, enum sim_order order)
{
    struct err e = { 0 };
    if (topo_parse_spec(&x->net, word, &e))
        bench_stop("%s", e.msg);
    sim_rules_default(&x->rules);
    x->rules.stage.chunks = chunks;
    x->rules.order = order;
    x->job = (struct sim_job){ .kind = COLLECTIVE_ALL_REDUCE, .bytes = 1073741824 };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        x->job.members[d] = d < x->net.n_dims ? x->net.dims[d].size : 1;
        x->job.stride[d] = 1;
    }
    for (int32_t d = 0; d < x->net.n_dims; d++) {
        x->net.dims[d].lat_s = lat_s;
        x->bw_Bps[d] = x->net.dims[d].bw_Bps;
    }
}

/* Opened anew each time: it remembers what it has timed. */
static double run_entry(void *data, int64_t n)
{
    const struct entry *x = data;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        struct fidelity *fidelity;
        struct fidelity_time t;
        struct err e = { 0 };
        if (fidelity_open(&fidelity, &(struct sim_way){ &x->net, x->bw_Bps, SIM_CHUNK, &x->rules }, 0, &e) ||
            fidelity_alone(fidelity, &x->job, &t, &e))
            bench_stop("%s", e.msg);
        sum += t.time_s;
        fidelity_free(fidelity);
    }
    return sum;
}

/* Floors: 1 ms for 4,096 NPUs in 3 dimensions with 16 chunks (ASTRA-sim 2: 32 user seconds), 10 ms for a
 * million in 4 with 64. The default order, guard, simulates three times. */
void bench_chunk(struct bench *b)
{
    static const char small[] = "ring:16@429 full:8@751 switch:32@53",
                      large[] = "ring:16@250 full:8@200 ring:256@100 switch:32@50";
    static struct entry entries[4];
    open_entry(&entries[0], small, 500e-9, 16, SIM_ORDER_FIXED);
    open_entry(&entries[1], small, 500e-9, 16, SIM_ORDER_GUARD);
    open_entry(&entries[2], large, 500e-9, 64, SIM_ORDER_FIXED);
    open_entry(&entries[3], large, 500e-9, 64, SIM_ORDER_GUARD);
    if (entries[0].net.n_npus != 4096 || entries[2].net.n_npus != 1048576)
        bench_stop("networks have %lld and %lld NPUs", (long long)entries[0].net.n_npus,
                   (long long)entries[2].net.n_npus);
    struct bench_runner runners[] = {
        { .what = "4,096 NPUs, 3 dimensions, 16 chunks, fixed order",
          .run = run_entry,
          .data = &entries[0],
          .items = 1,
          .floor_per_s = 1e3 },
        { .what = "   the best of three orders (guard)",
          .run = run_entry,
          .data = &entries[1],
          .items = 1,
          .floor_per_s = 1e3 },
        { .what = "1,048,576 NPUs, 4 dimensions, 64 chunks, fixed order",
          .run = run_entry,
          .data = &entries[2],
          .items = 1,
          .floor_per_s = 100 },
        { .what = "   the best of three orders (guard)",
          .run = run_entry,
          .data = &entries[3],
          .items = 1,
          .floor_per_s = 100 },
    };
    bench_head(b, "all-reduces simulated in chunks");
    bench_race(b, runners, sizeof runners / sizeof runners[0]);
}
