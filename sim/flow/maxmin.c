/*
 * Max-min fair rates of bundles over links (progressive filling), kept up to date as bundles come and go. A
 * bundle has a rate and uses each of its links `count` times; a flow is a bundle of one. Its bottleneck
 * ("neck") is the link at which its share is smallest. Invariants after settling: no link carries more than
 * its bandwidth, and every bundle has a neck that is full and on which no other bundle is faster, both to
 * within same_rate. Only what can change is computed again: from links touched since, along bundles whose
 * bottleneck moved, until nothing more is reached. `resum` adds link loads afresh instead of carrying
 * differences, which keeps flows free of rounding drift; jobs prefer the speed.
 */
#include "sim/flow/maxmin.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/heap.h"
#include "base/stat.h"

/* Offers this close (relative) to the last level are that level, whatever rounding the subtractions before
 * them had. Far above rounding, far below what matters. */
#define SAME_LEVEL (1 + 0x1p-40)

enum {
    NO_NECK = -1, /* a bundle that has no rate yet */
    /* A sum that only ever changes drifts away from what it is a sum of: so often it is made anew. */
    MAX_AGE = 64,
    /* Up to so many offers lie in one heap; of more, only those of one shelf at a time. */
    FEW_OFFERS = 64,
    SHELVES = 1024,
};

/* A bundle on one of its links. */
struct maxmin_seat {
    int32_t link, count;
    int32_t at; /* its place among the link's guests; of a free block the next one, -1 = none */
};

/* The same as the link sees it: loops over links read these one behind the other. */
struct maxmin_guest {
    int32_t bundle, count; /* count 0: it went */
    int32_t seat;
};

/* What every arrival and departure looks at: one line of a cache, since a network has many links. */
struct maxmin_link {
    double bw_Bps;
    int64_t mark;                /* of the round that reached it */
    struct maxmin_guest *guests; /* shape [cap], those who joined, in their order; `only` or owned */
    int32_t n, used, cap;        /* n of the first `used` are there */
    int32_t placed;              /* who joined or may */
    int32_t necks;               /* bundles whose bottleneck it is */
    struct maxmin_guest only;    /* room for one, as most links have no more */
    bool dirty;                  /* somebody came or went */
};

/* The same link while rates are found. */
struct maxmin_fill {
    double load_Bps; /* by the rates as they stand, up to rounding; not with resum */
    double left_Bps; /* what those that have their rates leave */
    int64_t open;    /* transfers without a rate so far */
    int32_t sharers; /* bundles that get a new rate */
    int32_t age;     /* changes of load_Bps since it was summed up */
    int32_t next;    /* behind it on the shelf, -1: none */
};

struct maxmin_bundle {
    double rate_Bps, next_Bps;
    int64_t mark;
    int32_t first, n; /* its seats; the link of its cap counts, where it has one */
    int32_t neck;     /* link that keeps it from being faster, or NO_NECK */
    bool placed, joined;
    bool open; /* while rates are found: has none yet */
};

struct maxmin {
    struct maxmin_settings set;
    int32_t n_links;
    int32_t step; /* from one guest to the next: with resum who came last is the first */
    /* Shape [n_links + n_capped]. The cap of bundle b is link n_links + b, which nobody else uses. */
    struct maxmin_link *links;
    struct maxmin_fill *fills;     /* the same shape */
    struct maxmin_bundle *bundles; /* shape [cap_bundles], owned */
    int32_t cap_bundles;
    int32_t n_new; /* bundles that joined and have no rate yet */

    struct maxmin_seat *seats; /* shape [cap_seats], owned; n_seats of them were ever used */
    int32_t n_seats, cap_seats;
    int32_t *free_seats; /* shape [cap_lengths], owned: by length, first seat of a free block, -1 = none */
    int32_t cap_lengths;

    int32_t *dirty; /* shape of links; from `dirty_at` on still to be settled */
    int32_t n_dirty, dirty_at;
    int32_t n_met; /* of those before `dirty_at`, links whose bundles meet others stand first */

