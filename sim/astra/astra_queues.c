#include <stdlib.h>

#include "sim/astra/astra_event.h"
#include "sim/astra/astra_phase.h"
#include "workloads/collective.h"

/*
 * Without contention all members of a phase are alike, so a phase is one number, and a collective is chunks
 * that pass queues: each dimension has some, which the phases of the chunks are dealt to in turn.
 */

enum event { ISSUED, PHASE_ENDED };

struct chunk {
    int32_t collective, number, phase;
    int32_t next; /* behind it in a queue; -1 = none */
    int64_t start_ns;
};

struct plan {
    struct sim_astra_plan p;
    int64_t phase_ns[SIM_ASTRA_MAX_PHASES];
    int32_t nth[SIM_ASTRA_MAX_PHASES]; /* of a chunk's phases in that dimension */
    int32_t uses[TOPO_MAX_DIMS];       /* phases of a chunk in a dimension */
    int32_t turn[TOPO_MAX_DIMS];       /* queue that the first of them goes to */
    int32_t first_chunk, n_left;
};

struct list {
    int32_t first, last; /* chunks; -1 = none */
};

struct engine {
    const struct sim_astra_conf *conf;
    const struct sim_astra_collective *collectives;
    int32_t n;
    const struct sim_astra_sink *sink;
    struct sim_astra_result *out;
    int64_t *end_ns;
    struct plan *plans;   /* shape [n] */
    struct chunk *chunks; /* shape [n_chunks] */
    int32_t n_chunks;
    struct list *waiting; /* shape [n_dims * queues][n] */
    int32_t *running;     /* shape [n_dims * queues] */
    int32_t slots;        /* of a queue */
    int32_t in_work[TOPO_MAX_DIMS];
    int64_t since_ns[TOPO_MAX_DIMS];
    struct sim_astra_events events;
    int64_t now_ns;
    bool failed; /* out of memory */
};

static int make_plan(struct engine *g, int32_t i, int32_t turn[TOPO_MAX_DIMS], struct err *e)
{
    struct plan *p = &g->plans[i];
    int rc = sim_astra_plan(&p->p, g->conf, &g->collectives[i], e);
    for (int32_t k = 0; k < p->p.n_phases && !rc; k++) {
        p->nth[k] = p->uses[p->p.phases[k].dim]++;
        rc = sim_astra_phase_ns(&p->phase_ns[k], g->conf, &p->p.phases[k], e);
    }
    for (int32_t d = 0; d < g->conf->n_dims && !rc; d++) {
        p->turn[d] = turn[d];
        turn[d] = (int32_t)((turn[d] + (int64_t)p->p.n_chunks * p->uses[d]) % g->conf->queues);
    }
    p->first_chunk = g->n_chunks;
    p->n_left = p->p.n_chunks;
    g->n_chunks += p->p.n_chunks;
    return rc;
}

/* The longest it can take: one phase after the other. */
static int check_total(const struct engine *g, struct err *e)
{
    double ns = 0;
    for (int32_t i = 0; i < g->n; i++) {
        ns += (double)g->collectives[i].issue_ns;
        for (int32_t k = 0; k < g->plans[i].p.n_phases; k++)
            ns += (double)g->plans[i].phase_ns[k] * g->plans[i].p.n_chunks;
    }
    return ns < 4.6e18 ? 0 : err_set(e, ERR_RANGE, "collectives take up to %g ns, need less than 4.6e18", ns);
}

static int make_plans(struct engine *g, struct err *e)
{
    int32_t turn[TOPO_MAX_DIMS] = { 0 };
    g->plans = calloc((size_t)g->n, sizeof *g->plans);
    if (!g->plans)
        return err_nomem(e, "collectives");
    for (int32_t i = 0; i < g->n; i++) {
        int rc = make_plan(g, i, turn, e);
        if (rc)
            return rc;
        if (g->n_chunks > 100 * STAGE_MAX_CHUNKS)
            return err_set(e, ERR_RANGE, "collectives have more than %d chunks, need fewer",
                           100 * STAGE_MAX_CHUNKS);
    }
    return check_total(g, e);
}

static int reserve(struct engine *g, struct err *e)
{
    size_t servers = (size_t)g->conf->n_dims * (size_t)g->conf->queues, n_lists = servers * (size_t)g->n;
    g->chunks = calloc((size_t)g->n_chunks, sizeof *g->chunks);
    g->waiting = malloc(n_lists * sizeof *g->waiting);
    g->running = calloc(servers, sizeof *g->running);
    if (!g->chunks || !g->waiting || !g->running)
        return err_nomem(e, "chunks");
    for (size_t i = 0; i < n_lists; i++)
        g->waiting[i] = (struct list){ -1, -1 };
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t k = 0; k < g->plans[i].p.n_chunks; k++)
            g->chunks[g->plans[i].first_chunk + k] =
                (struct chunk){ .collective = i, .number = k, .next = -1 };
    return 0;
}

