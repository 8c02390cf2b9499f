/*
 * Times of planned steps: a search asks a million times a second and core, so collectives are not modelled
 * anew. Where their time is linear in the bytes (collective_is_linear()), lines are found once a place, and
 * their form once for all bandwidths; where it is not (regimes, measured curves), and for tangents where
 * there is no such form, what was asked last is remembered by place, group, kind and bytes.
 */
#include "kinds/design/explore/clock.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"

void search_forms_set(struct search_forms *f, const struct collective_way *way,
                      const struct plan_place *place)
{
    f->place = place;
    /* No planned step broadcasts, which is the one kind that always chooses. */
    for (int k = 0; k < N_COLLECTIVES; k++)
        f->linear[k] = collective_is_linear((enum collective_kind)k, way);
    memset(f->found, 0, sizeof f->found);
}

/* NULL: it has none. */
static const struct collective_form *find_form(struct search_forms *f, const struct collective_way *way,
                                               const struct plan_collective *x)
{
    struct collective_form *form = &f->forms[x->group][x->kind];
    if (!f->linear[x->kind])
        return NULL;
    if (f->found[x->group][x->kind] == FORM_BLANK)
        f->found[x->group][x->kind] =
            collective_find_form(form, x->kind, f->place->members[x->group], f->place->stride[x->group],
                                 f->place->share[x->group], way)
                ? FORM_FOUND
                : FORM_NONE;
    return f->found[x->group][x->kind] == FORM_FOUND ? form : NULL;
}

void search_clock_set(struct search_clock *c, const struct collective_way *way, struct search_forms *forms,
                      struct search_seen *seen)
{
    c->way = *way;
    c->forms = forms;
    c->seen = seen;
    c->id = ++seen->n_clocks;
    c->price = NULL;
    memset(c->found, 0, sizeof c->found);
}

/* To bandwidths that each collective has for itself: sum_d load_d / B_d with price . B <= rent is no less
 * than (sum_d sqrt(load_d price_d))^2 / rent, by Cauchy and Schwarz. */
static void raise_lines(struct collective_lines *lines, const struct search_clock *c)
{
    for (int32_t l = 0; l < lines->n; l++) {
        struct collective_line *line = &lines->lines[l];
        double root = 0, moved_s = 0;
        for (int32_t d = 0; d < c->way.net->n_dims; d++) {
            double s_per_B = line->wait_s_per_B[d];
            moved_s += s_per_B;
            if (s_per_B > 0 && c->price[d] > 0 && isfinite(c->way.bw_Bps[d]))
                root += sqrt(s_per_B * c->way.bw_Bps[d] * c->price[d]);
        }
        if (isfinite(line->s_per_B))
            line->s_per_B += fmax(root * root / c->rent - moved_s, 0);
    }
}

static const struct collective_lines *find_lines(struct search_clock *c, const struct plan_collective *x)
{
    struct collective_lines *lines = &c->lines[x->group][x->kind];
    const struct plan_place *place = c->forms->place;
    if (c->found[x->group][x->kind])
        return lines;
    const struct collective_form *form = find_form(c->forms, &c->way, x);
    if (form)
        collective_form_lines(lines, form, c->way.bw_Bps, c->way.net->n_dims);
    else
        collective_find_lines(lines, x->kind, place->members[x->group], place->stride[x->group],
                              place->share[x->group], &c->way);
    if (c->price)
        raise_lines(lines, c);
    c->found[x->group][x->kind] = true;
    return lines;
}

/* To the bit what collective_time() says; valid until the next call. */
static const struct collective_time *find_seen(struct search_clock *c, const struct plan_collective *x)
{
    uint64_t bits;
    memcpy(&bits, &x->bytes, sizeof bits);
    bits ^= ((uint64_t)c->id * N_PLAN_GROUPS + x->group) * N_COLLECTIVES + x->kind;
    size_t i = hash_mix(bits) % CLOCK_SEEN;
    if (c->seen->at[i].clock != c->id || c->seen->at[i].group != x->group || c->seen->at[i].kind != x->kind ||
        c->seen->at[i].bytes < x->bytes || c->seen->at[i].bytes > x->bytes) {
        c->seen->at[i].clock = c->id;
        c->seen->at[i].group = x->group;
        c->seen->at[i].kind = x->kind;
        c->seen->at[i].bytes = x->bytes;
        const struct plan_place *place = c->forms->place;
        collective_time(&c->seen->at[i].time, x->kind, x->bytes, place->members[x->group],
                        place->stride[x->group], place->share[x->group], &c->way);
    }
    return &c->seen->at[i].time;
}

