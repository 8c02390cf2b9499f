/** @file Which collectives a dimension decides. */
#ifndef CLI_BIND_H
#define CLI_BIND_H

#include "kinds/design/design.h"

/** "all-reduce" of a node of the tree with the group's name: "tp all-reduce". */
void bind_name(struct text *out, const struct step_tree *t, const struct sim_collective *c);

/** "ring", "halving-doubling, regime 2", "double-binary-tree, 64 segments": how dimension @p d carries out
 * the collective; "" where no algorithm is modelled. */
void bind_choice(struct text *out, const struct sim_collective *c, int32_t d);

/** Append the names of the collectives that dimension @p d decides, each once: "tp all-reduce, dp
 * all-reduce". */
void bind_names(struct text *out, const struct design_point *s, const struct design *x, int32_t d);

#endif