static int32_t dim_of(const struct engine *g, const struct chunk *c)
{
    return g->plans[c->collective].p.phases[c->phase].dim;
}

/* Queues are dealt out in the order of collectives, their chunks, and the phases of a chunk. */
static int32_t server_of(const struct engine *g, const struct chunk *c)
{
    const struct plan *p = &g->plans[c->collective];
    int32_t d = dim_of(g, c), queues = g->conf->queues;
    int64_t nth = p->turn[d] + (int64_t)c->number * p->uses[d] + p->nth[c->phase];
    return d * queues + (int32_t)(nth % queues);
}

static void begin(struct engine *g, int32_t id)
{
    struct chunk *c = &g->chunks[id];
    int32_t d = dim_of(g, c);
    g->running[server_of(g, c)]++;
    if (g->in_work[d]++ == 0)
        g->since_ns[d] = g->now_ns;
    c->start_ns = g->now_ns;
    int64_t end = g->now_ns + g->plans[c->collective].phase_ns[c->phase];
    g->failed |= !sim_astra_events_add(&g->events, end, PHASE_ENDED, id);
}

/* Chunks of one collective in the order of arrival; of several, the last or first issued goes first. */
static void begin_what_fits(struct engine *g, int32_t server)
{
    struct list *lists = &g->waiting[(size_t)server * (size_t)g->n];
    for (int32_t i = 0; i < g->n && g->running[server] < g->slots; i++) {
        struct list *l = &lists[g->conf->lifo ? g->n - 1 - i : i];
        while (l->first >= 0 && g->running[server] < g->slots) {
            int32_t id = l->first;
            l->first = g->chunks[id].next;
            begin(g, id);
        }
    }
}

static void arrive(struct engine *g, int32_t id)
{
    struct chunk *c = &g->chunks[id];
    int32_t server = server_of(g, c);
    struct list *l = &g->waiting[(size_t)server * (size_t)g->n + (size_t)c->collective];
    c->next = -1;
    if (l->first < 0)
        l->first = id;
    else
        g->chunks[l->last].next = id;
    l->last = id;
    begin_what_fits(g, server);
}

static void tell(const struct engine *g, const struct chunk *c)
{
    const struct sim_astra_phase *p = &g->plans[c->collective].p.phases[c->phase];
    struct sim_astra_span span = {
        c->collective, c->number, c->phase, p->dim, p->pass, c->start_ns, g->now_ns
    };
    if (g->sink)
        g->sink->take(g->sink->context, &span);
}

/* The chunk joins its next queue before its place is given away. */
static void end_phase(struct engine *g, int32_t id)
{
    struct chunk *c = &g->chunks[id];
    struct plan *p = &g->plans[c->collective];
    int32_t d = dim_of(g, c), server = server_of(g, c);
    tell(g, c);
    g->running[server]--;
    if (--g->in_work[d] == 0)
        g->out->busy_ns[d] += g->now_ns - g->since_ns[d];
    if (++c->phase < p->p.n_phases)
        arrive(g, id);
    else if (--p->n_left == 0 && g->end_ns)
        g->end_ns[c->collective] = g->now_ns;
    begin_what_fits(g, server);
}

static int run(struct engine *g, struct err *e)
{
    struct sim_astra_event event;
    for (int32_t i = 0; i < g->n; i++)
        g->failed |= !sim_astra_events_add(&g->events, g->collectives[i].issue_ns, ISSUED, i);
    while (!g->failed && sim_astra_events_next(&g->events, &event)) {
        g->now_ns = event.at_ns;
        if (event.kind == PHASE_ENDED)
            end_phase(g, event.id);
        else
            for (int32_t k = 0; k < g->plans[event.id].p.n_chunks; k++)
                arrive(g, g->plans[event.id].first_chunk + k);
    }
    g->out->time_ns = g->now_ns;
    return g->failed ? err_nomem(e, "events") : 0;
}

int sim_astra_run_queues(struct sim_astra_result *out, const struct sim_astra_conf *conf,
                         const struct sim_astra_collective *list, int32_t n, int64_t *end_ns,
                         const struct sim_astra_sink *sink, struct err *e)
{
    struct engine g = { .conf = conf, .collectives = list, .n = n, .sink = sink, .out = out };
    g.end_ns = end_ns;
    g.slots = (conf->active_chunks - 1) / conf->queues + 1;
    int rc = make_plans(&g, e);
    if (!rc)
        rc = reserve(&g, e);
    if (!rc)
        rc = run(&g, e);
    free(g.plans);
    free(g.chunks);
    free(g.waiting);
    free(g.running);
    sim_astra_events_free(&g.events);
    return rc;
}