    /* What is shared anew. */
    int64_t mark;          /* of what is reached this time */
    int32_t *near_links;   /* shape of links */
    int32_t *near_bundles; /* shape [cap_bundles], owned; those that get a new rate */
    int32_t *changed;      /* shape [cap_bundles], owned */
    int32_t n_near_links, n_near_bundles;
    struct stat_rank *offers; /* what links would give to each transfer without a rate: shape of links;
                                 a heap, of all or of one shelf */
    int32_t n_offers;
    int32_t n_open;           /* bundles without a rate so far */
    int32_t shelf;            /* whose links are in the heap; SHELVES: all links are */
    uint64_t lowest;          /* what shelf 0 begins with */
    int32_t shelves[SHELVES]; /* first link of each; links are on one at most */
    struct arena arena;       /* of what has an item per link */
};

HEAP(offer_heap, struct stat_rank, stat_before)

static const struct maxmin_guest *guest_first(const struct maxmin *m, const struct maxmin_link *link)
{
    return link->used == 0 ? NULL : m->step < 0 ? &link->guests[link->used - 1] : link->guests;
}

static const struct maxmin_guest *guest_last(const struct maxmin *m, const struct maxmin_link *link)
{
    return link->used == 0 ? NULL : m->step < 0 ? link->guests : &link->guests[link->used - 1];
}

/* Over all guests of a link in their order, those who went among them. */
#define each_guest(g, m, link)                                                                               \
    const struct maxmin_guest *g = guest_first(m, link), *g##_last = guest_last(m, link);                    \
    g;                                                                                                       \
    g = g == g##_last ? NULL : g + (m)->step

/* ---- room ---- */

/* Links beyond the last real one are caps: a bundle with a limit of its own uses one alone. */
int maxmin_build(struct maxmin **out, const double *bw_Bps, int32_t n_links,
                 const struct maxmin_settings *settings, struct err *e)
{
    struct maxmin *m = *out = calloc(1, sizeof *m);
    if (!m)
        return err_nomem(e, "links");
    size_t n = (size_t)n_links + (size_t)settings->n_capped + 1;
    m->set = *settings;
    m->n_links = n_links;
    m->step = settings->resum ? -1 : 1;
    m->links = ARENA_TAKE(&m->arena, n, *m->links);
    m->fills = ARENA_TAKE(&m->arena, n, *m->fills);
    m->dirty = ARENA_TAKE(&m->arena, n, *m->dirty);
    m->near_links = ARENA_TAKE(&m->arena, n, *m->near_links);
    m->offers = ARENA_TAKE(&m->arena, n, *m->offers);
    int rc = arena_check(&m->arena, "links", e);
    if (rc) {
        maxmin_free(m);
        *out = NULL;
        return rc;
    }
    for (size_t i = 0; i < n; i++) {
        m->links[i].guests = &m->links[i].only;
        m->links[i].cap = 1;
    }
    for (int32_t i = 0; i < n_links; i++)
        m->links[i].bw_Bps = bw_Bps[i];
    return 0;
}

/* NULL is legal, as everywhere. */
void maxmin_free(struct maxmin *m)
{
    if (!m)
        return;
    for (int32_t i = 0; m->links && i < m->n_links + m->set.n_capped; i++)
        if (m->links[i].guests != &m->links[i].only)
            free(m->links[i].guests);
    arena_free(&m->arena);
    free(m->bundles);
    free(m->seats);
    free(m->free_seats);
    free(m->near_bundles);
    free(m->changed);
    free(m);
}

/* All that has one item per bundle grows together, so that sharing cannot fail. */
static bool reserve_bundles(struct maxmin *m, int32_t id)
{
    int32_t cap = m->cap_bundles;
    if (id < cap)
        return true;
    int64_t larger = vec_larger(cap, (int64_t)id + 1);
    if (larger > INT32_MAX || !vec_resize(m->near_bundles, larger) || !vec_resize(m->changed, larger) ||
        !vec_resize(m->bundles, larger))
        return false;
    m->cap_bundles = (int32_t)larger;
    memset(m->bundles + cap, 0, (size_t)(larger - cap) * sizeof *m->bundles);
    return true;
}

