/*
 * What figures must show, read from tests/figures: a file per table, each with rows and with cases that draw
 * figures of them. Every case is one of this suite, by the name FILE_SENTENCE.
 *
 *   # COMMENT            anywhere
 *   table NAME           a CSV, up to a blank line; every case begins with the first table of its file
 *   case SENTENCE        then lines that change its rows, draw, or say what must be:
 *
 *   rows NAME [N ...]    go on with that table, or with these rows of it: 0 is none, 1x30 row 1 thirty times
 *   head COLUMNS         go on with these columns and no row
 *   add [I..J] ROW       append a row, several with " / " between; for each i all over again
 *   set N COLUMN=VALUE   change a cell, several with " / " between, of rows I..J too
 *   drop COLUMN          the column is called otherwise
 *   plot FIGURE [--width W] [--height H] [--format F] [--title T] [--where COLUMN=VALUE] [:: ROW]
 *                        draw it, of these rows instead (of none: -)
 *
 *   has A / B            the script of gnuplot has them, lacks: it has none of them; \n is a line break
 *   label A / B          it has labels of exactly these words; no-label: none of them
 *   times N TEXT         so often
 *   line A :: B          one of its lines has A and behind it B; order: both are there, A first
 *   drawn ROWS :: LOOK   a block of exactly these rows, " | " between, whose first element has this look
 *   under N              it is shorter than N bytes
 *   image A / B          the SVG has them
 *   formats FIGURE ...   gnuplot draws these figures in every format
 *   fails CODE TEXT      the plot before failed like that: usage, parse or range
 *   refused FIGURE [ROWS] :: TEXT  the figure of these rows: ERR_PARSE with "figure FIGURE: TEXT" at its
 * begin
 *
 * Every plot must also be what it was, whole script or message: scripts.sum has a hash of each, by case and
 * number of the plot. FIGURE_SCRIPTS=FOLDER writes scripts and hashes there instead, for make golden and to
 * see what a change changes.
 *
 * Braces in add and set hold numbers, the i of a range, + - * / % and parentheses: "m{i},{30+2*i}"; // rounds
 * down. Of any script no command may stand in a block, where gnuplot would take it for data.
 */
#include "tests/unit/test_plots_csv.h"

#include "plots/fig.h"

enum { MAX_FILES = 32, MAX_TABLES = 16, MAX_WHERE = 4, MAX_ROWS = 12000, MAX_LINE = 512 };
#define FOLDER "tests/figures"

struct figure_file {
    char name[64];
    struct text text;
    struct {
        const char *name, *csv;
    } tables[MAX_TABLES];
    int32_t n_tables;
};

/* Lines from here on, up to the next case. */
struct figure_case {
    struct test_case test;
    const struct figure_file *file;
    const char *lines;
    int first_line;
};

/* A case that runs. */
struct stand {
    const struct figure_file *file;
    const char *name; /* of the case */
    int line;
    char *head, *rows[MAX_ROWS]; /* owned */
    int32_t n_rows;
    struct text script;
    char figure[MAX_LINE];
    struct table table;
    struct plot_options options;
    char words[MAX_LINE]; /* of the plot; options point into it */
    struct plot_where where[MAX_WHERE];
    int rc, n_plots, n_checks; /* rc: of the last plot; n_checks: since then */
    struct err e;
};

#define STOP(s, ...)                                                                                         \
    do {                                                                                                     \
        print_error(FOLDER "/%s.txt:%d: ", (s)->file->name, (s)->line);                                      \
        print_error(__VA_ARGS__);                                                                            \
        print_error("\n");                                                                                   \
        fail();                                                                                              \
    } while (0)

/* ---- rows ---- */

/* Where cell number k of a CSV line begins, and the end of it; quoted cells have commas. */
static char *cell_at(char *row, int32_t k, char **end)
{
    for (;; k--) {
        char *at = row;
        for (bool quoted = false; *row && (quoted || *row != ','); row++)
            quoted ^= *row == '"';
        *end = row;
        if (k == 0 || !*row++)
            return k == 0 ? at : NULL;
    }
}

static double figures_sum(const char **s, double i);

