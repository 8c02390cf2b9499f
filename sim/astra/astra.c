/*
 * A collective as ASTRA-sim runs it, for comparison with that program: whole nanoseconds, its algorithms, its
 * order. A collective is phases, one dimension each; a phase is rounds of messages. One backend knows no
 * congestion: chunks pass queues of dimensions, and a phase takes what its rounds add up to. The other sends
 * each message over the links.
 */
#include "sim/astra/astra.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "base/heap.h"
#include "base/num.h"
#include "workloads/collective.h"

/* ---- events by time; those of one time in the order in which they were made ---- */

struct sim_astra_event {
    int64_t at_ns, order;
    int32_t kind, id; /**< the caller's */
};

/** A binary heap. Zero-initialise; release with sim_astra_events_free(). */
struct sim_astra_events {
    struct sim_astra_event *heap; /**< shape [n], owned */
    int32_t n, cap;
    int64_t order; /**< of the next event */
};

/* ---- phases and rounds ---- */

/** To whom a member sends in a round. */
enum sim_astra_to {
    SIM_ASTRA_NEXT, /**< the next one round the ring */
    SIM_ASTRA_ALL,  /**< all others at once */
    SIM_ASTRA_PAIR, /**< the one whose number differs in the bit `distance` */
    SIM_ASTRA_TREE, /**< to the parent, or from it to its children */
};

/** Members send, wait for what they shall receive, wait the endpoint delay and reduce; `times` times. */
struct sim_astra_round {
    enum sim_astra_to to;
    int32_t times;
    int32_t distance; /**< to the farthest receiver, in members */
    int32_t reduced;  /**< messages that a member adds up at the end */
    int32_t waits;    /**< messages of siblings before the last one, where they share a link; trees only */
    int64_t bytes;    /**< of a message */
};

enum { SIM_ASTRA_MAX_ROUNDS = 64, SIM_ASTRA_MAX_PHASES = 2 * TOPO_MAX_DIMS };

struct sim_astra_phase {
    int32_t dim;
    enum pass pass;
    int64_t bytes; /**< entering */
};

/** How a collective is cut and which way its chunks go. */
struct sim_astra_plan {
    int64_t chunk_B;
    int32_t n_chunks, n_phases;
    struct sim_astra_phase phases[SIM_ASTRA_MAX_PHASES];
};

static bool event_before(const struct sim_astra_event *a, const struct sim_astra_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

HEAP(events, struct sim_astra_event, event_before)

/* False on lack of memory, and then nothing is added. O(log n). */
static bool sim_astra_events_add(struct sim_astra_events *q, int64_t at_ns, int32_t kind, int32_t id)
{
    if (!vec_reserve(q->heap, q->cap, q->n + 1))
        return false;
    events_push(q->heap, q->n++, (struct sim_astra_event){ at_ns, q->order++, kind, id });
    return true;
}

/* The first event; false when there is none. O(log n). */
static bool sim_astra_events_next(struct sim_astra_events *q, struct sim_astra_event *out)
{
    if (q->n == 0)
        return false;
    *out = events_pop(q->heap, q->n--);
    return true;
}

static void sim_astra_events_free(struct sim_astra_events *q)
{
    free(q->heap);
    *q = (struct sim_astra_events){ 0 };
}

/* Doubles below it convert to int64_t, and a few of them still add up. */
#define MAX_NS 4.6e18

/* Bandwidth of a link [B/ns]. */
static double sim_astra_link_Bpns(const struct sim_astra_dim *dim)
{
    return dim->GiBps * 1073741824.0 / 1e9;
}

/* Time from the arrival of all messages of a round to the next round [ns].
 * Two reads and a write for each sum. */
static int64_t sim_astra_digest_ns(const struct sim_astra_setup *setup, const struct sim_astra_round *r)
{
    double once = floor((double)r->bytes / setup->mem_GBps);
    return setup->endpoint_ns + (r->reduced ? (int64_t)3 * r->reduced * (int64_t)once : 0);
}

static int32_t bits(int32_t n)
{
    int32_t s = 0;
    while (n >> (s + 1))
        s++;
    return s;
}

/* n - 1 rounds of a shard to the next member: one sequence to reduce, one to gather. */
static int32_t ring_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    struct sim_astra_round r = {
        SIM_ASTRA_NEXT, n - 1, 1, 1, 0, pass == PASS_ALL_GATHER ? bytes : bytes / n
    };
    int32_t k = 0;
    if (pass != PASS_ALL_GATHER)
        out[k++] = r;
    r.reduced = 0;
    if (pass != PASS_REDUCE_SCATTER)
        out[k++] = r;
    return k;
}

/* One sum is billed, however many messages come in. */
static int32_t direct_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    struct sim_astra_round r = { SIM_ASTRA_ALL, 1, n / 2, 1, 0, pass == PASS_ALL_GATHER ? bytes : bytes / n };
    int32_t k = 0;
    if (pass == PASS_REDUCE_SCATTER || pass == PASS_ALL_REDUCE)
        out[k++] = r;
    r.reduced = 0;
    if (pass != PASS_REDUCE_SCATTER)
        out[k++] = r;
    return k;
}

