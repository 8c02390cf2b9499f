#include "study/store_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* The slot that holds s, or the free one where it belongs. */
static int32_t slot_of(const struct store_texts *t, const char *s)
{
    unsigned long long hash = text_hash(TEXT_HASH_SEED, s, strlen(s));
    int32_t mask = t->n_slots - 1, at = (int32_t)(hash ^ hash >> 32) & mask;
    while (t->slots[at] && strcmp(t->texts[t->slots[at] - 1], s) != 0)
        at = (at + 1) & mask;
    return at;
}

int32_t store_texts_find(const struct store_texts *t, const char *s)
{
    return t->n_slots ? t->slots[slot_of(t, s)] - 1 : -1;
}

/* At most half of the slots are taken, so that chains stay short. */
static int reserve(struct store_texts *t, struct err *e)
{
    if (2 * (t->n + 1) <= t->n_slots)
        return 0;
    int32_t n_slots = t->n_slots ? 2 * t->n_slots : 64;
    int32_t *slots = calloc((size_t)n_slots, sizeof *slots);
    if (!slots)
        return err_nomem(e, "texts of a store");
    free(t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    for (int32_t i = 0; i < t->n; i++)
        t->slots[slot_of(t, t->texts[i])] = i + 1;
    return 0;
}

int store_texts_add(struct store_texts *t, const char *s, struct err *e)
{
    int rc = reserve(t, e);
    if (rc)
        return rc;
    char **grown = array_grow(t->texts, t->n, &t->cap, sizeof *grown);
    if (!grown)
        return err_nomem(e, "texts of a store");
    t->texts = grown;
    char *copy = strdup(s);
    if (!copy)
        return err_nomem(e, "texts of a store");
    t->slots[slot_of(t, s)] = t->n + 1;
    t->texts[t->n++] = copy;
    return 0;
}

void store_texts_free(struct store_texts *t)
{
    for (int32_t i = 0; i < t->n; i++)
        free(t->texts[i]);
    free(t->texts);
    free(t->slots);
    *t = (struct store_texts){ 0 };
}