/* n seats in a row: those of a bundle that went, with as many, or new ones; -1 on lack of memory. */
static int32_t seats_take(struct maxmin *m, int32_t n)
{
    int32_t lengths = m->cap_lengths;
    if (!vec_reserve(m->free_seats, m->cap_lengths, (int64_t)n + 1))
        return -1;
    for (; lengths < m->cap_lengths; lengths++)
        m->free_seats[lengths] = -1;
    int32_t first = m->free_seats[n];
    if (first >= 0) {
        m->free_seats[n] = m->seats[first].at;
        return first;
    }
    if (!vec_reserve(m->seats, m->cap_seats, (int64_t)m->n_seats + n))
        return -1;
    first = m->n_seats;
    m->n_seats += n;
    return first;
}

static void seats_give(struct maxmin *m, int32_t first, int32_t n)
{
    if (n == 0)
        return;
    m->seats[first].at = m->free_seats[n];
    m->free_seats[n] = first;
}

/* Room for one more guest than are placed, and for some who went. */
static bool reserve_guest(struct maxmin *m, int32_t at)
{
    struct maxmin_link *link = &m->links[at];
    int64_t placed = (int64_t)link->placed + 1, need = placed + placed / 4;
    if (need <= link->cap)
        return true;
    bool is_only = link->guests == &link->only;
    int64_t cap = vec_larger(is_only ? 0 : link->cap, need);
    struct maxmin_guest *guests =
        cap > INT32_MAX ? NULL : realloc(is_only ? NULL : link->guests, (size_t)cap * sizeof *guests);
    if (!guests)
        return false;
    if (is_only)
        guests[0] = link->only;
    link->guests = guests;
    link->cap = (int32_t)cap;
    return true;
}

/* ---- bundles come and go ---- */

/* Lays a bundle on its links; it takes part from maxmin_join() on, so that placing can fail but joining
 * cannot. */
int maxmin_place(struct maxmin *m, int32_t id, const struct maxmin_use *uses, int32_t n_uses, double cap_Bps,
                 struct err *e)
{
    bool capped = isfinite(cap_Bps);
    int32_t n = n_uses + (capped ? 1 : 0);
    assert(!capped || id < m->set.n_capped);
    bool room = reserve_bundles(m, id);
    for (int32_t i = 0; i < n && room; i++)
        room = reserve_guest(m, i < n_uses ? uses[i].link : m->n_links + id);
    int32_t first = room ? seats_take(m, n) : -1;
    if (first < 0)
        return err_nomem(e, "links of a bundle");
    m->bundles[id] = (struct maxmin_bundle){ .first = first, .n = n, .neck = NO_NECK, .placed = true };
    for (int32_t i = 0; i < n; i++) {
        struct maxmin_use use = i < n_uses ? uses[i] : (struct maxmin_use){ m->n_links + id, 1 };
        m->seats[first + i] = (struct maxmin_seat){ use.link, use.count, 0 };
        m->links[use.link].placed++;
    }
    if (capped)
        m->links[m->n_links + id].bw_Bps = cap_Bps;
    return 0;
}

/* Bundles came or went. */
static void link_touch(struct maxmin *m, int32_t link)
{
    if (!m->links[link].dirty) {
        m->links[link].dirty = true;
        m->dirty[m->n_dirty++] = link;
    }
}

/* Those who went make room; the others keep their order. */
static void close_up(struct maxmin *m, struct maxmin_link *link)
{
    int32_t n = 0;
    for (int32_t i = 0; i < link->used; i++)
        if (link->guests[i].count > 0) {
            link->guests[n] = link->guests[i];
            m->seats[link->guests[n].seat].at = n;
            n++;
        }
    link->used = n;
}

