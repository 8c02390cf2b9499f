/*
 * Linear probing with the slots' own hashes kept beside the item numbers, so that growing needs no hash of
 * the caller's and comparisons of items are made for equal 32-bit hashes alone. Removal closes the gap at
 * once: there are no tombstones, hence a table that is filled and emptied for days does not slow down.
 *
 * Slots double when half of them are full, which keeps chains short: at 1/2 some 1.5 probes find an item and
 * 2.5 its absence (Knuth, TAOCP 3, section 6.4). A slot is 8 bytes.
 */

#include "base/hash.h"

#include <stdlib.h>

enum { HASH_FIRST_SLOTS = 64, HASH_MOST_SLOTS = 1 << 30 };

/* Where the search for an item begins; it need not lie there. */
static int32_t hash_home(const struct hash *t, uint32_t mixed)
{
    /*
     * Without its lowest bit the 32-bit number is no negative int32_t; 2^30 slots need no more than 31 bits.
     */
    return (int32_t)(mixed >> 1) & (t->n_slots - 1);
}

static void hash_put(struct hash *t, struct hash_slot item)
{
    int32_t at = hash_home(t, item.mixed);
    while (t->slots[at].id >= 0)
        at = (at + 1) & (t->n_slots - 1);
    t->slots[at] = item;
}

bool hash_reserve(struct hash *t, int64_t n)
{
    int32_t n_slots = t->n_slots ? t->n_slots : HASH_FIRST_SLOTS;
    while (n_slots < 2 * n && n_slots < HASH_MOST_SLOTS)
        n_slots *= 2;
    /* More than 2^29 items: said as lack of memory, since nothing in the program comes near. */
    if (n_slots < 2 * n)
        return false;
    if (n_slots == t->n_slots)
        return true;
    struct hash wide = { .slots = malloc((size_t)n_slots * sizeof *wide.slots),
                         .n = t->n,
                         .n_slots = n_slots };
    if (!wide.slots)
        return false;
    for (int32_t i = 0; i < n_slots; i++)
        wide.slots[i].id = -1;
    for (int32_t i = 0; i < t->n_slots; i++)
        if (t->slots[i].id >= 0)
            hash_put(&wide, t->slots[i]);
    free(t->slots);
    *t = wide;
    return true;
}

bool hash_add(struct hash *t, uint64_t hash, int32_t id)
{
    if (!hash_reserve(t, (int64_t)t->n + 1))
        return false;
    hash_put(t, (struct hash_slot){ id, hash_mix(hash) });
    t->n++;
    return true;
}

/* Items behind the hole that would not be found past it move up (Knuth, algorithm 6.4R). */
void hash_remove(struct hash *t, uint64_t hash, int32_t id)
{
    const int32_t mask = t->n_slots - 1;
    int32_t hole = hash_home(t, hash_mix(hash));
    while (t->slots[hole].id != id)
        hole = (hole + 1) & mask;
    for (int32_t at = (hole + 1) & mask; t->slots[at].id >= 0; at = (at + 1) & mask) {
        int32_t home = hash_home(t, t->slots[at].mixed);
        /* Its home lies behind the hole, so that a search for it never passes the hole: it stays. */
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        t->slots[hole] = t->slots[at];
        hole = at;
    }
    t->slots[hole].id = -1;
    t->n--;
}

void hash_free(struct hash *t)
{
    free(t->slots);
    *t = (struct hash){ 0 };
}
