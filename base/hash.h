/**
 * @file Where an item lies in an array, by what it is called: an open table of item numbers. Items stay with
 * the caller, who says what equals what:
 *
 *     uint64_t h = hash_text(name);
 *     hash_each (id, &t, h)
 *         if (strcmp(names[id], name) == 0)
 *             return id;
 *     return hash_add(&t, h, n_names) ? n_names++ : -1;
 *
 * hash_each goes through the items whose hashes are (by the 32 bits that are kept) the same: one or none,
 * almost always. Nothing else walks the table, so that no order in it is ever seen. Of linear probing, at
 * most half full; hashes are mixed here, so that a number may be its own hash.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

struct hash_slot {
    int32_t id;     /**< -1: free */
    uint32_t mixed; /**< hash_mix() of the item's hash */
};

/** `= { 0 }` is empty. Release with hash_free(). */
struct hash {
    struct hash_slot *slots; /**< shape [n_slots], owned */
    int32_t n, n_slots;      /**< n_slots: 0 or a power of two */
};

/** Fibonacci hashing (Knuth, TAOCP 3, section 6.4): the upper half of the product is well mixed. */
static inline uint32_t hash_mix(uint64_t hash)
{
    return (uint32_t)((hash * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/** The finaliser of SplitMix64: a bijection. Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; constants of its variant 13. */
static inline uint64_t hash_finish(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/** One step of SplitMix64. */
static inline uint64_t hash_split(uint64_t x)
{
    return hash_finish(x + UINT64_C(0x9e3779b97f4a7c15));
}

/** Of structs as they lie in memory, for keys that are not stored: several times as fast as text_hash(). */
static inline uint64_t hash_bytes(uint64_t seed, const void *data, size_t n)
{
    const unsigned char *bytes = data;
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        seed = (seed ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        seed ^= seed >> 32;
    }
    return text_hash(seed, bytes, n);
}

static inline uint64_t hash_text(const char *s)
{
    return text_hash(TEXT_HASH_SEED, s, strlen(s));
}

/**
 * The item with this hash in slot @p at or behind it, whose slot @p at then is; -1: no more. The caller steps
 * @p at on to search further. Half of the slots are free, so the search ends.
 */
static inline int32_t hash_seek(const struct hash *t, uint64_t hash, int32_t *at)
{
    uint32_t mixed = hash_mix(hash);
    if (t->n_slots == 0)
        return -1;
    for (;; ++*at) {
        *at &= t->n_slots - 1;
        if (t->slots[*at].id < 0 || t->slots[*at].mixed == mixed)
            return t->slots[*at].id;
    }
}

#define hash_each(id, t, hash)                                                                               \
    for (int32_t id##_at = (int32_t)(hash_mix(hash) >> 1), id; (id = hash_seek(t, hash, &id##_at)) >= 0;     \
         id##_at++)

/**
 * Add an item, which is not looked for first. False on lack of memory; the table is then as it was. Amortised
 * O(1). Items that are equal may be added twice: hash_each finds both.
 */
bool hash_add(struct hash *t, uint64_t hash, int32_t id);
/**
 * Take out an item, which must be there. Amortised O(1). @p hash must be the one that it was added with. Not
 * within hash_each: items move.
 */
void hash_remove(struct hash *t, uint64_t hash, int32_t id);
/** Room for @p n items without growing; false as above. */
bool hash_reserve(struct hash *t, int64_t n);
void hash_free(struct hash *t);

#endif
