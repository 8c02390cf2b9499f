/** @file Key tables: one row per YAML key drives reading, checking, defaults, units and the manual. */
#ifndef BASE_SCHEMA_H
#define BASE_SCHEMA_H

#include "base/text.h"
#include "base/yaml.h"

/** What a key holds, and the type of the field it is stored in. */
enum key_kind {
    KEY_REAL,  /**< double; stored times `scale`; absent = `dflt` (SCHEMA_NONE stays NaN) */
    KEY_COUNT, /**< int64_t; absent = `dflt` (SCHEMA_NONE gives -1) */
    KEY_BOOL,  /**< bool; absent = `dflt` != 0 */
    KEY_TEXT,  /**< const char *, borrowed from the document; absent = NULL */
    KEY_WORD,  /**< int32_t, index into `words`; absent = `dflt` (SCHEMA_NONE gives -1) */
    KEY_NODE,  /**< yaml_id: read by code that knows its shape; absent = -1 */
};

#define SCHEMA_NONE ((double)__builtin_nan(""))

/* What a value is used for, bits of an uint64_t; a key whose uses are all out of play gets a warning. 0 =
 * always used. */
#define USE_TIME      (UINT64_C(1) << 0) /**< training time and bandwidth split */
#define USE_LATENCY   (UINT64_C(1) << 1) /**< only by models other than bandwidth */
#define USE_COST      (UINT64_C(1) << 2) /**< network price */
#define USE_CATALOGUE (UINT64_C(1) << 3) /**< only when prices come from a parts catalogue */
#define USE_COMPUTE   (UINT64_C(1) << 4) /**< NPU: compute and memory models */
#define USE_SYSTEM    (UINT64_C(1) << 5) /**< only when NPU price or power is counted */
#define USE_SPLIT     (UINT64_C(1) << 6) /**< only where an allocator chooses bandwidths */
#define USE_CHUNK     (UINT64_C(1) << 7) /**< only by model chunk */
#define USE_FLOW      (UINT64_C(1) << 8) /**< only by model flow */
/* Of placement studies: only by such a model, scheduler or setting. */
#define USE_SLOTS    (UINT64_C(1) << 9)
#define USE_BATCH    (UINT64_C(1) << 10)
#define USE_EVENTS   (UINT64_C(1) << 11)
#define USE_INTERVAL (UINT64_C(1) << 12)
#define USE_GADGET   (UINT64_C(1) << 13)
#define USE_LAS      (UINT64_C(1) << 14)
#define USE_FIXED    (UINT64_C(1) << 15) /**< schedulers with a fixed number of workers */
#define USE_SIGMOID  (UINT64_C(1) << 16) /**< a utility that is one */
#define USE_CONST    (UINT64_C(1) << 17) /**< progress const */
#define USE_TAU      (UINT64_C(1) << 18) /**< progress tau */
#define USE_STRICT   (UINT64_C(1) << 19) /**< rounding strict */
#define USE_QUEUES   (UINT64_C(1) << 20) /**< queues of las */
#define USE_DRAWN    (UINT64_C(1) << 21) /**< jobs that are drawn, not taken from a trace */
#define USE_TRACE    (UINT64_C(1) << 22) /**< jobs in slots taken from a trace */
#define USE_FILE     (UINT64_C(1) << 23) /**< jobs of a trace file */
#define USE_FIFO     (UINT64_C(1) << 24) /**< model events: order fifo */
#define USE_STOPS    (UINT64_C(1) << 25) /**< model events: orders that stop jobs */
#define USE_ROUNDS   (UINT64_C(1) << 26) /**< model events: las without queues */
#define USE_LINKS    (UINT64_C(1) << 27) /**< jobs that share links */
#define USE_FORMULA  (UINT64_C(1) << 28) /**< model batch: contention by formula */
#define USE_SJF_BCO  (UINT64_C(1) << 29) /**< model batch: scheduler sjf-bco */
#define USE_FF       (UINT64_C(1) << 30) /**< model batch: scheduler ff */
/* Of studies of layers on types of resources. */
#define USE_HETERO_DRAW    (UINT64_C(1) << 31) /**< drawn profiles */
#define USE_HETERO_MODEL   (UINT64_C(1) << 32) /**< a model file */
#define USE_HETERO_NETWORK (UINT64_C(1) << 33) /**< handover network */
#define USE_HETERO_OWN     (UINT64_C(1) << 34) /**< handover as profiled */
#define USE_HETERO_BUDGET  (UINT64_C(1) << 35) /**< schedulers that search */
#define USE_RL             (UINT64_C(1) << 36)
#define USE_GENETIC        (UINT64_C(1) << 37)
#define USE_ANNEAL         (UINT64_C(1) << 38)
#define USE_BAYES          (UINT64_C(1) << 39)
/* Of studies of training with little communication: settings of methods. */
#define USE_GOSSIP_PERIOD   (UINT64_C(1) << 40)
#define USE_GOSSIP_RULE     (UINT64_C(1) << 41)
#define USE_GOSSIP_THETA    (UINT64_C(1) << 42)
#define USE_GOSSIP_CAP      (UINT64_C(1) << 43)
#define USE_GOSSIP_CHECK    (UINT64_C(1) << 44)
#define USE_GOSSIP_MIX      (UINT64_C(1) << 45)
#define USE_GOSSIP_PROB     (UINT64_C(1) << 46)
#define USE_GOSSIP_ALPHA    (UINT64_C(1) << 47)
#define USE_GOSSIP_INTERVAL (UINT64_C(1) << 48)
#define USE_GOSSIP_SWITCH   (UINT64_C(1) << 49)
#define USE_GOSSIP_POWER    (UINT64_C(1) << 50)
#define USE_GOSSIP_DELTA    (UINT64_C(1) << 51)
#define USE_GOSSIP_LAG      (UINT64_C(1) << 52)
#define USE_GOSSIP_SMOOTH   (UINT64_C(1) << 53)
#define USE_GOSSIP_GRAPH    (UINT64_C(1) << 54)
#define USE_GOSSIP_EVENT    (UINT64_C(1) << 55)
#define USE_GOSSIP_SPARQ    (UINT64_C(1) << 56)
#define USE_GOSSIP_DILOCO   (UINT64_C(1) << 57)
#define USE_GOSSIP_TEACHER  (UINT64_C(1) << 58)
#define USE_GOSSIP_STEPS    (UINT64_C(1) << 59)
#define USE_GOSSIP_SERVER   (UINT64_C(1) << 60)

