/** @file ASTRA-sim 1.0 text workloads; words with their places and rows of layers, which SimAI's reader
 * shares. */
#ifndef WORKLOADS_READERS_ASTRA_H
#define WORKLOADS_READERS_ASTRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "workloads/step.h"

/** Bytes between blanks; n is 0 at the end of the file, whose place is that just behind the last word. */
struct token {
    const char *s; /**< borrowed, not terminated */
    size_t n;
    int32_t line, col; /**< from 1 */
};

/** One word ahead of the reader. Plain value: a copy looks further ahead without moving the original. */
struct token_reader {
    const char *name, *text; /**< borrowed; name stands for the file in messages */
    size_t n, pos;
    int32_t line, col; /**< of text[pos] */
    struct token token, next;
};

/** Start before the first word of @p text (@p n bytes, any). */
void token_begin(struct token_reader *r, const char *name, const char *text, size_t n);
/** Move on: next becomes token. */
void token_advance(struct token_reader *r);
bool token_is(const struct token *t, const char *word);
/** Words from r->next to the end of its line. Time O(bytes of the line). */
int token_count_line(const struct token_reader *r);

enum { TOKEN_SHOWN = 48 };
/** The token in quotes, cut to fit, without bytes that a terminal would act on; "end of file". Returns @p
 * out. */
const char *token_show(char out[TOKEN_SHOWN], const struct token *t);
/** The token itself, terminated, cut to fit @p size, control characters as '?'. Returns @p out. */
const char *token_copy(char *out, size_t size, const struct token *t);

/** Record "name:line:col: " and the message at @p t; returns @p code. */
int token_fail(const struct token_reader *r, const struct token *t, struct err *e, enum err_code code,
               const char *fmt, ...) ERR_PRINTF(5, 6);

/** Take the next word as a whole number below 2^63; ERR_PARSE: "what: is X, expected a whole number". */
int token_take_count(struct token_reader *r, const char *what, int64_t *out, struct err *e);
/* ---- rows of layers ---- */

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

/* ---- workloads ---- */

enum { ASTRA_MAX_BYTES = 64 << 20 };

/** What the file does not say; -1 leaves it open. */
struct astra_rule {
    int32_t loop;      /**< index into layers_loops; -1: no-overlap, as LIBRA reads these files */
    int32_t recompute; /**< enum layers_recompute of every layer; -1: as the file says */
    int32_t ag_size;   /**< of SimAI: enum simai_ag_size; -1: full */
};

/** A text of rows of layers under way. */
struct astra_text {
    struct token_reader in;
    const struct topo_network *net; /**< borrowed, as is the tree */
    struct step_tree *tree;
    struct astra_marks marks;
    struct layers layers;
};

/** Begin the tree and the text. ERR_PARSE: too large; ERR_NOMEM. astra_close() follows either way. */
int astra_open(struct astra_text *x, struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct err *e);
/** Read row @p i of @p n_layers. */
typedef int astra_read_row(void *reader, int64_t i, int64_t n_layers, struct err *e);
/**
 * The number of layers, as many rows by @p row, and nothing after them; then what is done again: as @p
 * recompute says (enum layers_recompute), or, -1, as the lists do: before the backward part of an initiating
 * layer i the layers c..i-1, c the nearest checkpoint below i.
 * @return 0; ERR_PARSE; ERR_RANGE: a layer that does not exist, no checkpoint; ERR_NOMEM.
 */
int astra_take_layers(struct astra_text *x, enum astra_dialect dialect, astra_read_row *row, void *reader,
                      int32_t recompute, struct err *e);
/** Release all but the tree, and after a failure, @p rc, that too. Returns @p rc, or what ails the tree. */
int astra_close(struct astra_text *x, int rc, struct err *e);

/**
 * Read @p text (@p n bytes) as a training step on @p net.
 *
 * Tokens are separated by blanks and newlines alike: POLICY [its arguments] N, then
 * N layers of name, reserved, 3 x (compute [ns], collective, bytes) for forward,
 * input gradient and weight gradient, and update time; 13th column under
 * HYBRID_CUSTOMIZED: the policy of that layer. An all-gather's bytes are the shard.
 *
 * | policy | forward and input gradient | weight gradient |
 * |---|---|---|
 * | DATA | no group | all |
 * | MICRO | no group, no compute | all |
 * | MODEL | all | no group |
 * | DISTRIBUTED_INFERENCE | all; no backward pass | - |
 * | HYBRID_DATA_MODEL | dimension 1 ("inner") | the others ("outer") |
 * | HYBRID_MODEL_DATA | the others | dimension 1 |
 * | HYBRID_TRANSFORMER, .._FWD_IN_BCKWD: model_parallel_NPU_group: G | G NPUs from the innermost dimension
 * ("model") | the rest ("data") | | HYBRID_DLRM, HYBRID_DLRM_ENHANCED: last bottom layer | layer 0: all; no
 * group | all |
 *
 * A collective without a group is not run. As in ASTRA-sim, the input gradient of layer
 * 0 has no collective under MODEL and HYBRID_{DATA_MODEL, MODEL_DATA, CUSTOMIZED};
 * compute counts as written everywhere (LIBRA). Update time is left out, as LIBRA does,
 * and so is the early start of HYBRID_DLRM's all-to-all.
 * .._FWD_IN_BCKWD (checkpoints: k l1..lk checkpoint_initiates: k l1..lk): before the
 * backward part of an initiating layer i the layers c..i-1 run forward again, c the
 * nearest checkpoint below i.
 * Source: astra-sim@86fec9b workload/Workload.cc, restated.
 *
 * @param name  for messages, which start with `name:line:col:`.
 * @return 0; ERR_PARSE: not this grammar (unknown policy or collective, missing or
 *         surplus tokens, not a number); ERR_RANGE: a group that does not divide along
 *         the dimensions, a layer number that does not exist, no checkpoint; ERR_UNSUP:
 *         ALLREDUCEALLTOALL (one mark for two collectives over groups the file does not
 *         name); ERR_NOMEM. On failure @p t is empty and safe to free.
 */
int astra_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct astra_rule rule, struct err *e);

#endif