/* The order of guests is that of sums, so it decides their last digits. */
static void seat_join(struct maxmin *m, int32_t bundle, int32_t at)
{
    struct maxmin_seat *seat = &m->seats[at];
    struct maxmin_link *link = &m->links[seat->link];
    if (link->used == link->cap)
        close_up(m, link);
    seat->at = link->used++;
    link->guests[seat->at] = (struct maxmin_guest){ bundle, seat->count, at };
    link->n++;
}

/* With resum who stays keeps the order, else the last one takes the free place, which is cheaper. */
static void seat_leave(struct maxmin *m, int32_t at)
{
    struct maxmin_link *link = &m->links[m->seats[at].link];
    int32_t place = m->seats[at].at;
    link->n--;
    if (m->set.resum) {
        link->guests[place].count = 0;
        while (link->used > 0 && link->guests[link->used - 1].count == 0)
            link->used--;
        if (link->used / 2 > link->n)
            close_up(m, link);
        return;
    }
    link->guests[place] = link->guests[--link->used];
    m->seats[link->guests[place].seat].at = place;
}

void maxmin_join(struct maxmin *m, int32_t id)
{
    struct maxmin_bundle *b = &m->bundles[id];
    for (int32_t at = b->first; at < b->first + b->n; at++) {
        seat_join(m, id, at);
        link_touch(m, m->seats[at].link);
    }
    b->joined = true;
    m->n_new++;
}

/* With resum loads are summed up when they are asked for, and not kept. */
static void link_change_load(struct maxmin *m, int32_t at, double change_Bps)
{
    struct maxmin_fill *fill = &m->fills[at];
    if (m->set.resum)
        return;
    fill->load_Bps += change_Bps;
    if (++fill->age < MAX_AGE)
        return;
    fill->age = 0;
    fill->load_Bps = 0;
    for (each_guest(g, m, &m->links[at]))
        fill->load_Bps += g->count * m->bundles[g->bundle].rate_Bps;
}

static void bundle_set_neck(struct maxmin *m, struct maxmin_bundle *b, int32_t neck)
{
    if (b->neck != NO_NECK)
        m->links[b->neck].necks--;
    else
        m->n_new--;
    b->neck = neck;
    if (neck != NO_NECK)
        m->links[neck].necks++;
}

/* An empty link is reset exactly, so that rounding of bundles long gone cannot show in later rates. */
static void bundle_leave(struct maxmin *m, const struct maxmin_bundle *b, int32_t at)
{
    const struct maxmin_seat *seat = &m->seats[at];
    struct maxmin_link *link = &m->links[seat->link];
    seat_leave(m, at);
    link_change_load(m, seat->link, -seat->count * b->rate_Bps);
    /* As it was when built, so that what happened before does not show. */
    if (link->n == 0 && !m->set.resum) {
        m->fills[seat->link].load_Bps = 0;
        m->fills[seat->link].age = 0;
    }
    link_touch(m, seat->link);
}

/* Takes a bundle off its links and releases its seats; unknown ids are ignored. */
void maxmin_remove(struct maxmin *m, int32_t id)
{
    if (id >= m->cap_bundles || !m->bundles[id].placed)
        return;
    struct maxmin_bundle *b = &m->bundles[id];
    for (int32_t i = 0; i < b->n; i++) {
        if (b->joined)
            bundle_leave(m, b, b->first + i);
        m->links[m->seats[b->first + i].link].placed--;
    }
    if (b->joined)
        bundle_set_neck(m, b, NO_NECK);
    seats_give(m, b->first, b->n);
    *b = (struct maxmin_bundle){ 0 };
}

int32_t maxmin_link(const struct maxmin *m, int32_t id, int32_t i)
{
    return m->seats[m->bundles[id].first + i].link;
}

int32_t maxmin_count(const struct maxmin *m, int32_t id, int32_t i)
{
    return m->seats[m->bundles[id].first + i].count;
}

double maxmin_rate(const struct maxmin *m, int32_t id)
{
    return m->bundles[id].rate_Bps;
}