static double figures_factor(const char **s, double i)
{
    double x = i;
    char *end;
    if (**s == 'i' || **s == '(') {
        bool inner = *(*s)++ == '(';
        if (inner) {
            x = figures_sum(s, i);
            (*s)++;
        }
        return x;
    }
    x = strtod(*s, &end);
    *s = end;
    return x;
}

static double figures_product(const char **s, double i)
{
    double x = figures_factor(s, i);
    while (**s && strchr("*/%", **s)) {
        char op = *(*s)++;
        bool whole = op == '/' && **s == '/';
        *s += whole;
        double y = figures_factor(s, i);
        x = op == '*' ? x * y : op == '%' ? fmod(x, y) : whole ? floor(x / y) : x / y;
    }
    return x;
}

static double figures_sum(const char **s, double i)
{
    double x = figures_product(s, i);
    while (**s == '+' || **s == '-') {
        double sign = *(*s)++ == '+' ? 1 : -1;
        x += sign * figures_product(s, i);
    }
    return x;
}

/* What stands in braces becomes a number. */
static void fill_braces(struct text *out, const char *s, int i)
{
    text_clear(out);
    for (; *s; s++) {
        if (*s != '{') {
            text_add(out, s, 1);
            continue;
        }
        s++;
        text_printf(out, "%.15g", figures_sum(&s, i));
        assert_int_equal(*s, '}');
    }
}

/* The number at *at, which moves behind it. */
static int take_count(const struct stand *s, const char **at)
{
    char *end;
    long n = strtol(*at, &end, 10);
    if (end == *at)
        STOP(s, "\"%s\" is no count", *at);
    *at = end;
    return (int)n;
}

static void clear_rows(struct stand *s)
{
    for (int32_t i = 0; i < s->n_rows; i++)
        free(s->rows[i]);
    s->n_rows = 0;
}

static void append_rows(struct stand *s, const char *rows, const char *between)
{
    while (*rows) {
        const char *end = strstr(rows, between);
        assert_true(s->n_rows < MAX_ROWS);
        s->rows[s->n_rows++] = strndup(rows, end ? (size_t)(end - rows) : strlen(rows));
        rows = end ? end + strlen(between) : "";
    }
}

static void set_head(struct stand *s, const char *head, size_t n)
{
    clear_rows(s);
    free(s->head);
    s->head = strndup(head, n);
}

static void rows_of_table(struct stand *s, char *words)
{
    const char *name = strtok(words, " ");
    int32_t k = 0;
    while (k < s->file->n_tables && strcmp(s->file->tables[k].name, name) != 0)
        k++;
    if (k == s->file->n_tables)
        STOP(s, "no table %s", name);
    const char *csv = s->file->tables[k].csv;
    set_head(s, csv, strcspn(csv, "\n"));
    csv += strcspn(csv, "\n") + 1;
    const char *pick = strtok(NULL, " ");
    if (!pick)
        append_rows(s, csv, "\n");
    for (; pick; pick = strtok(NULL, " ")) {
        int n = take_count(s, &pick), repeat = 1;
        const char *row = csv;
        if (*pick == 'x') {
            pick++;
            repeat = take_count(s, &pick);
        }
        for (int i = 1; i < n; i++)
            row += strcspn(row, "\n") + 1;
        for (int i = 0; i < repeat && n > 0; i++)
            s->rows[s->n_rows++] = strndup(row, strcspn(row, "\n"));
    }
}

/* "I..J " at the begin of *words, which moves on; without it one round, of 0. */
static void read_range(struct stand *s, const char **words, int *first, int *last)
{
    const char *at = *words;
    *first = *last = 0;
    if (!strchr("0123456789-", *at) || at[strspn(at, "0123456789")] != '.')
        return;
    *first = take_count(s, &at);
    at += 2;
    *last = take_count(s, &at);
    *words = at + 1;
}

static void add_rows(struct stand *s, const char *words)
{
    KEEP(struct text, row, text_free) = { 0 };
    int first, last;
    read_range(s, &words, &first, &last);
    for (int i = first; i <= last; i++) {
        fill_braces(&row, words, i);
        append_rows(s, text_str(&row), " / ");
    }
}

