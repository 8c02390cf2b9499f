/*
 * Short lists of plans, by what their bounds depend on. A list is never changed, only replaced by one that
 * goes further: who reads the old one reads on. The first question under a key writes nothing, as it may be
 * the only one.
 */
#include "kinds/design/explore/shortlist.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

enum { MOST_PAIRS = 1 << 20 /* 96 MB */ };

struct shortlists {
    pthread_mutex_t lock;
    struct shortlist **lists; /* shape [n], owned */
    int32_t n, cap;
    int64_t n_pairs;
    struct hash by_key;
};

void shortlist_add(struct shortlist *list, const struct search_pair *pair)
{
    list->failed = list->failed || list->n >= MOST_PAIRS || !vec_reserve(list->pairs, list->cap, list->n + 1);
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
    while (list) {
        struct shortlist *older = list->older;
        free(list->pairs);
        free(list);
        list = older;
    }
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

/* In place of the one before. */
static bool put(struct shortlists *all, struct shortlist *list)
{
    int32_t at = find(all, list->key);
    if (all->n_pairs + list->n > MOST_PAIRS)
        return false;
    if (at < 0 &&
        (!vec_reserve(all->lists, all->cap, all->n + 1) || !hash_add(&all->by_key, list->key, all->n)))
        return false;
    list->older = at < 0 ? NULL : all->lists[at];
    all->lists[at < 0 ? all->n++ : at] = list;
    all->n_pairs += list->n;
    return true;
}

const struct shortlist *shortlists_find(struct shortlists *all, uint64_t key)
{
    pthread_mutex_lock(&all->lock);
    int32_t at = find(all, key);
    const struct shortlist *found = at < 0 ? NULL : all->lists[at];
    pthread_mutex_unlock(&all->lock);
    return found;
}

void shortlists_ask(struct shortlists *all, uint64_t key, double most)
{
    pthread_mutex_lock(&all->lock);
    struct shortlist *blank = find(all, key) < 0 ? calloc(1, sizeof *blank) : NULL;
    if (blank)
        *blank = (struct shortlist){ .key = key, .most = -1, .asked = most };
    if (blank && !put(all, blank))
        free(blank);
    pthread_mutex_unlock(&all->lock);
}

bool shortlists_keep(struct shortlists *all, struct shortlist *list)
{
    pthread_mutex_lock(&all->lock);
    bool kept = put(all, list);
    pthread_mutex_unlock(&all->lock);
    return kept;
}