/* ---- who gets a new rate ---- */

static void reach_link(struct maxmin *m, int32_t at)
{
    struct maxmin_link *link = &m->links[at];
    if (link->mark != m->mark) {
        link->mark = m->mark;
        link->dirty = false;
        m->near_links[m->n_near_links++] = at;
    }
}

static void reach_bundle(struct maxmin *m, int32_t id)
{
    struct maxmin_bundle *b = &m->bundles[id];
    if (b->mark == m->mark)
        return;
    b->mark = m->mark;
    m->near_bundles[m->n_near_bundles++] = id;
    for (int32_t i = 0; i < b->n; i++)
        reach_link(m, m->seats[b->first + i].link);
}

/* All that hangs together with what is reached so far. */
static void reach_all(struct maxmin *m)
{
    for (int32_t i = 0; i < m->n_near_links; i++) {
        const struct maxmin_link *link = &m->links[m->near_links[i]];
        for (each_guest(g, m, link))
            if (g->count > 0)
                reach_bundle(m, g->bundle);
    }
}

/* A link that bundles came to or left: who has no rate yet, and whom the link held back. */
static void reach_held(struct maxmin *m, int32_t at)
{
    const struct maxmin_link *link = &m->links[at];
    reach_link(m, at);
    for (each_guest(g, m, link)) {
        int32_t neck = m->bundles[g->bundle].neck;
        if ((neck == at || neck == NO_NECK) && g->count > 0)
            reach_bundle(m, g->bundle);
    }
}

/* ---- progressive filling: what links offer ---- */

/* Less than nothing is left where bundles that keep their rate will have to give some of it back. */
static double offer_of(const struct maxmin_fill *fill)
{
    return fmax(0, fill->left_Bps) / (double)fill->open;
}

/* Bundles that are not reached keep what they have: their rates are taken off one by one. */
static void link_sum_up(struct maxmin *m, int32_t at)
{
    const struct maxmin_link *link = &m->links[at];
    struct maxmin_fill *fill = &m->fills[at];
    double left_Bps = link->bw_Bps;
    for (each_guest(g, m, link)) {
        const struct maxmin_bundle *b = &m->bundles[g->bundle];
        if (b->mark != m->mark)
            left_Bps -= g->count * b->rate_Bps;
    }
    fill->left_Bps = left_Bps;
}

/* The same from the load that is kept: all others give theirs back. */
static void link_give_back(struct maxmin *m, const struct maxmin_seat *p, double rate_Bps)
{
    m->fills[p->link].left_Bps += p->count * rate_Bps;
}

/* What is left of each link within reach once the bundles that may change are taken off it. */
static void open_links(struct maxmin *m)
{
    for (int32_t i = 0; i < m->n_near_links; i++) {
        int32_t at = m->near_links[i];
        struct maxmin_fill *fill = &m->fills[at];
        if (m->set.resum)
            link_sum_up(m, at);
        else
            fill->left_Bps = m->links[at].bw_Bps - fill->load_Bps;
        fill->open = 0;
        fill->sharers = 0;
    }
    for (int32_t i = 0; i < m->n_near_bundles; i++) {
        struct maxmin_bundle *b = &m->bundles[m->near_bundles[i]];
        b->open = true;
        for (int32_t k = 0; k < b->n; k++) {
            const struct maxmin_seat *p = &m->seats[b->first + k];
            if (!m->set.resum)
                link_give_back(m, p, b->rate_Bps);
            m->fills[p->link].open += p->count;
            m->fills[p->link].sharers++;
        }
    }
}

/* Of the links on which a bundle is the only one without a rate, which do not change until it has one. */
static struct stat_rank own_offer(const struct maxmin *m, const struct maxmin_bundle *b)
{
    struct stat_rank least = { INFINITY, -1 };
    for (int32_t k = 0; k < b->n; k++) {
        int32_t at = m->seats[b->first + k].link;
        if (m->fills[at].sharers > 1)
            continue;
        const struct stat_rank offer = { offer_of(&m->fills[at]), at };
        if (stat_before(&offer, &least))
            least = offer;
    }
    return least;
}

