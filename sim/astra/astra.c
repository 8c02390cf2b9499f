#include "sim/astra/astra.h"

#include <math.h>

#include "sim/astra/astra_phase.h"

void sim_astra_defaults(struct sim_astra_conf *conf)
{
    *conf = (struct sim_astra_conf){
        .splits = 1, .active_chunks = 1, .queues = 1, .mem_GBps = INFINITY, .lifo = true
    };
}

int sim_astra_run(struct sim_astra_result *out, const struct sim_astra_conf *conf,
                  const struct sim_astra_collective *list, int32_t n, int64_t *end_ns,
                  const struct sim_astra_sink *sink, struct err *e)
{
    *out = (struct sim_astra_result){ 0 };
    int rc = sim_astra_check(conf, list, n, e);
    if (rc)
        return rc;
    /* A tree has its closed form with contention too. */
    if (conf->backend == SIM_ASTRA_UNAWARE || conf->algorithms[0] == TOPO_ALGORITHM_TREE)
        return sim_astra_run_queues(out, conf, list, n, end_ns, sink, e);
    rc = sim_astra_run_links(out, conf, list, sink, e);
    if (!rc && end_ns)
        end_ns[0] = out->time_ns;
    return rc;
}
