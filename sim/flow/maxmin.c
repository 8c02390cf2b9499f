#include "sim/flow/maxmin.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Bundles and links.
 */

/** Neck of a bundle that has no rate yet. */
enum { LOCKSTEP_NEW = -1 };

enum { LOCKSTEP_SHELVES = 1024 };

/** A bundle on a link. */
struct lockstep_seat {
    int32_t bundle;
    int32_t at;    /**< among the uses of the bundle */
    int32_t count; /**< transfers */
};

struct lockstep_link {
    double bw_Bps;
    double load_Bps;             /**< by the rates as they stand; up to rounding */
    double left_Bps;             /**< while rates are found: what those that have theirs leave */
    int64_t open;                /**< transfers without a rate so far */
    int32_t sharers;             /**< bundles among those at first */
    struct lockstep_seat *seats; /**< shape [n], owned */
    int32_t n, cap;
    int32_t necks; /**< bundles whose bottleneck it is */
    int32_t age;   /**< changes of load_Bps since it was summed up */
    int32_t next;  /**< behind it on the shelf, -1: none */
    int32_t mark;
    bool dirty; /**< somebody came or went */
};

struct lockstep_bundle {
    struct lockstep_use *uses; /**< shape [n], owned; NULL: not there */
    int32_t *seat;             /**< shape [n], where it sits on the link of each use; lies behind uses */
    int32_t n;                 /**< the link of its cap counts, where it has one */
    double rate_Bps, next_Bps;
    int32_t neck; /**< link that keeps it from being faster */
    int32_t mark;
    bool open;
};

/** What a link would give to each transfer without a rate. */
struct lockstep_offer {
    double Bps;
    int32_t link;
};

struct lockstep {
    int32_t n_links, n_bundles;
    /** Shape [n_links + n_bundles], owned. The cap of bundle b is link n_links + b, which nobody else uses.
     */
    struct lockstep_link *links;
    struct lockstep_bundle *bundles; /**< shape [n_bundles], owned */
    int32_t *dirty, *near_links;     /**< shapes [n_links + n_bundles], owned */
    int32_t n_dirty, n_near_links;
    int32_t *near_bundles; /**< shape [n_bundles], owned; those that get a new rate */
    int32_t n_near_bundles;
    int32_t *changed;              /**< shape [n_bundles], owned */
    struct lockstep_offer *offers; /**< shape [n_links + n_bundles], owned; a heap, of one shelf */
    int32_t n_offers;
    int32_t shelves[LOCKSTEP_SHELVES]; /**< first link of each; links are on one at most */
    int32_t shelf;                     /**< whose links are in the heap */
    uint64_t lowest;                   /**< what shelf 0 begins with */
    int32_t n_open;                    /**< bundles without a rate so far */
    int32_t mark;                      /**< of what is reached this time */
};

/** Another load of link @p at, as one of its bundles has another rate. */
void lockstep_change_load(struct lockstep *l, int32_t at, double change_Bps);

/** @p bundle has another bottleneck. */
void lockstep_set_neck(struct lockstep *l, struct lockstep_bundle *bundle, int32_t neck);

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

/* As in sim/flow: offers this close (relative) to the last level are that level, so that bundles equal by
 * symmetry get equal rates, and a bundle that is as close to its former rate keeps it. Far above rounding,
 * far below what matters. */
#define SAME_LEVEL (1 + 0x1p-40)

/* Whoever is that close (relative) to where it should be is not wronged: above the rounding of a sum of
 * thousands. Wider than SAME_LEVEL, by which rates may be off. */
#define SAME_RATE (1 + 0x1p-38)

/* Rounds of going on with the wronged before all that hang together are taken. */
enum { MAX_ROUNDS = 8 };

/* ---- who gets a new rate ---- */

static void reach_link(struct lockstep *l, int32_t link)
{
    if (l->links[link].mark != l->mark) {
        l->links[link].mark = l->mark;
        l->near_links[l->n_near_links++] = link;
    }
}