/* Shelves are 1/64 of an octave wide: the bits of a double down to the sixth of its fraction count them. */
static uint64_t shelf_height(double Bps)
{
    uint64_t bits;
    memcpy(&bits, &Bps, sizeof bits);
    return bits >> 46;
}

static int32_t shelf_of(const struct maxmin *m, double Bps)
{
    uint64_t height = shelf_height(Bps);
    if (height <= m->lowest)
        return 0;
    return height - m->lowest < SHELVES ? (int32_t)(height - m->lowest) : SHELVES - 1;
}

static void shelf_add(struct maxmin *m, int32_t link, int32_t shelf)
{
    m->fills[link].next = m->shelves[shelf];
    m->shelves[shelf] = link;
}

/* A link offers, for the first time in this round. */
static void collect_offer(struct maxmin *m, struct stat_rank offer)
{
    uint64_t height = shelf_height(offer.key);
    if (offer.key > 0 && height < m->lowest)
        m->lowest = height;
    m->offers[m->n_offers++] = offer;
}

/* What was collected, in a heap or on shelves. */
static void sort_offers(struct maxmin *m)
{
    int32_t n = m->n_offers;
    m->n_offers = 0;
    m->shelf = n <= FEW_OFFERS ? SHELVES : -1;
    if (m->shelf == SHELVES) {
        while (m->n_offers < n) {
            offer_heap_push(m->offers, m->n_offers, m->offers[m->n_offers]);
            m->n_offers++;
        }
        return;
    }
    for (int32_t i = 0; i < SHELVES; i++)
        m->shelves[i] = -1;
    for (int32_t i = 0; i < n; i++)
        shelf_add(m, (int32_t)m->offers[i].at, shelf_of(m, m->offers[i].key));
}

/*
 * One for each bundle, and one for each link that several need: few links of a long ring are shared with
 * others that get new rates too. Many go on shelves by size, and only those of one shelf at a time into a
 * heap: most links have no bundle left to offer to by then, and cost no more than being looked at.
 */
static void make_offers(struct maxmin *m)
{
    m->n_offers = 0;
    m->n_open = m->n_near_bundles;
    m->lowest = UINT64_MAX;
    for (int32_t i = 0; i < m->n_near_bundles; i++) {
        struct stat_rank own = own_offer(m, &m->bundles[m->near_bundles[i]]);
        if (own.at >= 0)
            collect_offer(m, own);
    }
    for (int32_t i = 0; i < m->n_near_links; i++) {
        const struct maxmin_fill *fill = &m->fills[m->near_links[i]];
        if (fill->sharers > 1)
            collect_offer(m, (struct stat_rank){ offer_of(fill), m->near_links[i] });
    }
    sort_offers(m);
}

/* The heap is empty: it gets what the next shelf holds, unless it belongs on a higher one by now. */
static void open_shelf(struct maxmin *m)
{
    m->shelf++;
    assert(m->shelf < SHELVES);
    for (int32_t at = m->shelves[m->shelf], next; at >= 0; at = next) {
        const struct maxmin_fill *fill = &m->fills[at];
        next = fill->next;
        if (fill->open == 0)
            continue;
        const struct stat_rank offer = { offer_of(fill), at };
        int32_t shelf = shelf_of(m, offer.key);
        if (shelf > m->shelf)
            shelf_add(m, at, shelf);
        else
            offer_heap_push(m->offers, m->n_offers++, offer);
    }
}

/*
 * The link that offers least, or -1 when all bundles have their rate. Offers only grow while bundles are
 * fixed at the least one, so an old one is too low at worst: it is corrected when its turn comes.
 */
