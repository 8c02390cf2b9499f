#include "workloads/collective_time.h"

#include <math.h>

/* The passes of one chunk, and how often each counts. */
struct chain {
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    int32_t n, n_rows;
};

static void fill_chain(struct chain *c, enum collective_kind kind, double bytes, const int32_t *members,
                       const struct collective_way *way)
{
    c->n = stage_list(c->stages, kind, bytes / way->rules->chunks, members, NULL, way->net, way->rules,
                      way->bw_Bps);
    c->n_rows = c->n ? stage_rows(c->rows, c->stages, c->n, kind, way->rules->chunks) : 0;
}

/* Time of a row, its transfers by dimension. */
static double row_time(const struct chain *c, int32_t r, const struct collective_way *way, double *wait_s)
{
    double time_s = 0;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        wait_s[d] = 0;
    for (int32_t k = 0; k < c->n; k++) {
        double count = c->rows[r].count[k];
        if (!(count > 0))
            continue;
        double transfer_s = c->stages[k].load_B / way->bw_Bps[c->stages[k].dim];
        wait_s[c->stages[k].dim] += count * transfer_s;
        time_s += count * (c->stages[k].const_s + transfer_s);
    }
    return time_s;
}

static void time_by_bandwidth(struct collective_time *out, enum collective_kind kind, double bytes,
                              const int32_t *members, const struct collective_way *way)
{
    double traffic_B[TOPO_MAX_DIMS];
    int32_t slowest = -1;
    collective_traffic(traffic_B, kind, bytes, members, way->net->n_dims);
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        double time_s =
            traffic_B[d] > 0 ? traffic_B[d] / collective_share(&way->net->dims[d]) / way->bw_Bps[d] : 0;
        if (time_s > out->time_s) {
            out->time_s = time_s;
            slowest = d;
        }
    }
    if (slowest >= 0)
        out->wait_s[slowest] = out->time_s;
}

void collective_time(struct collective_time *out, enum collective_kind kind, double bytes,
                     const int32_t *members, const struct collective_way *way)
{
    struct chain c;
    *out = (struct collective_time){ 0 };
    if (!way->rules) {
        time_by_bandwidth(out, kind, bytes, members, way);
        return;
    }
    fill_chain(&c, kind, bytes, members, way);
    for (int32_t r = 0; r < c.n_rows; r++) {
        double wait_s[TOPO_MAX_DIMS], time_s = row_time(&c, r, way, wait_s);
        if (!(time_s > out->time_s))
            continue;
        out->time_s = time_s;
        for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
            out->wait_s[d] = wait_s[d];
    }
}

/* ---- as lines ---- */

bool collective_is_linear(enum collective_kind kind, const struct collective_way *way)
{
    return !way->rules || (kind != COLLECTIVE_BROADCAST && !stage_has_choice(way->net));
}

static bool is_below(const struct collective_line *a, const struct collective_line *b)
{
    return a->const_s <= b->const_s && a->s_per_B <= b->s_per_B;
}

static void add_line(struct collective_lines *out, const struct collective_line *line)
{
    for (int32_t i = 0; i < out->n; i++)
        if (is_below(line, &out->lines[i]))
            return;
    int32_t n = 0;
    for (int32_t i = 0; i < out->n; i++)
        if (!is_below(&out->lines[i], line))
            out->lines[n++] = out->lines[i];
    out->lines[n++] = *line;
    out->n = n;
}

static void lines_by_bandwidth(struct collective_lines *out, enum collective_kind kind,
                               const int32_t *members, const struct collective_way *way)
{
    double traffic_B[TOPO_MAX_DIMS];
    collective_traffic(traffic_B, kind, 1, members, way->net->n_dims);
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        struct collective_line line = { 0 };
        if (!(traffic_B[d] > 0))
            continue;
        line.s_per_B = traffic_B[d] / collective_share(&way->net->dims[d]) / way->bw_Bps[d];
        line.wait_s_per_B[d] = line.s_per_B;
        add_line(out, &line);
    }
}

/* Every part of a row is latency and overhead, or grows with the bytes: two sizes tell them apart. */
void collective_find_lines(struct collective_lines *out, enum collective_kind kind, const int32_t *members,
                           const struct collective_way *way)
{
    static const double small_B = 1e6, step_B = 1e6;
    struct chain small, large;
    out->n = 0;
    if (!way->rules) {
        lines_by_bandwidth(out, kind, members, way);
        return;
    }
    fill_chain(&small, kind, small_B, members, way);
    fill_chain(&large, kind, small_B + step_B, members, way);
    for (int32_t r = 0; r < small.n_rows; r++) {
        struct collective_line line = { 0 };
        double small_wait_s[TOPO_MAX_DIMS], large_wait_s[TOPO_MAX_DIMS];
        double small_s = row_time(&small, r, way, small_wait_s);
        double large_s = row_time(&large, r, way, large_wait_s);
        line.s_per_B = isfinite(large_s) ? (large_s - small_s) / step_B : INFINITY; /* no bandwidth */
        line.const_s = fmax(small_s - line.s_per_B * small_B, 0);
        for (int32_t d = 0; d < way->net->n_dims; d++)
            line.wait_s_per_B[d] = small_wait_s[d] / small_B;
        add_line(out, &line);
    }
}