struct key {
    const char *name, *help;
    enum key_kind kind;
    bool required;
    size_t offset;            /**< of the field in the struct being filled */
    const char *unit;         /**< "" for none; the unit the YAML value is written in */
    double scale;             /**< file unit to SI; 1 for none */
    double min, max;          /**< inclusive, in file units; -INFINITY and INFINITY for none */
    double dflt;              /**< in file units; SCHEMA_NONE for none */
    const char *const *words; /**< KEY_WORD: NULL-terminated */
    uint64_t uses;            /**< USE_ bits */
};

/** A map in a YAML file: what `weft keys` prints as one section. */
struct section {
    const char *name, *help;
    const struct key *keys; /**< shape [n_keys], borrowed */
    size_t n_keys;
};

/**
 * Fill @p base from map @p map: known keys only, checked, scaled, defaults for
 * the rest. Unknown key (with the nearest known one), missing required key, wrong type, word
 * not among `words` and value out of range are ERR_PARSE or ERR_RANGE with the place.
 * Texts are borrowed from @p doc. On failure fields are partly defaults.
 */
int schema_read(void *base, const struct section *s, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** Set every field to its default, as if the map were empty; required keys to that of SCHEMA_NONE. */
void schema_defaults(void *base, const struct section *s);

/**
 * Add a line to @p notes for each key of @p map (not of maps inside it) that the user wrote,
 * that is in source @p first_source (0: the file given) or in an override "--set ...",
 * and whose uses are some, but none of @p active:
 * "file:line:col: dims[0].latency_ns has no effect here, it is used only by models other than bandwidth".
 * Keys of files that the study refers to are left alone: a library file serves many studies.
 */
void schema_note_unused(struct text *notes, const struct section *s, const struct yaml_doc *doc, yaml_id map,
                        int32_t first_source, uint64_t active);

#endif