static int32_t least_offer(struct maxmin *m, double *offer_Bps)
{
    while (m->n_open > 0) {
        if (m->n_offers == 0) {
            open_shelf(m);
            continue;
        }
        struct stat_rank top = m->offers[0];
        const struct maxmin_fill *fill = &m->fills[top.at];
        double now_Bps = fill->open > 0 ? offer_of(fill) : 0;
        if (fill->open > 0 && !(now_Bps > top.key)) {
            *offer_Bps = top.key;
            return (int32_t)top.at;
        }
        int32_t shelf = m->shelf == SHELVES ? SHELVES : shelf_of(m, now_Bps);
        if (fill->open > 0 && shelf == m->shelf) {
            offer_heap_replace(m->offers, m->n_offers, (struct stat_rank){ now_Bps, top.at });
            continue;
        }
        if (fill->open > 0)
            shelf_add(m, (int32_t)top.at, shelf);
        offer_heap_pop(m->offers, m->n_offers--);
    }
    return -1;
}

/* ---- progressive filling: rates ---- */

/* A bundle's rate is final once its tightest link is filled; what it uses is taken from all its links. */
static void bundle_fix(struct maxmin *m, int32_t id, double rate_Bps, int32_t neck)
{
    struct maxmin_bundle *b = &m->bundles[id];
    if (!b->open)
        return;
    b->open = false;
    m->n_open--;
    b->next_Bps = rate_Bps;
    bundle_set_neck(m, b, neck);
    for (int32_t i = 0; i < b->n; i++) {
        const struct maxmin_seat *p = &m->seats[b->first + i];
        m->fills[p->link].left_Bps -= p->count * rate_Bps;
        m->fills[p->link].open -= p->count;
    }
}

/* Raise all rates together; whoever meets a full link stays there. */
static void fill_up(struct maxmin *m)
{
    double level_Bps = 0, offer_Bps = INFINITY;
    open_links(m);
    make_offers(m);
    for (int32_t at; (at = least_offer(m, &offer_Bps)) >= 0;) {
        const struct maxmin_link *link = &m->links[at];
        if (!(offer_Bps <= level_Bps * SAME_LEVEL))
            level_Bps = offer_Bps;
        for (each_guest(g, m, link))
            if (g->count > 0)
                bundle_fix(m, g->bundle, level_Bps, at);
    }
}

/* ---- whose bottleneck still holds ---- */

/*
 * Reach the bundles of a link that cannot keep their rate: those it held back when it is no longer full or
 * somebody is faster there now; those that are faster than somebody it holds back now; those without a rate.
 */
static void reach_moved(struct maxmin *m, int32_t at)
{
    const struct maxmin_link *link = &m->links[at];
    double load_Bps = 0, fastest_Bps = 0, held_Bps = INFINITY, same = m->set.same_rate;
    if (link->necks == 0 && m->n_new == 0)
        return;
    for (each_guest(g, m, link)) {
        const struct maxmin_bundle *b = &m->bundles[g->bundle];
        if (g->count == 0)
            continue;
        bool reached = b->mark == m->mark;
        double rate_Bps = reached ? b->next_Bps : b->rate_Bps;
        load_Bps += g->count * rate_Bps;
        fastest_Bps = fmax(fastest_Bps, rate_Bps);
        if (reached && b->neck == at)
            held_Bps = fmin(held_Bps, rate_Bps);
    }
    bool full = load_Bps * same >= link->bw_Bps;
    for (each_guest(g, m, link)) {
        const struct maxmin_bundle *b = &m->bundles[g->bundle];
        if (b->mark == m->mark || g->count == 0)
            continue;
        bool freed = b->neck == at && (!full || b->rate_Bps * same < fastest_Bps);
        if (freed || b->neck == NO_NECK || b->rate_Bps > held_Bps * same)
            reach_bundle(m, g->bundle);
    }
}

/* Every bundle that has a bottleneck is as fast as it should be, whatever the way to these rates was: so it
 * is enough to share anew among a few, and to go on with those whose bottleneck that moved until there are
 * none. Where that takes long, all that hang together are shared anew. */
