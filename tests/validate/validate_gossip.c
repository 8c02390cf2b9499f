/* Section of docs/validation.md: training with little communication. */
#include <stdio.h>

#include "tests/validate/gossip_trial.h"

int main(void)
{
    static struct gossip_trials trials;
    puts("\n## Training with little communication\n\n"
         "8 workers train a small network; everything is that of `configs/studies/gossip.yaml` but where "
         "said: [gossip.md](gossip.md) says what is published and what is chosen here. Means of seeds 101 to "
         "105; after ± half of the 95 % interval of a mean of differences seed by seed (Student's t). "
         "Nothing was chosen on these seeds: bandwidths and bounds come from seeds 11 to 15.");
    gossip_trials_build(&trials);
    int wrong = gossip_print_reference(&trials);
    wrong += gossip_print_pair(&trials);
    wrong += gossip_print_invariants(&trials);
    gossip_print_stale(&trials);
    gossip_print_published(&trials);
    gossip_trials_free(&trials);
    return wrong > 0;
}