/* The sum of the first round is not billed: ASTRA-sim counts one too few. */
static int32_t halving_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    int32_t s = bits(n), k = 0;
    if (pass != PASS_ALL_GATHER)
        for (int32_t i = 1; i <= s; i++)
            out[k++] = (struct sim_astra_round){ SIM_ASTRA_PAIR, 1, 1 << (i - 1), i > 1, 0, bytes >> i };
    int64_t shard = pass == PASS_ALL_GATHER ? bytes : bytes >> s;
    if (pass != PASS_REDUCE_SCATTER)
        for (int32_t i = s; i >= 1; i--)
            out[k++] = (struct sim_astra_round){ SIM_ASTRA_PAIR, 1, 1 << (i - 1), 0, 0, shard << (s - i) };
    return k;
}

/* A root with one child, below it a full binary tree of the others: log2 n levels up with the whole chunk,
 * and down again. All but the uppermost have two children to a parent. */
static int32_t tree_rounds(struct sim_astra_round *out, int32_t n, int64_t bytes)
{
    int32_t s = bits(n), k = 0;
    for (int32_t i = 1; i <= s; i++)
        out[k++] = (struct sim_astra_round){ SIM_ASTRA_TREE, 1, 1, i < s ? 2 : 1, i < s, bytes };
    for (int32_t i = s; i >= 1; i--)
        out[k++] = (struct sim_astra_round){ SIM_ASTRA_TREE, 1, 1, 0, i < s, bytes };
    return k;
}

/* Rounds of a phase; returns how many. */
static int32_t sim_astra_rounds(struct sim_astra_round out[SIM_ASTRA_MAX_ROUNDS],
                                const struct sim_astra_setup *setup, const struct sim_astra_phase *p)
{
    int32_t n = setup->dims[p->dim].size;
    switch (setup->algorithms[p->dim]) {
    case TOPO_ALGORITHM_RING:
        return ring_rounds(out, p->pass, n, p->bytes);
    case TOPO_ALGORITHM_DIRECT:
        return direct_rounds(out, p->pass, n, p->bytes);
    case TOPO_ALGORITHM_HALVING:
        return halving_rounds(out, p->pass, n, p->bytes);
    default:
        return tree_rounds(out, n, p->bytes);
    }
}

static int32_t hops(const struct sim_astra_dim *dim, int32_t distance)
{
    if (dim->shape == TOPO_RING)
        return distance < dim->size - distance ? distance : dim->size - distance;
    return dim->shape == TOPO_SWITCH ? 2 : 1;
}

/*
 * A round of messages [ns], before it is rounded down. Without contention latency counts for every hop and
 * serialisation once. Of a tree with contention: stored and forwarded, and behind the sibling's message.
 */
static double round_ns(const struct sim_astra_setup *setup, const struct sim_astra_dim *dim,
                       const struct sim_astra_round *r)
{
    double wire = (double)r->bytes / sim_astra_link_Bpns(dim);
    int32_t h = hops(dim, r->distance);
    if (setup->backend == SIM_ASTRA_UNAWARE)
        return h * dim->lat_ns + wire;
    bool shared = dim->shape == TOPO_SWITCH;
    return h * floor(dim->lat_ns + wire) + (shared ? r->waits * floor(wire) : 0);
}

/* Duration of a phase when no link is busy, and of a tree in any case. ERR_RANGE beyond 2^62 ns. */
static int sim_astra_phase_ns(int64_t *out, const struct sim_astra_setup *setup,
                              const struct sim_astra_phase *p, struct err *e)
{
    struct sim_astra_round rounds[SIM_ASTRA_MAX_ROUNDS];
    int32_t n = sim_astra_rounds(rounds, setup, p);
    int64_t total = setup->endpoint_ns;
    for (int32_t i = 0; i < n; i++) {
        const struct sim_astra_round *r = &rounds[i];
        double message = round_ns(setup, &setup->dims[p->dim], r);
        double sums = 3.0 * r->reduced * (double)r->bytes / setup->mem_GBps;
        if (!(r->times * (message + sums + (double)setup->endpoint_ns) + (double)total < MAX_NS))
            return err_set(e, ERR_RANGE, "dims[%d]: a phase takes more than %g ns", p->dim, MAX_NS);
        total += r->times * ((int64_t)message + sim_astra_digest_ns(setup, r));
    }
    *out = total;
    return 0;
}

/* A chunk has at least a byte for each NPU, and a last chunk that is smaller is billed as a full one. */
static int astra_cut(struct sim_astra_plan *plan, const struct sim_astra_setup *setup, int64_t bytes,
                     struct err *e)
{
    int64_t npus = 1, chunk = bytes / setup->splits;
    for (int32_t d = 0; d < setup->n_dims; d++)
        npus *= setup->dims[d].size;
    if (chunk < npus)
        chunk = npus;
    /* Below 2 * STAGE_MAX_CHUNKS: a remainder is less than `splits` bytes, and chunks have one at least. */
    plan->n_chunks = (int32_t)(bytes / chunk + (bytes % chunk != 0));
    plan->chunk_B = chunk;
    int64_t grown;
    if (!num_mul(chunk, npus, &grown))
        return err_set(e, ERR_RANGE, "bytes: is %lld for %lld NPUs, expected a product below 2^63",
                       (long long)bytes, (long long)npus);
    return 0;
}

static void astra_add(struct sim_astra_plan *plan, const struct sim_astra_setup *setup, int32_t dim,
                      enum pass pass, int64_t *bytes)
{
    plan->phases[plan->n_phases++] = (struct sim_astra_phase){ dim, pass, *bytes };
    if (pass == PASS_REDUCE_SCATTER)
        *bytes /= setup->dims[dim].size;
    else if (pass == PASS_ALL_GATHER)
        *bytes *= setup->dims[dim].size;
}

