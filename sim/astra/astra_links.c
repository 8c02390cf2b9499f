#include <stdlib.h>

#include "base/array.h"
#include "sim/astra/astra_event.h"
#include "sim/astra/astra_phase.h"

/*
 * With contention: members are state machines that send, wait and reduce; messages are stored and forwarded
 * over directed links, each a first-come first-served queue. What happens in one nanosecond happens in the
 * order in which it was caused, so the outcome is that of ASTRA-sim also where messages tie.
 */

enum { MAX_MESSAGES = 1 << 30, MAX_LINKS = 1 << 26, MAX_COUNTERS = 1 << 28 };

enum event { ARRIVED, LINK_FREE, READY };

/* Places are members, and the switch behind the last of them. */
struct message {
    int64_t bytes;
    int32_t chunk, step;
    int32_t at, to;
    int32_t next; /* behind it in a link's queue or among the unused; -1 = none */
    bool back;    /* ring: the other way round */
};

struct link {
    int32_t first, last; /* messages that wait; -1 = none */
    bool busy;
};

struct chunk {
    int64_t start_ns;
    int32_t n_done; /* members */
};

struct engine {
    const struct sim_astra_conf *conf;
    const struct sim_astra_sink *sink;
    struct sim_astra_result *out;
    struct sim_astra_plan plan;
    enum topo_shape shape;
    int32_t n; /* members */
    struct sim_astra_round rounds[SIM_ASTRA_MAX_ROUNDS];
    int32_t n_rounds, n_steps, n_counters;
    struct link *links;
    int64_t n_links;
    struct message *messages;
    int32_t n_messages, cap_messages, unused;
    struct chunk *chunks;
    int32_t *step;     /* shape [n][n_chunks], that a member is in; -1 = not begun */
    int32_t *received; /* shape [n][n_chunks][n_counters] */
    int32_t *running;  /* shape [n], chunks */
    int32_t *begun;    /* shape [n], chunks */
    int64_t in_work, since_ns;
    struct sim_astra_events events;
    int64_t now_ns;
    bool failed; /* out of memory */
};

static void add_event(struct engine *g, int64_t at_ns, enum event kind, int32_t id)
{
    g->failed |= !sim_astra_events_add(&g->events, at_ns, (int32_t)kind, id);
}

static const struct sim_astra_round *round_of(const struct engine *g, int32_t step)
{
    const struct sim_astra_round *r = g->rounds;
    for (; step >= r->times; r++)
        step -= r->times;
    return r;
}

/* Where the message goes next, and over which link. */
static int32_t next_place(const struct engine *g, const struct message *m, int64_t *link)
{
    int32_t n = g->n;
    switch (g->shape) {
    case TOPO_RING:
        *link = m->back ? n + m->at : m->at;
        return (m->at + (m->back ? n - 1 : 1)) % n;
    case TOPO_SWITCH:
        *link = m->at == n ? n + m->to : m->at;
        return m->at == n ? m->to : n;
    default:
        *link = (int64_t)m->at * (n - 1) + (m->to - m->at + n) % n - 1;
        return m->to;
    }
}

static int64_t count_links(enum topo_shape shape, int64_t n)
{
    return shape == TOPO_FULL ? n * (n - 1) : 2 * n;
}

static void transmit(struct engine *g, int64_t link, int32_t id)
{
    const struct sim_astra_dim *dim = &g->conf->dims[0];
    double wire = (double)g->messages[id].bytes / sim_astra_link_Bpns(dim);
    g->links[link].busy = true;
    add_event(g, g->now_ns + (int64_t)(dim->lat_ns + wire), ARRIVED, id);
    add_event(g, g->now_ns + (int64_t)wire, LINK_FREE, (int32_t)link);
}

static void queue_message(struct engine *g, int32_t id)
{
    int64_t index;
    next_place(g, &g->messages[id], &index);
    struct link *l = &g->links[index];
    if (!l->busy) {
        transmit(g, index, id);
        return;
    }
    g->messages[id].next = -1;
    if (l->first < 0)
        l->first = id;
    else
        g->messages[l->last].next = id;
    l->last = id;
}

static void free_link(struct engine *g, int32_t index)
{
    struct link *l = &g->links[index];
    int32_t id = l->first;
    l->busy = false;
    if (id < 0)
        return;
    l->first = g->messages[id].next;
    transmit(g, index, id);
}