static void share_near(struct maxmin *m)
{
    for (int round = 0, n_before = -1; m->n_near_bundles != n_before && m->n_near_bundles > 0; round++) {
        n_before = m->n_near_bundles;
        fill_up(m);
        int32_t n_links = m->n_near_links;
        for (int32_t i = 0; i < n_links; i++)
            reach_moved(m, m->near_links[i]);
        if (m->n_near_bundles != n_before && round >= m->set.rounds)
            reach_all(m);
    }
}

/* The new rate of a bundle is its own from now on. */
static void take_rate(struct maxmin *m, int32_t id, int32_t *n_changed)
{
    struct maxmin_bundle *b = &m->bundles[id];
    double low = fmin(b->rate_Bps, b->next_Bps), high = fmax(b->rate_Bps, b->next_Bps);
    if (high <= low * m->set.keep_rate)
        return;
    double change_Bps = b->next_Bps - b->rate_Bps;
    b->rate_Bps = b->next_Bps;
    for (int32_t k = 0; k < b->n && !m->set.resum; k++) {
        const struct maxmin_seat *p = &m->seats[b->first + k];
        link_change_load(m, p->link, p->count * change_Bps);
    }
    m->changed[(*n_changed)++] = id;
}

static void take_rates(struct maxmin *m, const int32_t **changed, int32_t *n)
{
    *changed = m->changed;
    *n = 0;
    for (int32_t i = 0; i < m->n_near_bundles; i++)
        take_rate(m, m->near_bundles[i], n);
}

static void reach_nothing(struct maxmin *m)
{
    m->mark++;
    m->n_near_links = m->n_near_bundles = 0;
}

/* All touched links in one go: one reach, one filling. Best where many bundles change at an instant. */
void maxmin_settle(struct maxmin *m, const int32_t **changed, int32_t *n)
{
    reach_nothing(m);
    for (int32_t i = 0; i < m->n_dirty; i++) {
        const struct maxmin_link *link = &m->links[m->dirty[i]];
        m->links[m->dirty[i]].dirty = false;
        if (link->n > 0)
            reach_held(m, m->dirty[i]);
    }
    m->n_dirty = 0;
    share_near(m);
    take_rates(m, changed, n);
}

/* Most flows meet no other: true when the bundle on link @p at does not, which then has its rate. */
static bool share_alone(struct maxmin *m, int32_t at, int32_t *n_changed)
{
    const struct maxmin_guest *only = guest_first(m, &m->links[at]);
    while (only->count == 0)
        only += m->step;
    int32_t id = only->bundle, neck = at;
    struct maxmin_bundle *b = &m->bundles[id];
    const struct maxmin_seat *seats = &m->seats[b->first];
    double rate_Bps = INFINITY;
    for (int32_t i = 0; i < b->n; i++) {
        const struct maxmin_link *link = &m->links[seats[i].link];
        if (link->n != 1)
            return false;
        if (link->bw_Bps / seats[i].count < rate_Bps) {
            rate_Bps = link->bw_Bps / seats[i].count;
            neck = seats[i].link;
        }
    }
    for (int32_t i = 0; i < b->n; i++)
        m->links[seats[i].link].dirty = false;
    b->next_Bps = rate_Bps;
    bundle_set_neck(m, b, neck);
    *n_changed = 0;
    take_rate(m, id, n_changed);
    return true;
}

/* First bundles that meet no other, one by one; then all the others in one go. */
bool maxmin_settle_next(struct maxmin *m, const int32_t **changed, int32_t *n)
{
    *changed = m->changed;
    while (m->dirty_at < m->n_dirty) {
        int32_t at = m->dirty[m->dirty_at++];
        const struct maxmin_link *link = &m->links[at];
        if (!link->dirty || link->n == 0) {
            m->links[at].dirty = false;
            continue;
        }
        if (link->n == 1 && share_alone(m, at, n))
            return true;
        m->dirty[m->n_met++] = at;
    }
    m->n_dirty = m->n_met;
    m->n_met = m->dirty_at = 0;
    if (m->n_dirty == 0)
        return false;
    maxmin_settle(m, changed, n);
    return true;
}