/* The plan of a collective that has passed sim_astra_check(). ERR_RANGE when sizes overflow. */
static int sim_astra_plan(struct sim_astra_plan *plan, const struct sim_astra_setup *setup,
                          const struct sim_astra_collective *c, struct err *e)
{
    int32_t dims[TOPO_MAX_DIMS], n = 0;
    for (int32_t d = 0; d < setup->n_dims; d++)
        if (c->in[d])
            dims[n++] = d;
    *plan = (struct sim_astra_plan){ 0 };
    int rc = astra_cut(plan, setup, c->bytes, e);
    if (rc)
        return rc;
    int64_t bytes = plan->chunk_B;
    if (c->kind == COLLECTIVE_ALL_TO_ALL || (c->kind == COLLECTIVE_ALL_REDUCE && setup->baseline)) {
        for (int32_t i = 0; i < n; i++)
            astra_add(plan, setup, dims[i],
                      c->kind == COLLECTIVE_ALL_TO_ALL ? PASS_ALL_TO_ALL : PASS_ALL_REDUCE, &bytes);
        return 0;
    }
    int32_t turn =
        c->kind == COLLECTIVE_ALL_REDUCE ? n - 1 : n; /* dimensions scattered over, gathered over */
    if (c->kind != COLLECTIVE_ALL_GATHER)
        for (int32_t i = 0; i < turn; i++)
            astra_add(plan, setup, dims[i], PASS_REDUCE_SCATTER, &bytes);
    if (c->kind == COLLECTIVE_ALL_REDUCE)
        astra_add(plan, setup, dims[turn], PASS_ALL_REDUCE, &bytes);
    if (c->kind != COLLECTIVE_REDUCE_SCATTER)
        for (int32_t i = turn - 1; i >= 0; i--)
            astra_add(plan, setup, dims[i], PASS_ALL_GATHER, &bytes);
    return 0;
}

/*
 * With contention: members are state machines that send, wait and reduce; messages are stored and forwarded
 * over directed links, each a first-come first-served queue. What happens in one nanosecond happens in the
 * order in which it was caused, so the outcome is that of ASTRA-sim also where messages tie.
 */

enum { MAX_MESSAGES = 1 << 30, MAX_LINKS = 1 << 26, MAX_COUNTERS = 1 << 28 };

enum astra_links_event { ARRIVED, LINK_FREE, READY };

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

struct links_chunk {
    int64_t start_ns;
    int32_t n_done; /* members */
};

struct links_engine {
    const struct sim_astra_setup *setup;
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
    struct links_chunk *chunks;
    int32_t *step;     /* shape [n][n_chunks], that a member is in; -1 = not begun */
    int32_t *received; /* shape [n][n_chunks][n_counters] */
    int32_t *running;  /* shape [n], chunks */
    int32_t *begun;    /* shape [n], chunks */
    int64_t in_work, since_ns;
    struct sim_astra_events events;
    int64_t now_ns;
    bool failed; /* out of memory */
};

static void add_event(struct links_engine *g, int64_t at_ns, enum astra_links_event kind, int32_t id)
{
    g->failed |= !sim_astra_events_add(&g->events, at_ns, (int32_t)kind, id);
}

static const struct sim_astra_round *round_of(const struct links_engine *g, int32_t step)
{
    const struct sim_astra_round *r = g->rounds;
    for (; step >= r->times; r++)
        step -= r->times;
    return r;
}

/* Where the message goes next, and over which link. */
static int32_t next_place(const struct links_engine *g, const struct message *m, int64_t *link)
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

static void transmit(struct links_engine *g, int64_t link, int32_t id)
{
    const struct sim_astra_dim *dim = &g->setup->dims[0];
    double wire = (double)g->messages[id].bytes / sim_astra_link_Bpns(dim);
    g->links[link].busy = true;
    add_event(g, g->now_ns + (int64_t)(dim->lat_ns + wire), ARRIVED, id);
    add_event(g, g->now_ns + (int64_t)wire, LINK_FREE, (int32_t)link);
}

/* A busy link serves messages in order of arrival, as ASTRA-sim's does; lists are linked through the
 * messages. */
static void queue_message(struct links_engine *g, int32_t id)
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

static void free_link(struct links_engine *g, int32_t index)
{
    struct link *l = &g->links[index];
    int32_t id = l->first;
    l->busy = false;
    if (id < 0)
        return;
    l->first = g->messages[id].next;
    transmit(g, index, id);
}

/* The shorter way round, and forwards to the member just opposite, as the original routes. */
static void links_send(struct links_engine *g, struct message m)
{
    int32_t id = g->unused, ahead = (m.to - m.at + g->n) % g->n;
    if (id >= 0) {
        g->unused = g->messages[id].next;
    } else {
        if (!vec_reserve(g->messages, g->cap_messages, g->n_messages + 1)) {
            g->failed = true;
            return;
        }
        id = g->n_messages++;
    }
    m.back = ahead > g->n - ahead; /* just opposite: forward */
    g->messages[id] = m;
    queue_message(g, id);
}