static void send(struct engine *g, struct message m)
{
    int32_t id = g->unused, ahead = (m.to - m.at + g->n) % g->n;
    if (id >= 0) {
        g->unused = g->messages[id].next;
    } else {
        struct message *grown = array_grow(g->messages, g->n_messages, &g->cap_messages, sizeof *grown);
        if (!grown) {
            g->failed = true;
            return;
        }
        g->messages = grown;
        id = g->n_messages++;
    }
    m.back = ahead > g->n - ahead; /* just opposite: forward */
    g->messages[id] = m;
    queue_message(g, id);
}

static void send_round(struct engine *g, int32_t member, int32_t chunk, int32_t step)
{
    const struct sim_astra_round *r = round_of(g, step);
    struct message m = { .bytes = r->bytes, .chunk = chunk, .step = step, .at = member };
    if (r->to == SIM_ASTRA_PAIR) {
        m.to = member ^ r->distance;
        send(g, m);
        return;
    }
    int32_t n = r->to == SIM_ASTRA_ALL ? g->n - 1 : 1;
    for (int32_t i = 1; i <= n; i++) {
        m.to = (member + i) % g->n;
        send(g, m);
    }
}

static int64_t slot_of(const struct engine *g, int32_t member, int32_t chunk)
{
    return (int64_t)member * g->plan.n_chunks + chunk;
}

/*
 * Messages of a later round may come before those of an earlier one, so each round has its counter. Round a
 * ring they come from one member on one link, in order: one counter will do for thousands of rounds.
 */
static int32_t *counter(struct engine *g, int64_t slot, int32_t step)
{
    return &g->received[slot * g->n_counters + (g->n_counters > 1 ? step : 0)];
}

/* Has everything of the present round come in? Then the next begins after the endpoint delay and the sums. */
static void go_on(struct engine *g, int64_t slot)
{
    int32_t step = g->step[slot];
    const struct sim_astra_round *r = round_of(g, step);
    int32_t need = r->to == SIM_ASTRA_ALL ? g->n - 1 : r->to == SIM_ASTRA_NEXT ? step + 1 : 1;
    if (*counter(g, slot, step) >= need)
        add_event(g, g->now_ns + sim_astra_digest_ns(g->conf, r), READY, (int32_t)slot);
}

static void begin_what_fits(struct engine *g, int32_t member)
{
    while (g->running[member] < g->conf->active_chunks && g->begun[member] < g->plan.n_chunks) {
        int32_t chunk = g->begun[member]++;
        g->running[member]++;
        if (g->in_work++ == 0)
            g->since_ns = g->now_ns;
        if (g->chunks[chunk].start_ns < 0)
            g->chunks[chunk].start_ns = g->now_ns;
        add_event(g, g->now_ns + g->conf->endpoint_ns, READY, (int32_t)slot_of(g, member, chunk));
    }
}

static void end_chunk(struct engine *g, int32_t member, int32_t number)
{
    struct chunk *c = &g->chunks[number];
    g->out->time_ns = g->now_ns;
    g->running[member]--;
    if (--g->in_work == 0)
        g->out->busy_ns[0] += g->now_ns - g->since_ns;
    if (++c->n_done == g->n && g->sink) {
        struct sim_astra_span span = {
            .chunk = number, .pass = g->plan.phases[0].pass, .start_ns = c->start_ns, .end_ns = g->now_ns
        };
        g->sink->take(g->sink->context, &span);
    }
    begin_what_fits(g, member);
}

static void next_step(struct engine *g, int32_t slot)
{
    int32_t member = slot / g->plan.n_chunks, chunk = slot % g->plan.n_chunks;
    if (++g->step[slot] == g->n_steps) {
        end_chunk(g, member, chunk);
        return;
    }
    send_round(g, member, chunk, g->step[slot]);
    go_on(g, slot);
}

static void arrive(struct engine *g, int32_t id)
{
    struct message *m = &g->messages[id];
    int64_t link, slot = slot_of(g, m->to, m->chunk);
    m->at = next_place(g, m, &link);
    if (m->at != m->to) {
        queue_message(g, id);
        return;
    }
    int32_t *count = counter(g, slot, m->step);
    m->next = g->unused;
    g->unused = id;
    ++*count;
    /* Of the round that the member is in: a later one is looked at when its turn comes. */
    if (g->step[slot] == m->step)
        go_on(g, slot);
}