static int32_t column_of(struct stand *s, const char *name, size_t n)
{
    char *end;
    for (int32_t k = 0;; k++) {
        const char *at = cell_at(s->head, k, &end);
        if (!at)
            STOP(s, "no column %.*s", (int)n, name);
        if ((size_t)(end - at) == n && memcmp(at, name, n) == 0)
            return k;
    }
}

static void set_cell(struct stand *s, int row, const char *name, size_t n_name, const char *value)
{
    KEEP(struct text, out, text_free) = { 0 };
    assert_true(row >= 1 && row <= s->n_rows);
    char **at = &s->rows[row - 1], *end;
    char *cell = cell_at(*at, column_of(s, name, n_name), &end);
    text_printf(&out, "%.*s", (int)(cell - *at), *at);
    text_printf(&out, strchr(value, ',') ? "\"%s\"%s" : "%s%s", value, end);
    free(*at);
    *at = strndup(text_str(&out), out.n);
}

static void set_cells(struct stand *s, char *words)
{
    const char *at = words;
    KEEP(struct text, value, text_free) = { 0 };
    int first, last;
    read_range(s, &at, &first, &last);
    if (first == 0) {
        first = last = take_count(s, &at);
        at++;
    }
    for (char *next, *one = words + (at - words); one; one = next) {
        size_t n_name = strcspn(one, "=");
        if ((next = strstr(one, " / "))) {
            *next = '\0';
            next += 3;
        }
        for (int i = first; i <= last; i++) {
            fill_braces(&value, one + n_name + 1, i);
            set_cell(s, i, one, n_name, text_str(&value));
        }
    }
}

static void drop_column(struct stand *s, const char *name)
{
    char *end;
    *cell_at(s->head, column_of(s, name, strlen(name)), &end) = '?';
}

/* ---- plots ---- */

static void assert_checked(struct stand *s)
{
    if (s->n_plots > 0 && s->n_checks == 0)
        STOP(s, "nothing is said of plot %d, which ended with %d: %s", s->n_plots, s->rc, s->e.msg);
}

static void read_options(struct stand *s, char *words)
{
    static const char *const names[] = { "width ", "height ", "format ", "title ", "where " };
    struct plot_options *o = &s->options;
    *o = (struct plot_options){ .format = PLOT_SCRIPT, .where = s->where };
    for (char *next; words; words = next) {
        size_t k = 0;
        while (k < COUNT_OF(names) && strncmp(words, names[k], strlen(names[k])) != 0)
            k++;
        char *value = strchr(words, ' ') + 1;
        if ((next = strstr(value, " --"))) {
            *next = '\0';
            next += 3;
        }
        if (k < 2)
            *(k == 0 ? &o->width_px : &o->height_px) = take_count(s, (const char **)&value);
        else if (k == 2)
            for (o->format = 0; strcmp(plot_format_names[o->format], value) != 0;)
                o->format++;
        else if (k == 3)
            o->title = value;
        else {
            assert_true(k == 4 && o->n_where < MAX_WHERE);
            s->where[o->n_where].column = strtok(value, "=");
            s->where[o->n_where++].value = strtok(NULL, "");
        }
    }
}

static void assert_no_command_in_a_block(struct stand *s)
{
    bool inside = false;
    for (const char *line = text_str(&s->script); line && *line; line = strchr(line, '\n') + 1) {
        inside = strncmp(line, "$d", 2) == 0 || (inside && strncmp(line, "EOD", 3) != 0);
        if (inside && strncmp(line, "set", 3) == 0)
            STOP(s, "a command in a block: %.60s", line);
    }
}

static struct text sums; /* scripts.sum: "CASE.PLOT HASH SVG", the latter of the figure as SVG */

static unsigned long long hash_svg(struct stand *s)
{
    struct plot_options o = s->options;
    KEEP(struct text, image, text_free) = { 0 };
    struct err e = { 0 };
    o.format = PLOT_SVG;
    assert_int_equal(plot_draw(s->figure, &s->table, &o, &image, &e), s->rc);
    return (unsigned long long)text_hash(TEXT_HASH_SEED, text_str(&image), image.n);
}