/* What one member sends in one round: to the next, to its partner, or to all others. */
static void send_round(struct links_engine *g, int32_t member, int32_t chunk, int32_t step)
{
    const struct sim_astra_round *r = round_of(g, step);
    struct message m = { .bytes = r->bytes, .chunk = chunk, .step = step, .at = member };
    if (r->to == SIM_ASTRA_PAIR) {
        m.to = member ^ r->distance;
        links_send(g, m);
        return;
    }
    int32_t n = r->to == SIM_ASTRA_ALL ? g->n - 1 : 1;
    for (int32_t i = 1; i <= n; i++) {
        m.to = (member + i) % g->n;
        links_send(g, m);
    }
}

static int64_t slot_of(const struct links_engine *g, int32_t member, int32_t chunk)
{
    return (int64_t)member * g->plan.n_chunks + chunk;
}

/*
 * Messages of a later round may come before those of an earlier one, so each round has its counter. Round a
 * ring they come from one member on one link, in order: one counter will do for thousands of rounds.
 */
static int32_t *counter(struct links_engine *g, int64_t slot, int32_t step)
{
    return &g->received[slot * g->n_counters + (g->n_counters > 1 ? step : 0)];
}

/* Has everything of the present round come in? Then the next begins after the endpoint delay and the sums. */
static void links_go_on(struct links_engine *g, int64_t slot)
{
    int32_t step = g->step[slot];
    const struct sim_astra_round *r = round_of(g, step);
    int32_t need = r->to == SIM_ASTRA_ALL ? g->n - 1 : r->to == SIM_ASTRA_NEXT ? step + 1 : 1;
    if (*counter(g, slot, step) >= need)
        add_event(g, g->now_ns + sim_astra_digest_ns(g->setup, r), READY, (int32_t)slot);
}

/* At most active_chunks at a time per member; each waits for the endpoint delay before it first sends. */
static void links_begin_what_fits(struct links_engine *g, int32_t member)
{
    while (g->running[member] < g->setup->active_chunks && g->begun[member] < g->plan.n_chunks) {
        int32_t chunk = g->begun[member]++;
        g->running[member]++;
        if (g->in_work++ == 0)
            g->since_ns = g->now_ns;
        if (g->chunks[chunk].start_ns < 0)
            g->chunks[chunk].start_ns = g->now_ns;
        add_event(g, g->now_ns + g->setup->endpoint_ns, READY, (int32_t)slot_of(g, member, chunk));
    }
}

/* Busy time counts from the first chunk in work to the last. A chunk is reported when all members have it. */
static void end_chunk(struct links_engine *g, int32_t member, int32_t number)
{
    struct links_chunk *c = &g->chunks[number];
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
    links_begin_what_fits(g, member);
}

static void next_step(struct links_engine *g, int32_t slot)
{
    int32_t member = slot / g->plan.n_chunks, chunk = slot % g->plan.n_chunks;
    if (++g->step[slot] == g->n_steps) {
        end_chunk(g, member, chunk);
        return;
    }
    send_round(g, member, chunk, g->step[slot]);
    links_go_on(g, slot);
}

/* Messages hop link by link; one of a round that the member has not reached yet is counted for later. */
static void links_arrive(struct links_engine *g, int32_t id)
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
        links_go_on(g, slot);
}

/* Bounds on messages and time before anything is allocated; times are whole nanoseconds in 63 bits. */
static int links_check_size(const struct links_engine *g, struct err *e)
{
    double messages = 0, counters = (double)g->n * g->plan.n_chunks * g->n_counters;
    int64_t alone_ns = 0;
    for (int32_t i = 0; i < g->n_rounds; i++)
        messages += (double)g->rounds[i].times * (g->rounds[i].to == SIM_ASTRA_ALL ? g->n - 1 : 1);
    messages *= (double)g->n * g->plan.n_chunks;
    if (messages > MAX_MESSAGES)
        return err_set(e, ERR_RANGE, "collective sends %g messages, expected at most %d", messages,
                       MAX_MESSAGES);
    if (counters > MAX_COUNTERS || g->n_links > MAX_LINKS)
        return err_set(e, ERR_RANGE, "dims[0].size: is %d in %d chunks", g->n, g->plan.n_chunks);
    int rc = sim_astra_phase_ns(&alone_ns, g->setup, &g->plan.phases[0], e);
    /* At worst every message waits for every other. */
    if (!rc && (double)alone_ns * messages > 4.6e18)
        rc = err_set(e, ERR_RANGE, "collective may take more than 4.6e18 ns");
    return rc;
}

/* A ring needs one counter of received messages per member and chunk, as rounds cannot overtake; others one
 * per round. */
static int links_prepare(struct links_engine *g, const struct sim_astra_collective *c, struct err *e)
{
    int rc = sim_astra_plan(&g->plan, g->setup, c, e);
    if (rc)
        return rc;
    g->n_rounds = sim_astra_rounds(g->rounds, g->setup, &g->plan.phases[0]);
    for (int32_t i = 0; i < g->n_rounds; i++)
        g->n_steps += g->rounds[i].times;
    g->n_counters = g->rounds[0].to == SIM_ASTRA_NEXT ? 1 : g->n_steps;
    g->n_links = count_links(g->shape, g->n);
    rc = links_check_size(g, e);
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
        g->chunks[i] = (struct links_chunk){ .start_ns = -1 };
    for (size_t i = 0; i < slots; i++)
        g->step[i] = -1;
    g->now_ns = c->issue_ns;
    return 0;
}