static void reach_bundle(struct lockstep *l, int32_t bundle)
{
    struct lockstep_bundle *b = &l->bundles[bundle];
    if (b->mark == l->mark)
        return;
    b->mark = l->mark;
    l->near_bundles[l->n_near_bundles++] = bundle;
    for (int32_t i = 0; i < b->n; i++)
        reach_link(l, b->uses[i].link);
}

/* All that hangs together with what is reached so far. */
static void reach_all(struct lockstep *l)
{
    for (int32_t i = 0; i < l->n_near_links; i++) {
        const struct lockstep_link *link = &l->links[l->near_links[i]];
        for (int32_t s = 0; s < link->n; s++)
            reach_bundle(l, link->seats[s].bundle);
    }
}

/* A link that bundles came to or left: who has no rate yet, and whom the link held back. */
static void reach_held(struct lockstep *l, int32_t at)
{
    const struct lockstep_link *link = &l->links[at];
    reach_link(l, at);
    for (int32_t s = 0; s < link->n; s++) {
        int32_t neck = l->bundles[link->seats[s].bundle].neck;
        if (neck == at || neck == LOCKSTEP_NEW)
            reach_bundle(l, link->seats[s].bundle);
    }
}

/* ---- progressive filling ---- */

static bool is_less(const struct lockstep_offer *a, const struct lockstep_offer *b)
{
    return a->Bps < b->Bps || (!(a->Bps > b->Bps) && a->link < b->link);
}

static void sink(struct lockstep *l, int32_t at)
{
    struct lockstep_offer moved = l->offers[at];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= l->n_offers)
            break;
        if (child + 1 < l->n_offers && is_less(&l->offers[child + 1], &l->offers[child]))
            child++;
        if (!is_less(&l->offers[child], &moved))
            break;
        l->offers[at] = l->offers[child];
        at = child;
    }
    l->offers[at] = moved;
}

/* Less than nothing is left where bundles that keep their rate will have to give some of it back. */
static double offer_of(const struct lockstep_link *link)
{
    return fmax(0, link->left_Bps) / (double)link->open;
}

/* Bundles that are not reached keep what they have: all others give theirs back first. */
static void open_links(struct lockstep *l)
{
    for (int32_t i = 0; i < l->n_near_links; i++) {
        struct lockstep_link *link = &l->links[l->near_links[i]];
        link->left_Bps = link->bw_Bps - link->load_Bps;
        link->open = 0;
        link->sharers = 0;
    }
    for (int32_t i = 0; i < l->n_near_bundles; i++) {
        struct lockstep_bundle *b = &l->bundles[l->near_bundles[i]];
        b->open = true;
        for (int32_t k = 0; k < b->n; k++) {
            struct lockstep_link *link = &l->links[b->uses[k].link];
            link->left_Bps += b->uses[k].count * b->rate_Bps;
            link->open += b->uses[k].count;
            link->sharers++;
        }
    }
}

/* Of the links on which a bundle is the only one without a rate, which do not change until it has one. */
static struct lockstep_offer own_offer(const struct lockstep *l, const struct lockstep_bundle *b)
{
    struct lockstep_offer least = { INFINITY, -1 };
    for (int32_t k = 0; k < b->n; k++) {
        const struct lockstep_link *link = &l->links[b->uses[k].link];
        if (link->sharers > 1)
            continue;
        const struct lockstep_offer offer = { offer_of(link), b->uses[k].link };
        if (is_less(&offer, &least))
            least = offer;
    }
    return least;
}

/* Shelves are 1/64 of an octave wide: the bits of a double down to the sixth of its fraction count them. */
static uint64_t height_of(double Bps)
{
    uint64_t bits;
    memcpy(&bits, &Bps, sizeof bits);
    return bits >> 46;
}

static int32_t shelf_of(const struct lockstep *l, double Bps)
{
    uint64_t height = height_of(Bps);
    if (height <= l->lowest)
        return 0;
    return height - l->lowest < LOCKSTEP_SHELVES ? (int32_t)(height - l->lowest) : LOCKSTEP_SHELVES - 1;
}

static void shelve(struct lockstep *l, int32_t link, int32_t shelf)
{
    l->links[link].next = l->shelves[shelf];
    l->shelves[shelf] = link;
}