static void check_sum(struct stand *s)
{
    const char *what = s->rc ? s->e.msg : text_str(&s->script), *folder = getenv("FIGURE_SCRIPTS");
    char line[2 * MAX_LINE], path[SUPPORT_PATH];
    snprintf(line, sizeof line, "%s.%d %016llx %016llx\n", s->name, s->n_plots,
             (unsigned long long)text_hash(TEXT_HASH_SEED, what, strlen(what)), hash_svg(s));
    if (!folder && !strstr(text_str(&sums), line))
        STOP(s, "is not what it was, or is new; FIGURE_SCRIPTS=FOLDER keeps it, make golden accepts it:\n%s",
             what);
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%s.%d", folder, s->name, s->n_plots);
    FILE *script = fopen(path, "w");
    FILE *all = fopen(scratch_path(path, folder, "sums"), "a");
    assert_true(script && all);
    fputs(what, script);
    fputs(line, all);
    assert_true(fclose(script) == 0 && fclose(all) == 0);
}

static void draw(struct stand *s, const char *words)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    KEEP(struct text, csv, text_free) = { 0 };
    assert_checked(s);
    snprintf(s->words, sizeof s->words, "%s", words);
    char *rows = strstr(s->words, " :: ");
    if (rows) {
        *rows = '\0';
        clear_rows(s);
        append_rows(s, strcmp(rows + 4, "-") == 0 ? "" : rows + 4, " / ");
    }
    char *options = strstr(s->words, " --");
    if (options) {
        *options = '\0';
        options += 3;
    }
    snprintf(s->figure, sizeof s->figure, "%s", s->words);
    read_options(s, options);
    text_printf(&csv, "%s\n", s->head);
    for (int32_t i = 0; i < s->n_rows; i++)
        text_printf(&csv, "%s\n", s->rows[i]);
    scratch_make(dir);
    table_free(&s->table);
    s->table = (struct table){ 0 };
    struct err *e = &s->e;
    OK(table_read_csv(&s->table, scratch_file(path, dir, "t.csv", csv.s, csv.n), e));
    scratch_remove(dir);
    text_clear(&s->script);
    int32_t figure = 0;
    while (figure < plot_n_figures && strcmp(plot_figures[figure].name, s->figure) != 0)
        figure++;
    /* What gnuplot gets, not what it makes of it. */
    s->rc = figure < plot_n_figures
                ? figure_script(&plot_figures[figure], &s->table, &s->options, &s->script, e)
                : plot_draw(s->figure, &s->table, &s->options, &s->script, e);
    s->n_plots++;
    s->n_checks = 0;
    if (s->rc == 0)
        assert_no_command_in_a_block(s);
    else
        assert_int_equal(s->script.n, 0);
    check_sum(s);
}

static void assert_failed(struct stand *s, const char *words)
{
    static const struct {
        const char *name;
        int code;
    } codes[] = { { "usage ", ERR_USAGE }, { "parse ", ERR_PARSE }, { "range ", ERR_RANGE } };
    int code = 0;
    for (size_t k = 0; k < COUNT_OF(codes); k++)
        if (strncmp(words, codes[k].name, 6) == 0)
            code = codes[k].code;
    assert_true(code != 0);
    if (s->rc != code || (int)s->e.code != code || !strstr(s->e.msg, words + 6))
        STOP(s, "it ended with %d: %s", s->rc, s->e.msg);
}

static void assert_refused(struct stand *s, char *words)
{
    char want[512], plot[MAX_LINE], *message = strstr(words, ":: "), *rows = strchr(words, ' ') + 1;
    assert_true(message && rows <= message);
    rows[-1] = message[-1] = '\0';
    snprintf(plot, sizeof plot, message > rows ? "%s :: %s" : "%s", words, rows);
    draw(s, plot);
    snprintf(want, sizeof want, "parse figure %s: %s", words, message + 3);
    assert_failed(s, want);
    if (strncmp(s->e.msg, "figure ", 7) != 0)
        STOP(s, "the message does not begin with the figure: %s", s->e.msg);
}

/* Each of the words, " / " between, is there or not; as the whole of a label. */
static void assert_words(struct stand *s, const char *script, const char *words, bool label, bool wanted)
{
    char want[MAX_LINE];
    for (const char *next; words; words = next) {
        next = strstr(words, " / ");
        snprintf(want, sizeof want, label ? "'%.*s' at" : "%.*s",
                 next ? (int)(next - words) : (int)strlen(words), words);
        if (!strstr(script, want) == wanted)
            STOP(s, "%s is %sin\n%s", want, wanted ? "not " : "", script);
        next = next ? next + 3 : NULL;
    }
}

