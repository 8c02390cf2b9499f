/* List all that a design consists of, a value a line: LIST, number of the row, column, value, unit, with tabs
 * between. examples/lists split|explain STUDY [KEY VALUE]... split finds bandwidths; explain takes those of
 * the network, if it has all, and says why the step takes its time. */
#include <stdio.h>
#include <string.h>

#include <weft.h>

static void show_row(const char *list, int i, const weft_row *row)
{
    const char *column;
    for (int k = 0; (column = weft_column(row, k)); k++) {
        const char *unit = weft_unit(row, column);
        switch (weft_kind(row, column)) {
        case WEFT_INTEGER:
            printf("%s\t%d\t%s\t%.0f\t%s\n", list, i + 1, column, weft_number(row, column), unit);
            break;
        case WEFT_NUMBER:
            printf("%s\t%d\t%s\t%.17g\t%s\n", list, i + 1, column, weft_number(row, column), unit);
            break;
        case WEFT_WORD:
            printf("%s\t%d\t%s\t%s\t%s\n", list, i + 1, column, weft_text(row, column), unit);
            break;
        default: /* missing */
            break;
        }
    }
}

static void show(const weft_row *row)
{
    const char *list;
    show_row("row", 0, row);
    for (int k = 0; (list = weft_list(row, k)); k++)
        for (int i = 0; i < weft_count(row, list); i++)
            show_row(list, i, weft_item(row, list, i));
}

int main(int argc, char **argv)
{
    weft_study *study = NULL;
    weft_row *row = NULL;
    weft_error error = { 0 };
    if (argc < 3 || argc % 2 == 0 || (strcmp(argv[1], "split") != 0 && strcmp(argv[1], "explain") != 0)) {
        fprintf(stderr, "usage: lists split|explain STUDY [KEY VALUE]...\n");
        return 2;
    }
    int code = weft_load(&study, argv[2], &error);
    for (int i = 3; i < argc && !code; i += 2)
        code = weft_set(study, argv[i], argv[i + 1], &error);
    if (!code)
        code = *argv[1] == 's' ? weft_split(&row, study, &error) : weft_explain(&row, study, &error);
    if (code)
        fprintf(stderr, "lists: %s\n", error.text);
    else
        show(row);
    weft_free_row(row);
    weft_free_study(study);
    return code ? 1 : 0;
}