/* A link offers, for the first time in this round. */
static void collect(struct lockstep *l, struct lockstep_offer offer)
{
    uint64_t height = height_of(offer.Bps);
    if (offer.Bps > 0 && height < l->lowest)
        l->lowest = height;
    l->offers[l->n_offers++] = offer;
}

/*
 * One for each bundle, and one for each link that several need: few links of a long ring are shared with
 * others that get new rates too. They go on shelves by size, and only those of one shelf at a time into a
 * heap: most links have no bundle left to offer to by then, and cost no more than being looked at.
 */
static void make_offers(struct lockstep *l)
{
    l->n_offers = 0;
    l->n_open = l->n_near_bundles;
    l->lowest = UINT64_MAX;
    for (int32_t i = 0; i < l->n_near_bundles; i++) {
        struct lockstep_offer own = own_offer(l, &l->bundles[l->near_bundles[i]]);
        if (own.link >= 0)
            collect(l, own);
    }
    for (int32_t i = 0; i < l->n_near_links; i++) {
        const struct lockstep_link *link = &l->links[l->near_links[i]];
        if (link->sharers > 1)
            collect(l, (struct lockstep_offer){ offer_of(link), l->near_links[i] });
    }
    for (int32_t i = 0; i < LOCKSTEP_SHELVES; i++)
        l->shelves[i] = -1;
    for (int32_t i = 0; i < l->n_offers; i++)
        shelve(l, l->offers[i].link, shelf_of(l, l->offers[i].Bps));
    l->n_offers = 0;
    l->shelf = -1;
}

/* The heap is empty: it gets what the next shelf holds, unless it belongs on a higher one by now. */
static void open_shelf(struct lockstep *l)
{
    l->shelf++;
    assert(l->shelf < LOCKSTEP_SHELVES);
    for (int32_t at = l->shelves[l->shelf], next; at >= 0; at = next) {
        const struct lockstep_link *link = &l->links[at];
        next = link->next;
        if (link->open == 0)
            continue;
        const struct lockstep_offer offer = { offer_of(link), at };
        int32_t shelf = shelf_of(l, offer.Bps);
        if (shelf > l->shelf)
            shelve(l, at, shelf);
        else
            l->offers[l->n_offers++] = offer;
    }
    for (int32_t i = l->n_offers / 2; i-- > 0;)
        sink(l, i);
}

static void drop_top(struct lockstep *l)
{
    l->offers[0] = l->offers[--l->n_offers];
    if (l->n_offers > 0)
        sink(l, 0);
}

/*
 * The link that offers least, or -1 when all bundles have their rate. Offers only grow while bundles are
 * fixed at the least one, so an old one is too low at worst: it is corrected when its turn comes.
 */
static int32_t least_offer(struct lockstep *l, double *offer_Bps)
{
    while (l->n_open > 0) {
        if (l->n_offers == 0) {
            open_shelf(l);
            continue;
        }
        struct lockstep_offer *top = &l->offers[0];
        const struct lockstep_link *link = &l->links[top->link];
        double now_Bps = link->open > 0 ? offer_of(link) : 0;
        if (link->open > 0 && !(now_Bps > top->Bps)) {
            *offer_Bps = top->Bps;
            return top->link;
        }
        int32_t shelf = shelf_of(l, now_Bps);
        if (link->open > 0 && shelf == l->shelf) {
            top->Bps = now_Bps;
            sink(l, 0);
            continue;
        }
        if (link->open > 0)
            shelve(l, top->link, shelf);
        drop_top(l);
    }
    return -1;
}

static void fix_bundle(struct lockstep *l, int32_t bundle, double rate_Bps, int32_t neck)
{
    struct lockstep_bundle *b = &l->bundles[bundle];
    if (!b->open)
        return;
    b->open = false;
    l->n_open--;
    b->next_Bps = rate_Bps;
    lockstep_set_neck(l, b, neck);
    for (int32_t i = 0; i < b->n; i++) {
        struct lockstep_link *link = &l->links[b->uses[i].link];
        link->left_Bps -= b->uses[i].count * rate_Bps;
        link->open -= b->uses[i].count;
    }
}