static void assert_formats(struct stand *s, const char *figure)
{
    static const char *const signatures[] = { "<svg ", "%PDF-", "\x89PNG\r\n\x1a\n" };
    struct err *e = &s->e;
    draw(s, figure);
    for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
        struct plot_options o = s->options;
        KEEP(struct text, image, text_free) = { 0 };
        o.format = (enum plot_format)f;
        OK(plot_draw(s->figure, &s->table, &o, &image, e));
        assert_true(image.n > 1000);
        assert_memory_equal(image.s, signatures[f], strlen(signatures[f]));
    }
    s->n_checks++;
}

static void assert_image(struct stand *s, const char *words)
{
    KEEP(struct text, image, text_free) = { 0 };
    struct plot_options o = s->options;
    struct err *e = &s->e;
    o.format = PLOT_SVG;
    OK(plot_draw(s->figure, &s->table, &o, &image, e));
    assert_has(text_str(&image), "</svg>");
    assert_words(s, text_str(&image), words, false, true);
}

/* ---- what is said of a script ---- */

static int64_t count_of(const char *s, const char *what)
{
    int64_t n = 0;
    for (; (s = strstr(s, what)); s++)
        n++;
    return n;
}

/* The second text behind the first: in one line, or anywhere. */
static void assert_line(struct stand *s, char *words, bool one)
{
    char *second = strstr(words, " :: ");
    const char *line = text_str(&s->script), *at;
    assert_non_null(second);
    *second = '\0';
    for (; (at = strstr(line, words)); line = at + 1) {
        const char *then = strstr(at, second + 4);
        if (then && (!one || then < at + strcspn(at, "\n")))
            return;
    }
    STOP(s, "%s is not before %s in\n%s", words, second + 4, text_str(&s->script));
}

static void assert_block(struct stand *s, char *words)
{
    KEEP(struct text, rows, text_free) = { 0 };
    char *look = strstr(words, " :: ");
    assert_non_null(look);
    *look = '\0';
    for (const char *at = words, *next; at; at = next) {
        next = strstr(at, " | ");
        text_printf(&rows, "%.*s\n", next ? (int)(next - at) : (int)strlen(at), at);
        next = next ? next + 3 : NULL;
    }
    assert_drawn(text_str(&s->script), text_str(&rows), look + 4);
}

static void assert_said(struct stand *s, const char *key, char *words)
{
    const char *script = text_str(&s->script);
    s->n_checks++;
    if (s->rc && strcmp(key, "fails") != 0)
        STOP(s, "it ended with %d: %s", s->rc, s->e.msg);
    if (strcmp(key, "has") == 0 || strcmp(key, "lacks") == 0)
        assert_words(s, script, words, false, *key == 'h');
    else if (strcmp(key, "label") == 0 || strcmp(key, "no-label") == 0)
        assert_words(s, script, words, true, *key == 'l');
    else if (strcmp(key, "times") == 0) {
        const char *what = words;
        int n = take_count(s, &what);
        if (count_of(script, ++what) != n)
            STOP(s, "\"%s\" is there %d times in\n%s", what, (int)count_of(script, what), script);
    } else if (strcmp(key, "line") == 0 || strcmp(key, "order") == 0)
        assert_line(s, words, *key == 'l');
    else if (strcmp(key, "drawn") == 0)
        assert_block(s, words);
    else if (strcmp(key, "under") == 0)
        assert_true(s->script.n < strtoul(words, NULL, 10));
    else if (strcmp(key, "image") == 0)
        assert_image(s, words);
    else if (strcmp(key, "fails") == 0)
        assert_failed(s, words);
    else
        STOP(s, "%s is no word of this format", key);
}

/* ---- cases ---- */

