/*
 * A tree of 64-bit words (the two-level bitmap of schedulers, carried on): level 0 has a bit per number, a
 * bit of level l + 1 is set exactly when its word of level l is not 0, and the top level is one word. A
 * search climbs only as far as the first word with a member behind it and goes down again by counting
 * trailing zeros, so that a set of 10^6 numbers is searched in at most three steps up and three down, however
 * sparse it is.
 *
 * All levels lie in one array: first[] says where each begins. 6 levels of 6 bits cover every int32_t.
 */

#include "base/bits.h"

#include <stdlib.h>

static int32_t words_for(int32_t n)
{
    return n / 64 + (n % 64 != 0);
}

bool bits_build(struct bits *b, int32_t size)
{
    int32_t n_words = 0;
    *b = (struct bits){ .size = size };
    for (int32_t n = size;;) {
        b->first[b->n_levels++] = n_words;
        n = words_for(n);
        n_words += n;
        if (n <= 1)
            break;
    }
    b->words = calloc((size_t)n_words + 1, sizeof *b->words);
    if (!b->words)
        *b = (struct bits){ 0 };
    return b->words;
}

void bits_free(struct bits *b)
{
    free(b->words);
    *b = (struct bits){ 0 };
}

void bits_add(struct bits *b, int32_t i)
{
    for (int32_t l = 0; l < b->n_levels; l++, i /= 64) {
        uint64_t *word = &b->words[b->first[l] + i / 64];
        /* A word that had a member is noted above already, and so is that one's word: nothing further up can
         * change. */
        bool known = *word != 0;
        *word |= (uint64_t)1 << (i % 64);
        if (known)
            return;
    }
}

void bits_remove(struct bits *b, int32_t i)
{
    for (int32_t l = 0; l < b->n_levels; l++, i /= 64) {
        uint64_t *word = &b->words[b->first[l] + i / 64];
        *word &= ~((uint64_t)1 << (i % 64));
        /* The bit above stays as long as any number of the word is left. */
        if (*word)
            return;
    }
}

/* Place of the lowest bit that is set. */
static int32_t lowest(uint64_t word)
{
    return (int32_t)__builtin_ctzll(word);
}

int32_t bits_next(const struct bits *b, int32_t from)
{
    int32_t i = from, size = b->size;
    for (int32_t l = 0; l < b->n_levels && i < size; l++, size = words_for(size)) {
        /* Members before i in the same word are shifted away: they were asked about on the level below. */
        uint64_t word = b->words[b->first[l] + i / 64] >> (i % 64);
        if (word) {
            i += lowest(word);
            /* Down again: the least of each word below. */
            while (l-- > 0)
                i = 64 * i + lowest(b->words[b->first[l] + i]);
            return i;
        }
        /* This word was looked at to its end, so the level above is asked from the next word on. */
        i = i / 64 + 1;
    }
    return -1;
}
