/*
 * Short lists of plans, by what their bounds depend on. A list is never changed, only replaced by one that
 * goes further: who reads the old one reads on, and the last of them takes it away. The first question under
 * a key writes nothing, as it may be the only one, unless lists were read as often as they were asked for. A
 * study comes back to the same sizes for each choice of shapes, over and over, so lists are never given up
 * for others: once they are too many the rest go without.
 */
#include "kinds/design/explore/shortlist.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

static_assert(sizeof(struct search_pair) <= 144, "there are millions");

struct shortlists {
    pthread_mutex_t lock;
    struct shortlist **lists; /* shape [n], owned */
    int32_t n, cap;
    int64_t n_pairs, n_read;
    bool full;
    struct hash by_key;
};

void shortlist_add(struct shortlist *list, const struct search_pair *pair)
{
    list->failed =
        list->failed || list->n >= SHORTLISTS_MOST || !vec_reserve(list->pairs, list->cap, list->n + 1);
    if (!list->failed)
        list->pairs[list->n++] = *pair;
}

static int by_bound(const void *a, const void *b)
{
    const struct search_pair *x = a, *y = b;
    if (x->bound < y->bound || x->bound > y->bound)
        return x->bound < y->bound ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

void shortlist_sort(struct shortlist *list)
{
    if (list->n)
        qsort(list->pairs, (size_t)list->n, sizeof *list->pairs, by_bound);
}

void shortlist_free(struct shortlist *list)
{
    if (list)
        free(list->pairs);
    free(list);
}

/* Bits of a float from 2^16 on, of which the last 12 are left out: 5 of its exponent, 11 of its fraction. */
enum { PACKED_FROM = (127 + 16) << 23, PACKED_BITS = 12 };

uint16_t shortlist_pack_Bps(double bw_Bps)
{
    float as_float = (float)bw_Bps;
    uint32_t bits;
    memcpy(&bits, &as_float, sizeof bits);
    uint32_t packed = bits > PACKED_FROM ? (bits - PACKED_FROM) >> PACKED_BITS : 0;
    return packed < UINT16_MAX ? (uint16_t)packed : UINT16_MAX;
}

double shortlist_unpack_Bps(uint16_t bw)
{
    uint32_t bits = PACKED_FROM + ((uint32_t)bw << PACKED_BITS);
    float as_float;
    memcpy(&as_float, &bits, sizeof as_float);
    return (double)as_float;
}

struct shortlists *shortlists_new(void)
{
    struct shortlists *all = calloc(1, sizeof *all);
    if (all)
        pthread_mutex_init(&all->lock, NULL);
    return all;
}

void shortlists_free(struct shortlists *all)
{
    if (!all)
        return;
    for (int32_t i = 0; i < all->n; i++)
        shortlist_free(all->lists[i]);
    pthread_mutex_destroy(&all->lock);
    free(all->lists);
    hash_free(&all->by_key);
    free(all);
}

/* -1: none. */
static int32_t find(const struct shortlists *all, uint64_t key)
{
    hash_each (id, &all->by_key, key)
        if (all->lists[id]->key == key)
            return id;
    return -1;
}

static void leave(struct shortlist *list)
{
    if (--list->readers == 0 && list->replaced)
        shortlist_free(list);
}

/* In place of the one before. */
static bool keep_list(struct shortlists *all, struct shortlist *list)
{
    int32_t at = find(all, list->key);
    struct shortlist *older = at < 0 ? NULL : all->lists[at];
    int64_t more = list->n - (older ? older->n : 0);
    if (older && older->most >= list->most)
        return false;
    all->full = all->full || all->n_pairs + more > SHORTLISTS_MOST;
    if (all->full)
        return false;
    if (at < 0 &&
        !vec_reserve(all->lists, all->cap, all->n + 1)) /* NOLINT(bugprone-sizeof-expression): pointers */
        return false;
    if (at < 0 && !hash_add(&all->by_key, list->key, all->n))
        return false;
    all->lists[at < 0 ? all->n++ : at] = list;
    all->n_pairs += more;
    if (!older)
        return true;
    older->readers++;
    older->replaced = true;
    leave(older);
    return true;
}

struct shortlist *shortlists_find(struct shortlists *all, uint64_t key)
{
    pthread_mutex_lock(&all->lock);
    int32_t at = find(all, key);
    struct shortlist *found = at < 0 ? NULL : all->lists[at];
    if (found)
        found->readers++;
    all->n_read += found && found->most >= 0;
    pthread_mutex_unlock(&all->lock);
    return found;
}

void shortlists_leave(struct shortlists *all, struct shortlist *list)
{
    pthread_mutex_lock(&all->lock);
    if (list)
        leave(list);
    pthread_mutex_unlock(&all->lock);
}

int64_t shortlists_count(struct shortlists *all)
{
    if (!all)
        return 0;
    pthread_mutex_lock(&all->lock);
    int64_t n = all->n_pairs;
    pthread_mutex_unlock(&all->lock);
    return n;
}

bool shortlists_are_full(struct shortlists *all)
{
    pthread_mutex_lock(&all->lock);
    bool full = all->full;
    pthread_mutex_unlock(&all->lock);
    return full;
}

bool shortlists_are_read(struct shortlists *all)
{
    pthread_mutex_lock(&all->lock);
    bool read = all->n > 0 && all->n_read >= all->n;
    pthread_mutex_unlock(&all->lock);
    return read;
}

void shortlists_ask(struct shortlists *all, uint64_t key)
{
    pthread_mutex_lock(&all->lock);
    struct shortlist *blank = find(all, key) < 0 ? calloc(1, sizeof *blank) : NULL;
    if (blank)
        *blank = (struct shortlist){ .key = key, .most = -1 };
    if (blank && !keep_list(all, blank))
        free(blank);
    pthread_mutex_unlock(&all->lock);
}

bool shortlists_keep(struct shortlists *all, struct shortlist *list)
{
    pthread_mutex_lock(&all->lock);
    bool kept = keep_list(all, list);
    list->readers += kept;
    pthread_mutex_unlock(&all->lock);
    return kept;
}
