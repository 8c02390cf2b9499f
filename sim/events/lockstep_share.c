#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/events/lockstep_model.h"

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