static int check_size(const struct engine *g, struct err *e)
{
    double messages = 0, counters = (double)g->n * g->plan.n_chunks * g->n_counters;
    int64_t alone_ns = 0;
    for (int32_t i = 0; i < g->n_rounds; i++)
        messages += (double)g->rounds[i].times * (g->rounds[i].to == SIM_ASTRA_ALL ? g->n - 1 : 1);
    messages *= (double)g->n * g->plan.n_chunks;
    if (messages > MAX_MESSAGES)
        return err_set(e, ERR_RANGE, "collective sends %g messages, need at most %d", messages, MAX_MESSAGES);
    if (counters > MAX_COUNTERS || g->n_links > MAX_LINKS)
        return err_set(e, ERR_RANGE, "dims[0].size: is %d in %d chunks, need fewer", g->n, g->plan.n_chunks);
    int rc = sim_astra_phase_ns(&alone_ns, g->conf, &g->plan.phases[0], e);
    /* At worst every message waits for every other. */
    if (!rc && (double)alone_ns * messages > 4.6e18)
        rc = err_set(e, ERR_RANGE, "collective may take more than 4.6e18 ns, need less");
    return rc;
}

static int prepare(struct engine *g, const struct sim_astra_collective *c, struct err *e)
{
    int rc = sim_astra_plan(&g->plan, g->conf, c, e);
    if (rc)
        return rc;
    g->n_rounds = sim_astra_rounds(g->rounds, g->conf, &g->plan.phases[0]);
    for (int32_t i = 0; i < g->n_rounds; i++)
        g->n_steps += g->rounds[i].times;
    g->n_counters = g->rounds[0].to == SIM_ASTRA_NEXT ? 1 : g->n_steps;
    g->n_links = count_links(g->shape, g->n);
    rc = check_size(g, e);
    if (rc)
        return rc;
    size_t slots = (size_t)g->n * (size_t)g->plan.n_chunks;
    g->links = malloc((size_t)g->n_links * sizeof *g->links);
    g->chunks = malloc((size_t)g->plan.n_chunks * sizeof *g->chunks);
    g->step = malloc(slots * sizeof *g->step);
    g->received = calloc(slots * (size_t)g->n_counters, sizeof *g->received);
    g->running = calloc((size_t)g->n, sizeof *g->running);
    g->begun = calloc((size_t)g->n, sizeof *g->begun);
    if (!g->links || !g->chunks || !g->step || !g->received || !g->running || !g->begun)
        return err_nomem(e, "links and members");
    for (int64_t i = 0; i < g->n_links; i++)
        g->links[i] = (struct link){ -1, -1, false };
    for (int32_t i = 0; i < g->plan.n_chunks; i++)
        g->chunks[i] = (struct chunk){ .start_ns = -1 };
    for (size_t i = 0; i < slots; i++)
        g->step[i] = -1;
    g->now_ns = c->issue_ns;
    return 0;
}

static int run(struct engine *g, struct err *e)
{
    struct sim_astra_event event;
    for (int32_t i = 0; i < g->n; i++)
        begin_what_fits(g, i);
    while (!g->failed && sim_astra_events_next(&g->events, &event)) {
        g->now_ns = event.at_ns;
        if (event.kind == ARRIVED)
            arrive(g, event.id);
        else if (event.kind == LINK_FREE)
            free_link(g, event.id);
        else
            next_step(g, event.id);
    }
    return g->failed ? err_nomem(e, "messages") : 0;
}

int sim_astra_run_links(struct sim_astra_result *out, const struct sim_astra_conf *conf,
                        const struct sim_astra_collective *c, const struct sim_astra_sink *sink,
                        struct err *e)
{
    struct engine g = { .conf = conf, .sink = sink, .out = out, .unused = -1 };
    g.shape = conf->dims[0].shape;
    g.n = conf->dims[0].size;
    int rc = prepare(&g, c, e);
    if (!rc)
        rc = run(&g, e);
    free(g.links);
    free(g.messages);
    free(g.chunks);
    free(g.step);
    free(g.received);
    free(g.running);
    free(g.begun);
    sim_astra_events_free(&g.events);
    return rc;
}