static void find_busy(double *busy_s, struct search_clock *c, const struct plan_collective *x)
{
    bool linear = c->forms->linear[x->kind];
    const double *found_s = linear ? find_lines(c, x)->busy_s_per_B : find_seen(c, x)->busy_s;
    for (int32_t d = 0; d < c->way.net->n_dims; d++)
        busy_s[d] = linear ? found_s[d] * x->bytes : found_s[d];
}

/* Time of a plan at one way of running collectives. Where that is linear in the bytes, lines are looked up
 * instead of the full model: most of the search's time is here. Links that are shared only make it longer, so
 * few plans need to be asked for them. */
double search_clock_time(struct search_clock *c, const struct plan_cost *cost, double most_s)
{
    double once_s[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy;
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        once_s[i] = 0;
        if (!c->forms->linear[x->kind]) {
            once_s[i] = find_seen(c, x)->time_s;
            continue;
        }
        const struct collective_lines *lines = find_lines(c, x);
        for (int32_t l = 0; l < lines->n; l++) {
            double time_s = lines->lines[l].const_s + lines->lines[l].s_per_B * x->bytes;
            once_s[i] = time_s > once_s[i] ? time_s : once_s[i];
        }
    }
    double least_s = plan_cost_time(cost, once_s, NULL);
    if (!cost->shared || least_s > most_s)
        return least_s;
    busy.n_dims = c->way.net->n_dims;
    for (int32_t i = 0; i < cost->n_collectives; i++)
        find_busy(busy.once_s[i], c, &cost->collectives[i]);
    return plan_cost_time(cost, once_s, &busy);
}

/* The steepest line of each place, and of all these the least in both respects; none where bytes choose. */
static void find_least(struct search_least *least, struct search_clock *clocks, int32_t stride, int32_t n,
                       const struct plan_collective *x)
{
    double const_s = INFINITY, s_per_B = INFINITY;
    for (int32_t i = 0; i < n; i++) {
        struct search_clock *c = &clocks[(ptrdiff_t)i * stride];
        struct collective_line steepest = { 0 };
        const struct collective_lines *lines = c->forms->linear[x->kind] ? find_lines(c, x) : NULL;
        for (int32_t l = 0; lines && l < lines->n; l++)
            if (lines->lines[l].s_per_B > steepest.s_per_B)
                steepest = lines->lines[l];
        const_s = fmin(const_s, steepest.const_s);
        s_per_B = fmin(s_per_B, steepest.s_per_B);
    }
    least->found[x->group][x->kind] = true;
    least->lines[x->group][x->kind].const_s = const_s;
    least->lines[x->group][x->kind].s_per_B = s_per_B;
}

double search_clock_least(struct search_least *least, struct search_clock *clocks, int32_t stride, int32_t n,
                          const struct plan_cost *cost)
{
    double once_s[PLAN_MAX_COLLECTIVES];
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        if (!least->found[x->group][x->kind])
            find_least(least, clocks, stride, n, x);
        once_s[i] =
            least->lines[x->group][x->kind].const_s + least->lines[x->group][x->kind].s_per_B * x->bytes;
    }
    return plan_cost_time(cost, once_s, NULL);
}

double search_clock_at(const struct collective_way *way, const struct plan_place *place,
                       const struct plan_cost *cost)
{
    double once_s[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy;
    busy.n_dims = way->net->n_dims;
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        struct collective_time t;
        collective_time(&t, x->kind, x->bytes, place->members[x->group], place->stride[x->group],
                        place->share[x->group], way);
        once_s[i] = t.time_s;
        memcpy(busy.once_s[i], t.busy_s, sizeof busy.once_s[i]);
    }
    return plan_cost_time(cost, once_s, &busy);
}