/* Raise all rates together; whoever meets a full link stays there. */
static void fill_up(struct lockstep *l)
{
    double level_Bps = 0, offer_Bps = INFINITY;
    open_links(l);
    make_offers(l);
    for (int32_t at; (at = least_offer(l, &offer_Bps)) >= 0;) {
        const struct lockstep_link *link = &l->links[at];
        if (!(offer_Bps <= level_Bps * SAME_LEVEL))
            level_Bps = offer_Bps;
        for (int32_t s = 0; s < link->n; s++)
            fix_bundle(l, link->seats[s].bundle, level_Bps, at);
    }
}

/* ---- whose bottleneck still holds ---- */

/*
 * Reach the bundles of a link that cannot keep their rate: those it held back when it is no longer full or
 * somebody is faster there now; those that are faster than somebody it holds back now.
 */
static void reach_wronged(struct lockstep *l, int32_t at)
{
    const struct lockstep_link *link = &l->links[at];
    double load_Bps = 0, fastest_Bps = 0, held_Bps = INFINITY;
    if (link->necks == 0)
        return;
    for (int32_t s = 0; s < link->n; s++) {
        const struct lockstep_bundle *b = &l->bundles[link->seats[s].bundle];
        bool reached = b->mark == l->mark;
        double rate_Bps = reached ? b->next_Bps : b->rate_Bps;
        load_Bps += link->seats[s].count * rate_Bps;
        fastest_Bps = fmax(fastest_Bps, rate_Bps);
        if (reached && b->neck == at)
            held_Bps = fmin(held_Bps, rate_Bps);
    }
    bool full = load_Bps * SAME_RATE >= link->bw_Bps;
    for (int32_t s = 0; s < link->n; s++) {
        const struct lockstep_bundle *b = &l->bundles[link->seats[s].bundle];
        if (b->mark == l->mark)
            continue;
        bool freed = b->neck == at && (!full || b->rate_Bps * SAME_RATE < fastest_Bps);
        if (freed || b->rate_Bps > held_Bps * SAME_RATE)
            reach_bundle(l, link->seats[s].bundle);
    }
}

/* Every bundle that has a bottleneck is as fast as it should be, whatever the way to these rates was: so it
 * is enough to share anew among a few, and to go on with those who were wronged by it until there are none.
 * Where that takes long, all that hang together are shared anew. */
static void share(struct lockstep *l)
{
    for (int round = 0, n_before = -1; l->n_near_bundles != n_before && l->n_near_bundles > 0; round++) {
        n_before = l->n_near_bundles;
        fill_up(l);
        int32_t n_links = l->n_near_links;
        for (int32_t i = 0; i < n_links; i++)
            reach_wronged(l, l->near_links[i]);
        if (l->n_near_bundles != n_before && round >= MAX_ROUNDS)
            reach_all(l);
    }
}

void lockstep_settle(struct lockstep *l, const int32_t **changed, int32_t *n)
{
    l->mark++;
    l->n_near_links = l->n_near_bundles = 0;
    for (int32_t i = 0; i < l->n_dirty; i++) {
        l->links[l->dirty[i]].dirty = false;
        if (l->links[l->dirty[i]].n > 0)
            reach_held(l, l->dirty[i]);
    }
    l->n_dirty = 0;
    share(l);
    *changed = l->changed;
    *n = 0;
    for (int32_t i = 0; i < l->n_near_bundles; i++) {
        struct lockstep_bundle *b = &l->bundles[l->near_bundles[i]];
        double low = fmin(b->rate_Bps, b->next_Bps), high = fmax(b->rate_Bps, b->next_Bps);
        if (high <= low * SAME_LEVEL)
            continue;
        double change_Bps = b->next_Bps - b->rate_Bps;
        b->rate_Bps = b->next_Bps;
        for (int32_t k = 0; k < b->n; k++)
            lockstep_change_load(l, b->uses[k].link, b->uses[k].count * change_Bps);
        l->changed[(*n)++] = l->near_bundles[i];
    }
}