/* Events in order of time, then of insertion, until none is left. */
static int links_run(struct links_engine *g, struct err *e)
{
    struct sim_astra_event astra_links_event;
    for (int32_t i = 0; i < g->n; i++)
        links_begin_what_fits(g, i);
    while (!g->failed && sim_astra_events_next(&g->events, &astra_links_event)) {
        g->now_ns = astra_links_event.at_ns;
        if (astra_links_event.kind == ARRIVED)
            links_arrive(g, astra_links_event.id);
        else if (astra_links_event.kind == LINK_FREE)
            free_link(g, astra_links_event.id);
        else
            next_step(g, astra_links_event.id);
    }
    return g->failed ? err_nomem(e, "messages") : 0;
}

/* The engine with contention (congestion_aware): one dimension, every link with its queue. */
static int sim_astra_run_links(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                               const struct sim_astra_collective *c, const struct sim_astra_sink *sink,
                               struct err *e)
{
    struct links_engine g = { .setup = setup, .sink = sink, .out = out, .unused = -1 };
    g.shape = setup->dims[0].shape;
    g.n = setup->dims[0].size;
    int rc = links_prepare(&g, c, e);
    if (!rc)
        rc = links_run(&g, e);
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

/*
 * Without contention all members of a phase are alike, so a phase is one number, and a collective is chunks
 * that pass queues: each dimension has some, which the phases of the chunks are dealt to in turn.
 */

enum astra_queues_event { ISSUED, PHASE_ENDED };

struct queues_chunk {
    int32_t collective, number, phase;
    int32_t next; /* behind it in a queue; -1 = none */
    int64_t start_ns;
};

struct astra_plan {
    struct sim_astra_plan p;
    int64_t phase_ns[SIM_ASTRA_MAX_PHASES];
    int32_t nth[SIM_ASTRA_MAX_PHASES]; /* of a chunk's phases in that dimension */
    int32_t uses[TOPO_MAX_DIMS];       /* phases of a chunk in a dimension */
    int32_t turn[TOPO_MAX_DIMS];       /* queue that the first of them goes to */
    int32_t first_chunk, n_left;
};

struct astra_list {
    int32_t first, last; /* chunks; -1 = none */
};

struct queues_engine {
    const struct sim_astra_setup *setup;
    const struct sim_astra_collective *collectives;
    int32_t n;
    const struct sim_astra_sink *sink;
    struct sim_astra_result *out;
    int64_t *end_ns;
    struct astra_plan *plans;    /* shape [n] */
    struct queues_chunk *chunks; /* shape [n_chunks] */
    int32_t n_chunks;
    struct astra_list *waiting; /* shape [n_dims * queues][n] */
    int32_t *running;           /* shape [n_dims * queues] */
    int32_t slots;              /* of a queue */
    int32_t in_work[TOPO_MAX_DIMS];
    int64_t since_ns[TOPO_MAX_DIMS];
    struct sim_astra_events events;
    int64_t now_ns;
    bool failed; /* out of memory */
};

/* `turn` deals chunks out to the queues of a dimension round-robin across collectives, as the original does.
 */
static int queues_make_plan(struct queues_engine *g, int32_t i, int32_t turn[TOPO_MAX_DIMS], struct err *e)
{
    struct astra_plan *p = &g->plans[i];
    int rc = sim_astra_plan(&p->p, g->setup, &g->collectives[i], e);
    for (int32_t k = 0; k < p->p.n_phases && !rc; k++) {
        p->nth[k] = p->uses[p->p.phases[k].dim]++;
        rc = sim_astra_phase_ns(&p->phase_ns[k], g->setup, &p->p.phases[k], e);
    }
    for (int32_t d = 0; d < g->setup->n_dims && !rc; d++) {
        p->turn[d] = turn[d];
        turn[d] = (int32_t)((turn[d] + (int64_t)p->p.n_chunks * p->uses[d]) % g->setup->queues);
    }
    p->first_chunk = g->n_chunks;
    p->n_left = p->p.n_chunks;
    g->n_chunks += p->p.n_chunks;
    return rc;
}

/* The longest it can take: one phase after the other. */
static int check_total(const struct queues_engine *g, struct err *e)
{
    double ns = 0;
    for (int32_t i = 0; i < g->n; i++) {
        ns += (double)g->collectives[i].issue_ns;
        for (int32_t k = 0; k < g->plans[i].p.n_phases; k++)
            ns += (double)g->plans[i].phase_ns[k] * g->plans[i].p.n_chunks;
    }
    return ns < 4.6e18 ? 0
                       : err_set(e, ERR_RANGE, "collectives take up to %g ns, expected less than 4.6e18", ns);
}

/* Plans in order of issue; the total number of chunks is bounded before memory is taken for them. */
static int queues_make_plans(struct queues_engine *g, struct err *e)
{
    int32_t turn[TOPO_MAX_DIMS] = { 0 };
    g->plans = calloc((size_t)g->n, sizeof *g->plans);
    if (!g->plans)
        return err_nomem(e, "collectives");
    for (int32_t i = 0; i < g->n; i++) {
        int rc = queues_make_plan(g, i, turn, e);
        if (rc)
            return rc;
        if (g->n_chunks > 100 * STAGE_MAX_CHUNKS)
            return err_set(e, ERR_RANGE, "collectives have more than %d chunks", 100 * STAGE_MAX_CHUNKS);
    }
    return check_total(g, e);
}

/* A waiting list per dimension, queue and collective: LIFO and FIFO are orders between collectives. */
static int events_reserve(struct queues_engine *g, struct err *e)
{
    size_t servers = (size_t)g->setup->n_dims * (size_t)g->setup->queues, n_lists = servers * (size_t)g->n;
    g->chunks = calloc((size_t)g->n_chunks, sizeof *g->chunks);
    g->waiting = malloc(n_lists * sizeof *g->waiting);
    g->running = calloc(servers, sizeof *g->running);
    if (!g->chunks || !g->waiting || !g->running)
        return err_nomem(e, "chunks");
    for (size_t i = 0; i < n_lists; i++)
        g->waiting[i] = (struct astra_list){ -1, -1 };
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t k = 0; k < g->plans[i].p.n_chunks; k++)
            g->chunks[g->plans[i].first_chunk + k] =
                (struct queues_chunk){ .collective = i, .number = k, .next = -1 };
    return 0;
}