/* What a collective takes once, in the two forms that a step asks for. */
static void put_once(struct plan_sum *once, double *busy_s, const struct collective_time *t, int32_t n_dims)
{
    once->v[0] = t->time_s;
    for (int32_t d = 0; d < n_dims; d++) {
        once->v[1 + d] = t->wait_s[d];
        busy_s[d] = t->busy_s[d];
    }
}

/* The same by lines; of equals the first. */
static void put_line(struct plan_sum *once, double *busy_s, const struct collective_lines *lines,
                     double bytes, int32_t n_dims)
{
    const struct collective_line *longest = NULL;
    once->v[0] = 0;
    for (int32_t l = 0; l < lines->n; l++) {
        double time_s = lines->lines[l].const_s + lines->lines[l].s_per_B * bytes;
        if (time_s > once->v[0]) {
            once->v[0] = time_s;
            longest = &lines->lines[l];
        }
    }
    for (int32_t d = 0; d < n_dims; d++) {
        once->v[1 + d] = longest ? longest->wait_s_per_B[d] * bytes : 0;
        busy_s[d] = lines->busy_s_per_B[d] * bytes;
    }
}

static struct alloc_cut cut_of_sum(const struct plan_sum *sum, const struct collective_way *way,
                                   double weight)
{
    struct alloc_cut t = { .const_s = sum->v[0] };
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        t.pull_B[d] = sum->v[1 + d] > 0 ? weight * sum->v[1 + d] * way->bw_Bps[d] : 0; /* of any bandwidth */
        t.const_s -= sum->v[1 + d];
    }
    t.const_s = t.const_s > 0 ? weight * t.const_s : 0;
    return t;
}

struct alloc_cut search_tangent(double *at_s, struct search_clock *c, const struct plan_cost *cost,
                                double weight)
{
    struct plan_sum sum;
    search_clock_sum(&sum, c, cost);
    *at_s = weight * sum.v[0];
    return cut_of_sum(&sum, &c->way, weight);
}

struct alloc_cut search_tangent_of(const struct collective_way *way, struct search_forms *forms,
                                   const struct plan_cost *cost, double weight)
{
    struct plan_sum sum, once[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy = { .n_dims = way->net->n_dims };
    struct collective_lines lines[N_PLAN_GROUPS][N_COLLECTIVES];
    bool found[N_PLAN_GROUPS][N_COLLECTIVES] = { { false } };
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        const struct collective_form *form = find_form(forms, way, x);
        if (!form) {
            const struct plan_place *place = forms->place;
            struct collective_time t;
            collective_time(&t, x->kind, x->bytes, place->members[x->group], place->stride[x->group],
                            place->share[x->group], way);
            put_once(&once[i], busy.once_s[i], &t, busy.n_dims);
            continue;
        }
        if (!found[x->group][x->kind])
            collective_form_lines(&lines[x->group][x->kind], form, way->bw_Bps, busy.n_dims);
        found[x->group][x->kind] = true;
        put_line(&once[i], busy.once_s[i], &lines[x->group][x->kind], x->bytes, busy.n_dims);
    }
    plan_cost_sum(&sum, cost, once, &busy, busy.n_dims);
    return cut_of_sum(&sum, way, weight);
}

struct alloc_cut search_tangent_at(const struct collective_way *way, const struct plan_place *place,
                                   const struct plan_cost *cost, double weight)
{
    struct plan_sum sum, once[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy = { .n_dims = way->net->n_dims };
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        struct collective_time t;
        collective_time(&t, x->kind, x->bytes, place->members[x->group], place->stride[x->group],
                        place->share[x->group], way);
        put_once(&once[i], busy.once_s[i], &t, busy.n_dims);
    }
    plan_cost_sum(&sum, cost, once, &busy, busy.n_dims);
    return cut_of_sum(&sum, way, weight);
}

void search_clock_sum(struct plan_sum *out, struct search_clock *c, const struct plan_cost *cost)
{
    struct plan_sum once[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy;
    busy.n_dims = c->way.net->n_dims;
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        if (find_form(c->forms, &c->way, x))
            put_line(&once[i], busy.once_s[i], find_lines(c, x), x->bytes, busy.n_dims);
        else
            put_once(&once[i], busy.once_s[i], find_seen(c, x), busy.n_dims);
    }
    plan_cost_sum(out, cost, once, &busy, busy.n_dims);
}

