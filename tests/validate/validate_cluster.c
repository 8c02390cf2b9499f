/* Section of docs/validation.md: schedulers of jobs on a cluster, against what their papers report. */
#include <stdio.h>

#include "tests/validate/trial.h"

int main(void)
{
    puts("\n## Clusters of jobs\n\n"
         "GADGET (arXiv 2202.01158), SMD (2105.13855) and SJF-BCO (2207.07817), each with the schedulers its "
         "paper compares it with. None of the papers states all of its experiment, so every study in "
         "`configs/clusters` says what is published and what is chosen here; [cluster.md](cluster.md) says "
         "what each paper leaves open and where it is mistaken. Each table is what `weft place` gives for "
         "the study named above it, with `--set` for what is changed.\n\n"
         "20 seeds, 101 to 120. Figures are means with half of their 95 % interval (Student's t); a ratio is "
         "the mean of the ratios seed by seed. Published figures are read off the papers' plots.\n");
    int wrong = cluster_gadget();
    wrong += cluster_rounding();
    wrong += cluster_batch();
    wrong += cluster_interval();
    wrong += cluster_spine();
    return wrong > 0;
}
