/** @file What ASTRA-sim's text and SimAI's variant of it share: rows of layers, checkpoint lists. */
#ifndef WORKLOADS_ASTRA_ROW_H
#define WORKLOADS_ASTRA_ROW_H

#include "workloads/layers.h"
#include "workloads/token.h"

enum {
    ASTRA_NOTHING = -1, /**< instead of an enum collective_kind: no collective */
    ASTRA_COLUMNS = 12, /**< of a row */
};

/** Compute and collective of one phase. */
struct astra_column {
    int64_t compute_ns, bytes;
    int kind;            /**< enum collective_kind or ASTRA_NOTHING */
    struct token suffix; /**< what follows the collective's name ("_EP"); n = 0 if nothing does */
};

/** SimAI writes what ASTRA-sim does not know: a suffix that names a group, and broadcasts. */
enum astra_dialect { ASTRA_SIM, ASTRA_SIMAI };

/**
 * Take the 12 columns of layer @p i of @p n_layers and add the layer, without work yet, to @p l.
 * @return 0; ERR_PARSE (end of file, unknown collective, not a number), ERR_UNSUP
 *         (ALLREDUCEALLTOALL) or ERR_NOMEM; messages start with name:line:col.
 */
int astra_take_row(struct astra_column columns[LAYERS_PHASES], struct layers *l, struct token_reader *r,
                   enum astra_dialect dialect, int64_t i, int64_t n_layers, struct err *e);

enum astra_mark { ASTRA_CHECKPOINT = 1, ASTRA_INITIATES = 2 };

/** Layer numbers of checkpoint lists, checked once the number of layers is known. `= { 0 }` is empty. */
struct astra_marks {
    struct astra_listed {
        int64_t layer;
        enum astra_mark mark;
        struct token at;
    } * listed; /**< shape [n], owned: free() */
    int32_t n, cap;
};

/** Take "k l1 .. lk" after a label. 0, ERR_PARSE or ERR_NOMEM. */
int astra_take_marks(struct astra_marks *m, struct token_reader *r, const char *label, enum astra_mark mark,
                     struct err *e);

/**
 * What of @p l is done again: as @p recompute says (enum layers_recompute), or, -1, as the lists do: before
 * the backward part of an initiating layer i the layers c..i-1, c the nearest checkpoint below i.
 * @return 0; ERR_RANGE: a layer that does not exist, no checkpoint; ERR_NOMEM.
 */
int astra_set_recompute(struct layers *l, const struct astra_marks *m, const struct token_reader *r,
                        int32_t recompute, struct err *e);

#endif
