#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/events/lockstep_model.h"

int lockstep_build(struct lockstep **out, const double *bw_Bps, int32_t n_links, int32_t n_bundles,
                   struct err *e)
{
    struct lockstep *l = *out = calloc(1, sizeof *l);
    if (!l)
        return err_nomem(e, "links");
    size_t n = (size_t)n_links + (size_t)n_bundles + 1, n_b = (size_t)n_bundles + 1;
    l->n_links = n_links;
    l->n_bundles = n_bundles;
    l->links = calloc(n, sizeof *l->links);
    l->bundles = calloc(n_b, sizeof *l->bundles);
    l->dirty = malloc(n * sizeof *l->dirty);
    l->near_links = malloc(n * sizeof *l->near_links);
    l->near_bundles = malloc(n_b * sizeof *l->near_bundles);
    l->changed = malloc(n_b * sizeof *l->changed);
    l->offers = malloc(n * sizeof *l->offers);
    if (!l->links || !l->bundles || !l->dirty || !l->near_links || !l->near_bundles || !l->changed ||
        !l->offers) {
        lockstep_free(l);
        *out = NULL;
        return err_nomem(e, "links");
    }
    for (int32_t i = 0; i < n_links; i++)
        l->links[i].bw_Bps = bw_Bps[i];
    return 0;
}

void lockstep_free(struct lockstep *l)
{
    if (!l)
        return;
    for (int32_t i = 0; l->links && i < l->n_links + l->n_bundles; i++)
        free(l->links[i].seats);
    for (int32_t i = 0; l->bundles && i < l->n_bundles; i++)
        free(l->bundles[i].uses);
    free(l->links);
    free(l->bundles);
    free(l->dirty);
    free(l->near_links);
    free(l->near_bundles);
    free(l->changed);
    free(l->offers);
    free(l);
}

/* A sum that only ever changes drifts away from what it is a sum of: so often it is made anew. */
enum { MAX_AGE = 64 };

void lockstep_change_load(struct lockstep *l, int32_t at, double change_Bps)
{
    struct lockstep_link *link = &l->links[at];
    link->load_Bps += change_Bps;
    if (++link->age < MAX_AGE)
        return;
    link->age = 0;
    link->load_Bps = 0;
    for (int32_t s = 0; s < link->n; s++)
        link->load_Bps += link->seats[s].count * l->bundles[link->seats[s].bundle].rate_Bps;
}

void lockstep_set_neck(struct lockstep *l, struct lockstep_bundle *b, int32_t neck)
{
    if (b->neck != LOCKSTEP_NEW)
        l->links[b->neck].necks--;
    b->neck = neck;
    if (neck != LOCKSTEP_NEW)
        l->links[neck].necks++;
}

/* Bundles came or went. */
static void touch(struct lockstep *l, int32_t link)
{
    if (!l->links[link].dirty) {
        l->links[link].dirty = true;
        l->dirty[l->n_dirty++] = link;
    }
}

/* Room for one more seat on each of its links, so that taking the seats cannot fail. */
static bool reserve_seats(struct lockstep *l, const struct lockstep_bundle *b)
{
    for (int32_t i = 0; i < b->n; i++) {
        struct lockstep_link *link = &l->links[b->uses[i].link];
        struct lockstep_seat *grown = array_grow(link->seats, link->n, &link->cap, sizeof *grown);
        if (!grown)
            return false;
        link->seats = grown;
    }
    return true;
}

int lockstep_add(struct lockstep *l, int32_t id, const struct lockstep_use *uses, int32_t n_uses,
                 double cap_Bps, struct err *e)
{
    struct lockstep_bundle *b = &l->bundles[id];
    int32_t n = n_uses + (isfinite(cap_Bps) ? 1 : 0);
    *b = (struct lockstep_bundle){ .n = n, .neck = LOCKSTEP_NEW };
    b->uses = malloc((size_t)(n > 0 ? n : 1) * (sizeof *b->uses + sizeof *b->seat));
    if (!b->uses)
        return err_nomem(e, "links of a job");
    b->seat = (int32_t *)(void *)(b->uses + n);
    memcpy(b->uses, uses, (size_t)n_uses * sizeof *uses);
    if (n > n_uses) {
        b->uses[n_uses] = (struct lockstep_use){ l->n_links + id, 1 };
        l->links[l->n_links + id].bw_Bps = cap_Bps;
    }
    if (!reserve_seats(l, b)) {
        free(b->uses);
        *b = (struct lockstep_bundle){ 0 };
        return err_nomem(e, "links of a job");
    }
    for (int32_t i = 0; i < n; i++) {
        struct lockstep_link *link = &l->links[b->uses[i].link];
        b->seat[i] = link->n;
        link->seats[link->n++] = (struct lockstep_seat){ id, i, b->uses[i].count };
        touch(l, b->uses[i].link);
    }
    return 0;
}

void lockstep_remove(struct lockstep *l, int32_t id)
{
    struct lockstep_bundle *b = &l->bundles[id];
    if (!b->uses)
        return;
    for (int32_t i = 0; i < b->n; i++) {
        struct lockstep_link *link = &l->links[b->uses[i].link];
        const struct lockstep_seat *last = &link->seats[--link->n];
        l->bundles[last->bundle].seat[last->at] = b->seat[i];
        link->seats[b->seat[i]] = *last;
        lockstep_change_load(l, b->uses[i].link, -b->uses[i].count * b->rate_Bps);
        /* As it was when built, so that what happened before does not show. */
        if (link->n == 0) {
            link->load_Bps = 0;
            link->age = 0;
        }
        touch(l, b->uses[i].link);
    }
    lockstep_set_neck(l, b, LOCKSTEP_NEW);
    free(b->uses);
    *b = (struct lockstep_bundle){ 0 };
}

void lockstep_forget(struct lockstep *l)
{
    for (int32_t i = 0; i < l->n_bundles; i++)
        if (l->bundles[i].uses) {
            lockstep_set_neck(l, &l->bundles[i], LOCKSTEP_NEW);
            l->bundles[i].rate_Bps = 0;
        }
    for (int32_t i = 0; i < l->n_links + l->n_bundles; i++) {
        l->links[i].load_Bps = 0;
        if (l->links[i].n > 0)
            touch(l, i);
    }
}

double lockstep_rate(const struct lockstep *l, int32_t id)
{
    return l->bundles[id].rate_Bps;
}
