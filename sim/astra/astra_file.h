/** @file Network and system files of ASTRA-sim 2, and what they are as a study of weft; both ways. */
#ifndef SIM_ASTRA_ASTRA_FILE_H
#define SIM_ASTRA_ASTRA_FILE_H

#include "base/text.h"
#include "base/yaml.h"
#include "sim/astra/astra.h"
#include "sim/rules.h"

/*
 * What each counts: a link of theirs has so many 2^30 B/s, and a message through a switch passes two links of
 * so many ns; a dimension of weft has what one NPU sends into it in 1e9 B/s (a ring of three or more: two
 * links, full: n-1, a switch: one), and its latency is that of a message.
 */

/** What the files say. Release with sim_astra_file_free(). */
struct sim_astra_file {
    struct sim_astra_setup
        setup; /**< backend aside; sim_astra_defaults() where nothing is said, n_algorithms 0 */
    bool has_system;
    bool has_splits, has_active, has_endpoint, has_mem, has_order; /**< of the system file */
    struct text notes; /**< "FILE:LINE:COL: ...", a line for each key that has no counterpart */
};

/**
 * Read a network: lists topology (Ring, FullyConnected, Switch), npus_count, bandwidth [2^30 B/s], latency
 * [ns], one entry for each dimension.
 *
 * @param[out] f  uninitialised; safe to free after failure.
 * @return 0; ERR_PARSE, ERR_RANGE with the place: also for what no network of weft may have; ERR_NOMEM.
 */
int sim_astra_read_network(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e);

/**
 * Read a system (JSON is YAML in flow style, and read as such) for the network in @p f: chunks, active
 * chunks, endpoint delay, memory, scheduling, and the algorithms of all-reduce, else of the first collective
 * that has some. Other lists of algorithms than that, and every other key, are notes.
 * @return as sim_astra_read_network(); ERR_UNSUP for one algorithm over all dimensions as if they were one.
 */
int sim_astra_read_system(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e);

void sim_astra_file_free(struct sim_astra_file *f);

/** Append a study: a network, and a `simulation` when a system was read. Notes become comments. */
void sim_astra_format_study(struct text *out, const struct sim_astra_file *f);

/**
 * Dimensions of @p net as ASTRA-sim counts them, without algorithms. An efficiency goes into the bandwidth.
 * What has no counterpart is a line in @p notes.
 * @return 0; ERR_RANGE: a line, a dimension without bandwidth.
 */
int sim_astra_from_network(struct sim_astra_setup *setup, const struct topo_network *net, struct text *notes,
                           struct err *e);

/**
 * The rest of @p setup, whose dimensions are there: algorithms (those that the shape asks for where none is
 * given), chunks, endpoint delay, memory, order of collectives. localBWAware, one queue.
 * @return 0; ERR_UNSUP: auto, or Bruck's algorithm of a number of members that is no power of two.
 */
int sim_astra_from_rules(struct sim_astra_setup *setup, const struct topo_network *net,
                         const struct sim_rules *rules, struct text *notes, struct err *e);

/** Append a network file for @p setup. */
void sim_astra_format_network(struct text *out, const struct sim_astra_setup *setup);
/** Append a system file, one line of JSON. An endless memory is written as 1e9 GB/s, no endpoint delay as 1
 * ns. */
void sim_astra_format_system(struct text *out, const struct sim_astra_setup *setup, struct text *notes);

#endif
