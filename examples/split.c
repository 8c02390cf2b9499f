/* Split the bandwidth of a network and say what it buys: examples/split STUDY [TOTAL_GBps]. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

static int fail(const weft_error *error)
{
    fprintf(stderr, "split: %s\n", error->text);
    return error->code == WEFT_USAGE ? 2 : error->code == WEFT_PARSE || error->code == WEFT_RANGE ? 3 : 1;
}

static void show(const weft_row *row)
{
    char column[32];
    printf("%s on %s\n", weft_text(row, "workload"), weft_text(row, "network"));
    for (int d = 1;; d++) {
        snprintf(column, sizeof column, "bw%d_GBps", d);
        double bw_GBps = weft_number(row, column);
        if (isnan(bw_GBps))
            break;
        printf("  dimension %d  %g GB/s\n", d, bw_GBps);
    }
    printf("  time         %g s, proved to a gap of %g\n", weft_number(row, "time_s"),
           weft_number(row, "gap"));
    printf("  against equal bandwidths %.3f times as fast\n", weft_number(row, "speedup"));
}

int main(int argc, char **argv)
{
    weft_study *study = NULL;
    weft_row *row = NULL;
    weft_error error = { 0 };
    int code = 0;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: split STUDY [TOTAL_GBps]\n");
        return 2;
    }
    if (weft_load(&study, argv[1], &error) || (argc == 3 && weft_set(study, "total_GBps", argv[2], &error)) ||
        weft_split(&row, study, &error)) {
        code = fail(&error);
    } else if (strcmp(weft_text(row, "status"), "solved") != 0) {
        fprintf(stderr, "split: %s: %s\n", weft_text(row, "status"), weft_text(row, "message"));
        code = 4;
    } else {
        show(row);
    }
    weft_free_row(row);
    weft_free_study(study);
    return code;
}
