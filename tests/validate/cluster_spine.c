#include "tests/validate/trial.h"

int cluster_spine(void)
{
    return 0;
}