static int32_t astra_dim_of(const struct queues_engine *g, const struct queues_chunk *c)
{
    return g->plans[c->collective].p.phases[c->phase].dim;
}

/* Queues are dealt out in the order of collectives, their chunks, and the phases of a chunk. */
static int32_t server_of(const struct queues_engine *g, const struct queues_chunk *c)
{
    const struct astra_plan *p = &g->plans[c->collective];
    int32_t d = astra_dim_of(g, c), queues = g->setup->queues;
    int64_t nth = p->turn[d] + (int64_t)c->number * p->uses[d] + p->nth[c->phase];
    return d * queues + (int32_t)(nth % queues);
}

static void astra_begin(struct queues_engine *g, int32_t id)
{
    struct queues_chunk *c = &g->chunks[id];
    int32_t d = astra_dim_of(g, c);
    g->running[server_of(g, c)]++;
    if (g->in_work[d]++ == 0)
        g->since_ns[d] = g->now_ns;
    c->start_ns = g->now_ns;
    int64_t end = g->now_ns + g->plans[c->collective].phase_ns[c->phase];
    g->failed |= !sim_astra_events_add(&g->events, end, PHASE_ENDED, id);
}

/* Chunks of one collective in the order of arrival; of several, the last or first issued goes first. */
static void queues_begin_what_fits(struct queues_engine *g, int32_t server)
{
    struct astra_list *lists = &g->waiting[(size_t)server * (size_t)g->n];
    for (int32_t i = 0; i < g->n && g->running[server] < g->slots; i++) {
        struct astra_list *l = &lists[g->setup->lifo ? g->n - 1 - i : i];
        while (l->first >= 0 && g->running[server] < g->slots) {
            int32_t id = l->first;
            l->first = g->chunks[id].next;
            astra_begin(g, id);
        }
    }
}

/* A chunk joins the list of its server and starts if the server is free. */
static void queues_arrive(struct queues_engine *g, int32_t id)
{
    struct queues_chunk *c = &g->chunks[id];
    int32_t server = server_of(g, c);
    struct astra_list *l = &g->waiting[(size_t)server * (size_t)g->n + (size_t)c->collective];
    c->next = -1;
    if (l->first < 0)
        l->first = id;
    else
        g->chunks[l->last].next = id;
    l->last = id;
    queues_begin_what_fits(g, server);
}

static void tell(const struct queues_engine *g, const struct queues_chunk *c)
{
    const struct sim_astra_phase *p = &g->plans[c->collective].p.phases[c->phase];
    struct sim_astra_span span = {
        c->collective, c->number, c->phase, p->dim, p->pass, c->start_ns, g->now_ns
    };
    if (g->sink)
        g->sink->take(g->sink->context, &span);
}

/* The chunk joins its next queue before its place is given away. */
static void end_phase(struct queues_engine *g, int32_t id)
{
    struct queues_chunk *c = &g->chunks[id];
    struct astra_plan *p = &g->plans[c->collective];
    int32_t d = astra_dim_of(g, c), server = server_of(g, c);
    tell(g, c);
    g->running[server]--;
    if (--g->in_work[d] == 0)
        g->out->busy_ns[d] += g->now_ns - g->since_ns[d];
    if (++c->phase < p->p.n_phases)
        queues_arrive(g, id);
    else if (--p->n_left == 0 && g->end_ns)
        g->end_ns[c->collective] = g->now_ns;
    queues_begin_what_fits(g, server);
}

/* Collectives are issued as events, so that those of one instant keep the order of their list. */
static int queues_run(struct queues_engine *g, struct err *e)
{
    struct sim_astra_event astra_queues_event;
    for (int32_t i = 0; i < g->n; i++)
        g->failed |= !sim_astra_events_add(&g->events, g->collectives[i].issue_ns, ISSUED, i);
    while (!g->failed && sim_astra_events_next(&g->events, &astra_queues_event)) {
        g->now_ns = astra_queues_event.at_ns;
        if (astra_queues_event.kind == PHASE_ENDED)
            end_phase(g, astra_queues_event.id);
        else
            for (int32_t k = 0; k < g->plans[astra_queues_event.id].p.n_chunks; k++)
                queues_arrive(g, g->plans[astra_queues_event.id].first_chunk + k);
    }
    g->out->time_ns = g->now_ns;
    return g->failed ? err_nomem(e, "events") : 0;
}