static void run_line(struct stand *s, char *line)
{
    while (*line == ' ')
        line++;
    for (char *n; (n = strstr(line, "\\n"));) {
        *n = '\n';
        memmove(n + 1, n + 2, strlen(n + 2) + 1);
    }
    size_t n = strcspn(line, " ");
    char *words = line[n] ? line + n + 1 : line + n;
    line[n] = '\0';
    if (!*line || *line == '#')
        return;
    if (strcmp(line, "rows") == 0)
        rows_of_table(s, words);
    else if (strcmp(line, "head") == 0)
        set_head(s, words, strlen(words));
    else if (strcmp(line, "add") == 0)
        add_rows(s, words);
    else if (strcmp(line, "set") == 0)
        set_cells(s, words);
    else if (strcmp(line, "drop") == 0)
        drop_column(s, words);
    else if (strcmp(line, "plot") == 0)
        draw(s, words);
    else if (strcmp(line, "formats") == 0)
        for (char *figure = strtok(words, " "); figure; figure = strtok(NULL, " "))
            assert_formats(s, figure);
    else if (strcmp(line, "refused") == 0) {
        assert_refused(s, words);
        s->n_checks++;
    } else
        assert_said(s, line, words);
}

static void run_case(void **state)
{
    const struct figure_case *c = *state;
    struct stand *s = calloc(1, sizeof *s);
    char first[64];
    assert_non_null(s);
    s->file = c->file;
    s->name = c->test.test.name;
    s->line = c->first_line;
    snprintf(first, sizeof first, "%s", c->file->tables[0].name);
    rows_of_table(s, first);
    for (const char *at = c->lines; *at && strncmp(at, "case ", 5) != 0; at += strcspn(at, "\n") + 1) {
        char *line = strndup(at, strcspn(at, "\n"));
        s->line++;
        run_line(s, line);
        free(line);
    }
    assert_checked(s);
    assert_true(s->n_plots > 0);
    clear_rows(s);
    free(s->head);
    text_free(&s->script);
    table_free(&s->table);
    free(s);
}

static void register_case(const struct figure_file *file, char *sentence, int line)
{
    struct figure_case *c = calloc(1, sizeof *c);
    size_t n = strcspn(sentence, "\n");
    struct text name = { 0 };
    sentence[n] = '\0';
    text_printf(&name, "%s_%s", file->name, sentence);
    for (size_t i = 0; i < name.n; i++)
        name.s[i] = name.s[i] == ' ' ? '_' : name.s[i];
    *c = (struct figure_case){ .file = file, .lines = sentence + n + 1, .first_line = line };
    c->test = (struct test_case){ { name.s, run_case, NULL, NULL, c }, __FILE__, line, NULL };
    test_register(&c->test);
}

/* Tables are cut out of the text by ending each with a NUL. */
static void register_file(struct figure_file *file)
{
    char *at = file->text.s;
    for (int line = 1; *at; line++) {
        char *end = at + strcspn(at, "\n");
        if (strncmp(at, "table ", 6) == 0 && file->n_tables < MAX_TABLES) {
            *end = '\0';
            char *blank = strstr(end + 1, "\n\n");
            file->tables[file->n_tables].name = at + 6;
            file->tables[file->n_tables++].csv = end + 1;
            for (char *s = end + 1; s <= blank + 1; s++)
                line += *s == '\n';
            blank[1] = '\0';
            end = blank + 1;
        } else if (strncmp(at, "case ", 5) == 0) {
            register_case(file, at + 5, line);
        }
        at = end + 1;
    }
}

__attribute__((constructor)) static void register_figures(void)
{
    static struct figure_file files[MAX_FILES];
    int n = 0;
    DIR *d = opendir(FOLDER);
    struct err none;
    text_read_file(&sums, FOLDER "/scripts.sum", 1 << 20, &none);
    for (struct dirent *entry; d && (entry = readdir(d)) && n < MAX_FILES;) {
        char path[SUPPORT_PATH];
        const char *dot = strstr(entry->d_name, ".txt");
        struct figure_file *file = &files[n];
        if (!dot || text_read_file(&file->text, scratch_path(path, FOLDER, entry->d_name), 1 << 20, &none))
            continue;
        snprintf(file->name, sizeof file->name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        register_file(file);
        n++;
    }
    if (d)
        closedir(d);
}

/* From elsewhere than the root there is nothing to read, and nothing would be tested. */
TEST(the_figures_are_there)
{
    DIR *d = opendir(FOLDER);
    assert_non_null(d);
    closedir(d);
}
