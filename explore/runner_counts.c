#include "explore/runner.h"

void sweep_count_add(struct sweep_counts *to, const struct sweep_counts *n)
{
    to->seen += n->seen;
    to->filtered += n->filtered;
    to->bounded += n->bounded;
    to->solved += n->solved;
}