/* The two back-ends; parameters as sim_astra_run(), checked. */
static int sim_astra_run_queues(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                                const struct sim_astra_collective *list, int32_t n, int64_t *end_ns,
                                const struct sim_astra_sink *sink, struct err *e)
{
    struct queues_engine g = { .setup = setup, .collectives = list, .n = n, .sink = sink, .out = out };
    g.end_ns = end_ns;
    g.slots = (setup->active_chunks - 1) / setup->queues + 1;
    int rc = queues_make_plans(&g, e);
    if (!rc)
        rc = events_reserve(&g, e);
    if (!rc)
        rc = queues_run(&g, e);
    free(g.plans);
    free(g.chunks);
    free(g.waiting);
    free(g.running);
    sim_astra_events_free(&g.events);
    return rc;
}

static bool is_power_of_two(int32_t n)
{
    return (n & (n - 1)) == 0;
}

const enum topo_shape sim_astra_shapes[SIM_ASTRA_SHAPES] = { TOPO_RING, TOPO_FULL, TOPO_SWITCH };

int sim_astra_check_shape(enum topo_shape shape, int32_t d, const char *tail, struct err *e)
{
    for (int i = 0; i < SIM_ASTRA_SHAPES; i++)
        if (sim_astra_shapes[i] == shape)
            return 0;
    return err_set(e, ERR_RANGE, "dims[%d].shape: is %s, expected ring, full or switch%s", d,
                   topo_shape_name(shape), tail);
}

/* Ranges of ASTRA-sim's input files, in its own units. */
static int astra_check_dim(const struct sim_astra_dim *dim, int32_t d, struct err *e)
{
    int rc = sim_astra_check_shape(dim->shape, d, "", e);
    if (rc)
        return rc;
    if (dim->size < TOPO_MIN_SIZE || dim->size > TOPO_MAX_SIZE)
        return err_set(e, ERR_RANGE, "dims[%d].size: is %d, expected %d to %d", d, dim->size, TOPO_MIN_SIZE,
                       TOPO_MAX_SIZE);
    if (!(isfinite(dim->GiBps) && dim->GiBps > 0))
        return err_set(e, ERR_RANGE, "dims[%d].GiBps: is %g, expected a bandwidth above 0", d, dim->GiBps);
    if (!(isfinite(dim->lat_ns) && dim->lat_ns >= 0))
        return err_set(e, ERR_RANGE, "dims[%d].lat_ns: is %g, expected a latency of 0 or more", d,
                       dim->lat_ns);
    return 0;
}

/* Only what the original implements and gets right (docs/astra.md lists what it gets wrong). */
static int check_algorithm(const struct sim_astra_setup *setup, int32_t d, struct err *e)
{
    enum topo_algorithm a = setup->algorithms[d];
    const struct sim_astra_dim *dim = &setup->dims[d];
    if (a != TOPO_ALGORITHM_RING && a != TOPO_ALGORITHM_DIRECT && a != TOPO_ALGORITHM_HALVING &&
        a != TOPO_ALGORITHM_TREE)
        return err_set(e, ERR_RANGE,
                       "algorithms[%d]: is %s, expected ring, direct, halving-doubling or double-binary-tree",
                       d, a < N_TOPO_ALGORITHMS ? topo_algorithm_words[a] : "unknown");
    if ((a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_TREE) && !is_power_of_two(dim->size))
        return err_set(e, ERR_RANGE, "algorithms[%d]: is %s of %d members, expected 2^k of them", d,
                       topo_algorithm_words[a], dim->size);
    return 0;
}

/* One dimension with contention, as in the original; an algorithm for each. */
static int astra_check_network(const struct sim_astra_setup *setup, struct err *e)
{
    int64_t npus = 1;
    if (setup->n_dims < 1 || setup->n_dims > TOPO_MAX_DIMS)
        return err_set(e, ERR_RANGE, "dims: are %d, expected 1 to %d", setup->n_dims, TOPO_MAX_DIMS);
    if (setup->backend == SIM_ASTRA_AWARE && setup->n_dims > 1)
        return err_set(e, ERR_UNSUP, "dims: are %d with contention, expected one", setup->n_dims);
    if (setup->n_algorithms != setup->n_dims)
        return err_set(e, ERR_RANGE, "algorithms: are %d for %d dimensions, expected one for each",
                       setup->n_algorithms, setup->n_dims);
    for (int32_t d = 0; d < setup->n_dims; d++) {
        int rc = astra_check_dim(&setup->dims[d], d, e);
        if (!rc)
            rc = check_algorithm(setup, d, e);
        if (rc)
            return rc;
        npus *= setup->dims[d].size;
        if (npus > TOPO_MAX_NPUS)
            return err_set(e, ERR_RANGE, "dims: have %lld NPUs or more, expected at most %d", (long long)npus,
                           TOPO_MAX_NPUS);
    }
    return 0;
}

static int astra_check_count(int64_t x, const char *name, int64_t most, struct err *e)
{
    if (x < 1 || x > most)
        return err_set(e, ERR_RANGE, "%s: is %lld, expected 1 to %lld", name, (long long)x, (long long)most);
    return 0;
}

