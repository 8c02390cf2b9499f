/**
 * @file The files that come with the program, by their bare names: `h100-80gb` among the NPUs is
 * npus/h100-80gb.yaml of the first data folder that has it.
 *
 * Data folders, in this order: that of catalogue_use(), $WEFT_DATA for the program; the one it was built for,
 * PREFIX/share/weft/configs; and configs/ of the sources when the program runs from its build folder there.
 * Each holds networks/, npus/, servers/, parts/, models/, workloads/, curves/, studies/, clusters/ and
 * clusters/profiles/.
 */
#ifndef BASE_CATALOGUE_H
#define BASE_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/**
 * Look in @p folder first from now on; NULL: none. For the process, before it has threads; borrowed. A
 * library reads no environment: its host may say so here.
 */
void catalogue_use(const char *folder);

/** Data folder number @p i, written over @p out; "": that one is not given. false: there are no more. */
bool catalogue_folder(struct text *out, int i);

/** Can @p name be one of the catalogue: not empty, not hidden, without "/"? */
bool catalogue_is_name(const char *name);

/**
 * The path of @p name in @p kind ("npus"), written over @p path; the ending .yaml may be left out.
 * @return false, and @p path as it was: not a name, no data folder has it, or path->failed. Thread-safe.
 */
bool catalogue_find(struct text *path, const char *kind, const char *name);

/** @p name itself where there is such a file, else that of the catalogue, else @p name; for command lines. */
void catalogue_path(struct text *path, const char *kind, const char *name);

/** Names of one kind without their ending, in order, each once. */
struct catalogue {
    char **names; /**< shape [n], owned */
    int32_t n;
};

/** @param[out] c  uninitialised; release with catalogue_free(), also after failure. @return 0; ERR_NOMEM. */
int catalogue_list(struct catalogue *c, const char *kind, struct err *e);
void catalogue_free(struct catalogue *c);

/** "; did you mean h100-80gb?" written behind @p out where a name of @p kind is near; else nothing. */
void catalogue_hint(struct text *out, const char *kind, const char *name);

#endif
