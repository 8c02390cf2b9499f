/* Run a study of any kind and find its cheapest row that is fast enough: examples/rows STUDY TIME_s [STORE].
 * With a store a run that is ended goes on where it was. */
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

struct best {
    double limit_s, usd, time_s;
    long rows;
    double point;
};

static int look(void *data, const weft_row *row)
{
    struct best *best = data;
    double usd = weft_number(row, "cost_usd"), time_s = weft_number(row, "time_s");
    best->rows++;
    /* Comparisons with NaN are false: rows without a design are passed over. */
    if (time_s <= best->limit_s && usd < best->usd) {
        best->usd = usd;
        best->time_s = time_s;
        best->point = weft_number(row, "point");
    }
    return 0;
}

int main(int argc, char **argv)
{
    weft_study *study = NULL;
    weft_error error = { 0 };
    weft_run_options options;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: rows STUDY TIME_s [STORE]\n");
        return 2;
    }
    struct best best = { .limit_s = atof(argv[2]), .usd = 1e300, .point = -1 };
    weft_run_defaults(&options);
    options.threads = 2;
    options.store = argc == 4 ? argv[3] : NULL;
    options.data = &best;
    options.row = look;
    int failed = weft_load(&study, argv[1], &error) || weft_run(study, &options, &error);
    if (failed)
        fprintf(stderr, "rows: %s\n", error.text);
    else if (best.point < 0)
        printf("none of %ld rows takes %g s or less\n", best.rows, best.limit_s);
    else
        printf("point %g of %ld rows: %.0f USD, %g s\n", best.point, best.rows, best.usd, best.time_s);
    weft_free_study(study);
    return failed ? 1 : 0;
}