/* ---- paths ---- */

static_assert(1 + SEARCH_PATH_KINDS <= TOPO_MAX_DIMS, "a sum has room for all kinds and their time");

static int32_t find_path_kind(struct search_path *path, const struct plan_collective *x)
{
    int32_t i = 0;
    while (i < path->n && !(path->group[i] == x->group && path->kind[i] == x->kind))
        i++;
    if (i == path->n && i < SEARCH_PATH_KINDS) {
        path->group[i] = (uint8_t)x->group;
        path->kind[i] = (uint8_t)x->kind;
        path->n++;
    }
    return i;
}

/* What a path sends is summed up like what each dimension takes of it: once the bytes, once how often. */
void search_path_add(struct search_path *path, double share, const struct collective_way *way,
                     struct search_forms *forms, const struct plan_cost *cost)
{
    struct plan_sum times, bytes, once_times[PLAN_MAX_COLLECTIVES] = { 0 },
                                  once_bytes[PLAN_MAX_COLLECTIVES] = { 0 };
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        const struct collective_form *form = find_form(forms, way, x);
        struct collective_lines lines = { 0 };
        int32_t at = find_path_kind(path, x);
        double time_s = 0;
        if (form)
            collective_form_lines(&lines, form, way->bw_Bps, way->net->n_dims);
        for (int32_t l = 0; l < lines.n; l++)
            time_s = fmax(time_s, lines.lines[l].const_s + lines.lines[l].s_per_B * x->bytes);
        once_times[i].v[0] = once_bytes[i].v[0] = time_s;
        once_times[i].v[1 + SEARCH_PATH_KINDS] = time_s;
        if (at < SEARCH_PATH_KINDS) {
            once_times[i].v[1 + at] = 1;
            once_bytes[i].v[1 + at] = x->bytes;
        }
    }
    plan_cost_sum(&times, cost, once_times, NULL, 1 + SEARCH_PATH_KINDS);
    plan_cost_sum(&bytes, cost, once_bytes, NULL, SEARCH_PATH_KINDS);
    path->const_s += (float)(share * fmax(times.v[0] - times.v[1 + SEARCH_PATH_KINDS], 0));
    for (int32_t i = 0; i < path->n; i++) {
        path->times[i] += (float)(share * times.v[1 + i]);
        path->bytes[i] += (float)(share * bytes.v[1 + i]);
    }
}

/* The row that takes longest; each bounds the collective. */
static const struct collective_form_row *longest_row(const struct collective_form *form, double bytes,
                                                     const struct collective_way *way)
{
    const struct collective_form_row *longest = &form->rows[0];
    double most_s = 0;
    for (int32_t r = 0; r < form->n_rows && form->n_rows > 1; r++) {
        const struct collective_form_row *row = &form->rows[r];
        double s_per_B = row->s_per_B;
        for (int32_t d = 0; d < way->net->n_dims; d++)
            s_per_B += row->load_B[d] > 0 ? row->load_B[d] / way->bw_Bps[d] : 0;
        if (row->const_s + s_per_B * bytes > most_s) {
            most_s = row->const_s + s_per_B * bytes;
            longest = row;
        }
    }
    return longest;
}

struct alloc_cut search_path_cut(const struct search_path *path, const struct collective_way *way,
                                 struct search_forms *forms, double weight)
{
    struct alloc_cut t = { .const_s = weight * (double)path->const_s };
    for (int32_t i = 0; i < path->n; i++) {
        const struct plan_collective x = { .group = (enum plan_group)path->group[i],
                                           .kind = (enum collective_kind)path->kind[i] };
        const struct collective_form *form = find_form(forms, way, &x);
        if (!form || form->n_rows == 0)
            continue;
        double times = weight * (double)path->times[i], bytes = weight * (double)path->bytes[i];
        const struct collective_form_row *row = longest_row(form, bytes / times, way);
        t.const_s += times * row->const_s + bytes * row->s_per_B;
        for (int32_t d = 0; d < way->net->n_dims; d++)
            t.pull_B[d] += bytes * row->load_B[d];
    }
    return t;
}