/* Ranges of ASTRA-sim's system file. */
static int check_system(const struct sim_astra_setup *setup, struct err *e)
{
    int rc = astra_check_count(setup->splits, "splits", STAGE_MAX_CHUNKS, e);
    if (!rc)
        rc = astra_check_count(setup->active_chunks, "active_chunks", INT32_MAX, e);
    if (!rc)
        rc = astra_check_count(setup->queues, "queues", SIM_ASTRA_MAX_QUEUES, e);
    if (rc)
        return rc;
    if (setup->endpoint_ns < 0 || setup->endpoint_ns > INT64_C(1000000000000))
        return err_set(e, ERR_RANGE, "endpoint_ns: is %lld, expected 0 to 1e12",
                       (long long)setup->endpoint_ns);
    if (!(setup->mem_GBps > 0))
        return err_set(e, ERR_RANGE, "mem_GBps: is %g, expected a bandwidth above 0", setup->mem_GBps);
    return 0;
}

/* Members end at different times, so that what follows would start ragged; and the two trees of one dimension
 * take turns. Nothing is known to hold such figures against. */
static int check_tree(const struct sim_astra_setup *setup, const struct sim_astra_collective *c, int32_t d,
                      struct err *e)
{
    if (c->kind != COLLECTIVE_ALL_REDUCE || setup->n_dims > 1 || setup->splits > 1)
        return err_set(
            e, ERR_UNSUP,
            "algorithms[%d]: is double-binary-tree, expected an all-reduce of one chunk in one dimension", d);
    if (setup->dims[d].shape == TOPO_RING)
        return err_set(e, ERR_UNSUP,
                       "algorithms[%d]: is double-binary-tree on a ring, expected full or switch", d);
    return 0;
}

/* Broadcast and send are weft's own: the original has none. */
static int check_collective(const struct sim_astra_setup *setup, const struct sim_astra_collective *c,
                            struct err *e)
{
    bool any = false;
    if (c->bytes < 1)
        return err_set(e, ERR_RANGE, "bytes: is %lld, expected 1 or more", (long long)c->bytes);
    if (c->issue_ns < 0 || c->issue_ns > INT64_C(1000000000000000))
        return err_set(e, ERR_RANGE, "issue_ns: is %lld, expected 0 to 1e15", (long long)c->issue_ns);
    if (c->kind == COLLECTIVE_BROADCAST || c->kind == COLLECTIVE_SEND)
        return err_set(e, ERR_UNSUP,
                       "kind: is %s, expected all-reduce, reduce-scatter, all-gather or all-to-all",
                       collective_names[c->kind]);
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        if (!c->in[d])
            continue;
        any = true;
        if (d >= setup->n_dims)
            return err_set(e, ERR_RANGE, "in[%d]: is set, expected one of %d dimensions", d, setup->n_dims);
        if (c->kind == COLLECTIVE_ALL_TO_ALL && setup->algorithms[d] != TOPO_ALGORITHM_DIRECT)
            return err_set(e, ERR_UNSUP, "algorithms[%d]: is %s, expected direct for an all-to-all", d,
                           topo_algorithm_words[setup->algorithms[d]]);
        int rc = setup->algorithms[d] == TOPO_ALGORITHM_TREE ? check_tree(setup, c, d, e) : 0;
        if (rc)
            return rc;
    }
    return any ? 0 : err_set(e, ERR_RANGE, "in: is set for no dimension, expected one or more");
}

/* ERR_RANGE, ERR_UNSUP: what sim_astra_run() refuses. */
static int sim_astra_check(const struct sim_astra_setup *setup, const struct sim_astra_collective *list,
                           int32_t n, struct err *e)
{
    int rc = astra_check_network(setup, e);
    if (!rc)
        rc = check_system(setup, e);
    if (!rc)
        rc = astra_check_count(n, "collectives", SIM_ASTRA_MAX_COLLECTIVES, e);
    if (!rc && setup->backend == SIM_ASTRA_AWARE && n > 1)
        rc = err_set(e, ERR_UNSUP, "collectives: are %d with contention, expected one", n);
    for (int32_t i = 0; i < n && !rc; i++) {
        rc = check_collective(setup, &list[i], e);
        if (!rc && i && list[i].issue_ns < list[i - 1].issue_ns)
            rc = err_set(e, ERR_RANGE, "issue_ns: is %lld after %lld; they must be in order",
                         (long long)list[i].issue_ns, (long long)list[i - 1].issue_ns);
        if (rc && n > 1)
            err_wrap(e, "collectives[%d]", i);
    }
    return rc;
}

void sim_astra_defaults(struct sim_astra_setup *setup)
{
    *setup = (struct sim_astra_setup){
        .splits = 1, .active_chunks = 1, .queues = 1, .mem_GBps = INFINITY, .lifo = true
    };
}

/* Chooses the engine: queues of dimensions without contention, links with it. A double binary tree has a
 * closed form in both. */
int sim_astra_run(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                  const struct sim_astra_collective *list, int32_t n, int64_t *end_ns,
                  const struct sim_astra_sink *sink, struct err *e)
{
    *out = (struct sim_astra_result){ 0 };
    int rc = sim_astra_check(setup, list, n, e);
    if (rc)
        return rc;
    /* A tree has its closed form with contention too. */
    if (setup->backend == SIM_ASTRA_UNAWARE || setup->algorithms[0] == TOPO_ALGORITHM_TREE)
        return sim_astra_run_queues(out, setup, list, n, end_ns, sink, e);
    rc = sim_astra_run_links(out, setup, list, sink, e);
    if (!rc && end_ns)
        end_ns[0] = out->time_ns;
    return rc;
}
