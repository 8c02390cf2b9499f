/*
 * weft report: one HTML file about the rows of a sweep, to be mailed, read without scripts, and printed.
 *
 * Nothing is worked out here: fronts are those of study/front.h, figures those of plots/, titles, units and
 * meanings those of the columns. All that others named goes through cli/html.h. Here rows are read and head
 * and foot are written; cli/webpage.h has the rest.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/objective.h"
#include "base/sheet.h"
#include "cli/filters.h"
#include "cli/html.h"
#include "cli/html_design.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/points.h"
#include "cli/webpage.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/explore/runner.h"
#include "study/campaign.h"
#include "study/store.h"
#include "topo/network.h"
#include "weft.h"

enum { MOST_BYTES = 10000000 };

/* ---- reading ---- */

/* The head of a CSV says what made it; a pipe is read once, and has none here. */
static int read_csv_head(struct text *head, const char *path, struct err *e)
{
    struct text file = { 0 };
    int rc = strcmp(path, "-") == 0 ? 0 : text_read_file(&file, path, SIZE_MAX - 1, e);
    size_t n;
    for (const char *rest = text_str(&file), *s; !rc && *rest == '#' && (s = text_next(&rest, '\n', &n));) {
        size_t skip = 1 + strspn(s + 1, " ");
        if (skip <= n) {
            text_add(head, s + skip, n - skip);
            text_puts(head, "\n");
        }
    }
    text_free(&file);
    return rc ? rc : text_check(head, e);
}

static void say_store(struct webpage *p, const struct store *s)
{
    const struct store_head *h = store_head_of(s);
    struct sweep_counts n = store_counts_of(s);
    if (h->n_shards > 1)
        text_printf(&p->warns, "Shard %d of %d of a sweep: %lld of all %lld points are done here.\n",
                    h->shard, h->n_shards, (long long)n.seen, (long long)h->n_points);
    else if (n.seen < h->n_points)
        text_printf(&p->warns, "This sweep is not finished: %lld of %lld points are done.\n",
                    (long long)n.seen, (long long)h->n_points);
    if (h->keep && *h->keep)
        text_puts(&p->warns, "The study keeps some rows only; the others are not on this page.\n");
    text_printf(&p->head, "version=%s\ncommand=%s\nstudy_hash=%016llx\nseed=%lld\n", h->version, h->command,
                h->study_hash, (long long)h->seed);
    if (h->name && *h->name)
        text_printf(&p->head, "name=%s\n", h->name);
}

static int read_store(struct webpage *p, const char *path, struct err *e)
{
    struct store *s;
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    int rc = store_read_together(&s, &path, 1, e);
    if (rc)
        return rc;
    rc = study_kind_of_store(&p->kind, s, e);
    if (!rc)
        rc = study_trim_store(s, p->kind, false, e);
    if (!rc)
        rc = store_next(s, &walk, INT64_MAX, &p->t, e);
    if (!rc)
        rc = table_find_numbers(&p->t, e);
    if (!rc)
        say_store(p, s);
    store_close(s);
    return rc;
}

static int read_csv(struct webpage *p, const char *path, struct err *e)
{
    int rc = table_read_csv(&p->t, strcmp(path, "-") == 0 ? "/dev/stdin" : path, e);
    if (!rc)
        rc = read_csv_head(&p->head, path, e);
    p->kind = study_kind_of_columns(&p->t);
    return rc;
}

/* A network in words, or a file of YAML: its rows are made here. */
static bool is_study(const char *path)
{
    return topo_is_spec(path) || output_ends_with(path, ".yaml") || output_ends_with(path, ".yml");
}

/* A study of designs that varies nothing is opened as its only point. */
static int open_study(struct webpage *p, const char *path, struct err *e)
{
    struct study_ask ask = { .from = { .path = path, .overrides = p->overrides.list, .n = p->overrides.n } };
    struct yaml_doc doc;
    int32_t own;
    int rc = source_open(&doc, &own, &ask.from, e);
    if (rc)
        return rc;
    ask.kind = study_kind_of(&doc);
    bool one = ask.kind == &design_kind && yaml_get(&doc, doc.root, "vary") < 0;
    p->uncertain =
        ask.kind == &design_kind && yaml_get(&doc, yaml_get(&doc, doc.root, "uncertain"), "keys") >= 0;
    yaml_id id = yaml_get(&doc, doc.root, "name");
    const char *name;
    struct err ignored = { 0 };
    if (id >= 0 && !yaml_text(&doc, id, &name, &ignored)) {
        text_puts(&p->head, "name=");
        text_add_shown(&p->head, name, strlen(name), "");
        text_puts(&p->head, "\n");
    }
    yaml_free(&doc);
    return one ? study_open_point(&p->study, &ask, e) : study_open(&p->study, &ask, e);
}

static int32_t page_threads(const struct webpage *p)
{
    return p->run->opt.threads > 0 ? (int32_t)p->run->opt.threads : (int32_t)omp_get_num_procs();
}

static int run_into_page(struct webpage *p, const char *path, struct err *e)
{
    struct origin from;
    int rc = load_overrides(&p->overrides, p->run, e);
    if (!rc)
        rc = open_study(p, path, e);
    if (rc)
        return rc;
    text_puts(&p->warns, text_str(&p->study.notes));
    rc = cmd_points_find_origin(&from, p->run, &p->study, &p->overrides, e);
    if (!rc)
        rc = campaign_rows(&p->t, &p->study, page_threads(p), e);
    if (!rc)
        rc = table_find_numbers(&p->t, e);
    p->kind = p->study.kind;
    text_printf(&p->head, "study_hash=%016llx\nseed=%lld\n", from.study_hash, (long long)from.seed);
    return rc;
}

/* A store is told by its first bytes, not by its name. */
static int read_rows(struct webpage *p, const char *path, struct err *e)
{
    if (is_study(path))
        return run_into_page(p, path, e);
    bool is = false;
    int rc = strcmp(path, "-") == 0 ? 0 : store_is(&is, path, e);
    if (!rc)
        rc = is ? read_store(p, path, e) : read_csv(p, path, e);
    if (!rc)
        study_find_better(&p->t, p->kind, TABLE_ROWS);
    return rc;
}

/* The value of KEY in the head, up to the end of its line; NULL: there is none. */
static const char *head_value(const struct webpage *p, const char *key, size_t *n)
{
    size_t length = strlen(key);
    for (const char *s = text_str(&p->head); *s; s += strcspn(s, "\n") + 1)
        if (strncmp(s, key, length) == 0 && s[length] == '=') {
            *n = strcspn(s + length + 1, "\n");
            return s + length + 1;
        }
    return NULL;
}

/* ---- head and foot ---- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta "
    "charset=\"utf-8\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>";

/* The word in a column of all rows, or how many words it has there; false: it has none. */
static bool put_words_of(struct text *out, const struct webpage *p, const char *column, const char *several)
{
    enum { MOST = 100 };
    int64_t firsts[MOST];
    int32_t col = table_find(&p->t, column), n = 0;
    if (col < 0 || p->t.kinds[col] != TABLE_TEXT)
        return false;
    for (int64_t row = 0; row < p->t.n_rows && n < MOST; row++) {
        int32_t k = 0;
        while (k < n && !webpage_cells_equal(&p->t, firsts[k], row, col))
            k++;
        if (k == n && table_text(&p->t, row, col))
            firsts[n++] = row;
    }
    char plain[SHOW_VALUE];
    if (n == 1)
        text_puts(out, show_unquoted(plain, table_text(&p->t, firsts[0], col)));
    else if (n > 1)
        text_printf(out, "%s%d %s", n == MOST ? "over " : "", (int)n, several);
    return n > 0;
}

/* Of designs what is asked: "Llama 3 70B on hgx-h100: least time". */
static bool put_asked_title(struct text *out, const struct webpage *p)
{
    struct text word = { 0 };
    bool has = p->kind == &design_kind && put_words_of(out, p, DESIGN_COLUMN(workload), "workloads");
    if (has) {
        text_puts(out, " on ");
        has = put_words_of(out, p, DESIGN_COLUMN(network), "networks");
    }
    if (has && put_words_of(&word, p, DESIGN_COLUMN(objective), "objectives")) {
        int o = 0;
        while (o < N_ALLOC_OBJECTIVES && strcmp(alloc_objective_names[o], text_str(&word)) != 0)
            o++;
        text_printf(out, ": %s", o < N_ALLOC_OBJECTIVES ? alloc_objectives[o].goal : text_str(&word));
    }
    text_free(&word);
    return has;
}

static void put_page_title(struct webpage *p)
{
    size_t n = 0;
    const char *name = head_value(p, "name", &n), *path = p->run->opt.operands[0], *base = strrchr(path, '/');
    struct text own = { 0 };
    if (p->run->opt.title)
        text_puts(&own, p->run->opt.title);
    else if (name)
        text_add(&own, name, n);
    else if (!put_asked_title(&own, p)) {
        text_clear(&own);
        text_puts(&own, strcmp(path, "-") == 0 ? "weft report" : base ? base + 1 : path);
    }
    html_put(&p->out, text_str(&own));
    p->out.failed = p->out.failed || own.failed;
    text_free(&own);
}

static void put_head(struct webpage *p)
{
    text_puts(&p->out, head);
    put_page_title(p);
    text_puts(&p->out, "</title>\n<style>");
    text_puts(&p->out, html_style);
    webpage_put_word_style(p);
    text_puts(&p->out,
              "</style></head>\n<body><a class=\"skip\" href=\"#main\">Skip to the answer</a>\n<header>");
    size_t n;
    for (const char *rest = text_str(&p->warns), *s; (s = text_next(&rest, '\n', &n));) {
        struct text line = { 0 };
        text_add(&line, s, n);
        text_puts(&p->out, "<p class=\"warn\" role=\"note\">");
        html_put(&p->out, text_str(&line));
        text_puts(&p->out, "</p>\n");
        text_free(&line);
    }
    text_puts(&p->out, "<h1>");
    put_page_title(p);
    text_puts(&p->out, "</h1>\n");
}

/* What was asked, in a line: how many rows, of what, held apart by what, best in what. */
static void put_question(struct webpage *p)
{
    char buf[COLUMN_NAME], rows[SHOW], results[SHOW];
    text_printf(&p->out, "<p>%s row%s (%s), %s with a result.", show_count(rows, p->t.n_rows),
                p->t.n_rows == 1 ? "" : "s", p->kind->what, show_count(results, p->n_results));
    if (p->n_groups > 0 && p->n_results > 1) {
        text_puts(&p->out, " Question: which has ");
        for (int32_t k = 0; k < p->rule.n_front; k++) {
            text_printf(&p->out, "%sthe %s ", k ? " and " : "", p->rule.front[k].large ? "most" : "least");
            html_put(&p->out, webpage_title(&p->faces[table_find(&p->t, p->rule.front[k].name)], buf));
        }
        for (int32_t k = 0; k < p->rule.n_per; k++) {
            text_puts(&p->out, k ? ", " : " for each ");
            html_put(&p->out, p->rule.per[k]);
        }
        text_puts(&p->out, "?");
    }
    text_puts(&p->out, "</p>\n");
}

static void put_meanings(struct webpage *p)
{
    char buf[COLUMN_NAME];
    text_puts(&p->out, "<details><summary>What the columns mean</summary><dl>\n");
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        const struct shown_column *f = &p->faces[col];
        if (!f->shown || !f->made.of.help || f->per_dim)
            continue;
        text_puts(&p->out, "<dt>");
        html_put(&p->out, webpage_title(f, buf));
        text_puts(&p->out, "</dt><dd>");
        html_put(&p->out, f->made.of.help);
        text_puts(&p->out, "</dd>\n");
    }
    text_puts(&p->out, "</dl></details>\n");
}

static void put_inputs(struct webpage *p)
{
    text_puts(&p->out, "<section aria-labelledby=\"h-inputs\"><h2 id=\"h-inputs\">Inputs</h2>\n<dl>");
    text_puts(&p->out, "<dt>page made by</dt><dd>weft " WEFT_VERSION ", <code>");
    html_put(&p->out, p->run->recorded);
    text_puts(&p->out, "</code></dd>\n");
    size_t n;
    for (const char *rest = text_str(&p->head), *s; (s = text_next(&rest, '\n', &n));) {
        size_t key = strcspn(s, "=\n");
        struct text line = { 0 };
        text_add(&line, s, key);
        if (key < n && strncmp(s, "best=", 5) != 0 && strncmp(s, "titles=", 7) != 0 &&
            strncmp(s, "units=", 6) != 0) {
            text_puts(&p->out, "<dt>");
            html_put(&p->out, text_str(&line));
            text_puts(&p->out, "</dt><dd><code>");
            text_clear(&line);
            text_add(&line, s + key + 1, n - key - 1);
            html_put(&p->out, text_str(&line));
            text_puts(&p->out, "</code></dd>\n");
        }
        text_free(&line);
    }
    text_puts(&p->out, "</dl>\n");
    put_meanings(p);
}

/* The study's own file as it is. */
static int put_study(struct webpage *p, struct err *e)
{
    struct text file = { 0 };
    const char *path = p->run->opt.operands[0];
    int rc = 0;
    if (p->study.kind && !topo_is_spec(path)) {
        rc = text_read_file(&file, path, MOST_BYTES, e);
        text_puts(&p->out, "<details><summary>The study</summary><pre>");
        html_put_lines(&p->out, text_str(&file));
        text_puts(&p->out, "</pre></details>\n");
    }
    text_puts(&p->out, "</section>\n");
    text_free(&file);
    return rc;
}

static const char limits[] =
    "<section aria-labelledby=\"h-limits\"><h2 id=\"h-limits\">What the model leaves out</h2>\n<ul>"
    "<li>Numbers are of a model, not measured; the table of evidence of <code>weft explain</code> says how "
    "far measured steps lie from "
    "it.</li>"
    "<li>A closed form has no congestion but what the network's own limits give; <code>weft sim</code> times "
    "chunks and flows.</li>"
    "<li>Prices are those of the parts that the study names. Their grades, here and in <code>weft topo "
    "--bill</code>: V read in its source, D derived from such, V-weak of a vendor or reseller, R "
    "recalled.</li>"
    "<li>Failures, checkpoints, power and buildings count only where the study has "
    "<code>system</code>.</li></ul></section>\n";

static const char foot[] = "</main><footer><p class=\"dim\">This page is yours: script and style in it are "
                           "under 0BSD (no conditions), the "
                           "rest is your data. It loads nothing and sends nothing.</p></footer>\n";

static int write_page(struct webpage *p, struct err *e)
{
    put_head(p);
    put_question(p);
    webpage_put_verdict(p);
    text_puts(&p->out, "</header>\n<main id=\"main\">\n");
    int rc = p->n_results == 0 ? webpage_put_reasons(p, e) : 0;
    if (!rc)
        webpage_put_answers(p);
    if (!rc)
        rc = webpage_put_figures(p, e);
    if (!rc)
        rc = webpage_put_designs(p, e);
    if (!rc && p->uncertain && p->n_results > 0)
        rc = html_sensitivity(&p->out, &p->study, page_threads(p), e);
    if (!rc)
        webpage_put_table(p);
    if (!rc && p->n_results > 0)
        rc = webpage_put_reasons(p, e);
    if (rc)
        return rc;
    put_inputs(p);
    rc = put_study(p, e);
    if (rc)
        return rc;
    text_puts(&p->out, p->kind == study_kinds[0] ? limits : "");
    text_puts(&p->out, foot);
    rc = webpage_put_data(p, e);
    text_puts(&p->out, "<script>/*<![CDATA[*/\n");
    text_puts(&p->out, html_script);
    text_puts(&p->out, "/*]]>*/</script></body></html>\n");
    return rc ? rc : text_check(&p->out, e);
}

/* ---- the command ---- */

static bool is_on_front(const void *page, const struct table *t, int64_t row)
{
    const struct webpage *p = page;
    (void)t;
    return p->on_front[row];
}

/* The fronts of the rows that are left are the same. */
static int keep_front_only(struct webpage *p, struct err *e)
{
    struct webpage all = *p;
    int rc = webpage_prepare(&all, e);
    if (!rc)
        table_keep_rows(&all.t, is_on_front, &all);
    p->t = all.t;
    all.t = (struct table){ 0 };
    p->head = all.head;
    all.head = (struct text){ 0 };
    p->warns = all.warns;
    all.warns = (struct text){ 0 };
    all.study = (struct study){ .kind = NULL };
    all.overrides = (struct overrides){ 0 };
    text_puts(&p->warns, "Only the rows on a front are on this page.\n");
    webpage_free(&all);
    return rc;
}

static int build(struct webpage *p, const char *path, struct err *e)
{
    struct filters filters = { 0 };
    int rc = read_rows(p, path, e);
    if (!rc)
        rc = filters_read(&filters, &p->run->opt.where, e);
    if (!rc)
        rc = filters_check(&filters, &p->t, e);
    if (!rc && filters.n > 0) {
        filters_keep(&filters, &p->t);
        text_puts(&p->warns, "Only the rows that --where asks for are on this page.\n");
    }
    filters_free(&filters);
    output_notes(p->run, &p->t.notes);
    if (!rc && p->run->opt.front_only)
        rc = keep_front_only(p, e);
    if (!rc && p->t.n_rows == 0)
        rc = err_set(e, ERR_PARSE, "%.200s: there are no rows%s", path,
                     p->run->opt.where.n ? " that --where asks for" : "");
    if (!rc) {
        rc = webpage_prepare(p, e);
        if (rc == ERR_PARSE)
            err_wrap(e, "%.200s", path);
    }
    if (!rc)
        rc = write_page(p, e);
    if (!rc && p->out.n > MOST_BYTES)
        rc = err_set(
            e, ERR_RANGE,
            "the page has %.1f MB, expected at most %d; choose rows with --where, or take --front-only",
            (double)p->out.n / 1e6, MOST_BYTES / 1000000);
    return rc;
}

static int run_report(struct run *run, struct err *e)
{
    struct webpage p = { .run = run };
    int rc = output_check_as(run, ".html .htm", false, e);
    if (!rc)
        rc = build(&p, run->opt.operands[0], e);
    if (!rc)
        rc = output_write(run, &p.out, e);
    webpage_free(&p);
    return rc;
}

static const struct option report_rows[] = {
    OPTION_WHERE,
    FLAG_OPTION("front-only", front_only, "only the rows on a front"),
    TEXT_OPTION("title", "TEXT", title, "instead of the study's name"),
    OPTION_THREADS("points"),
};

static const struct option_group report_options = OPTION_GROUP("Page", report_rows);

const struct command cmd_report = {
    .group = "Many designs",
    .name = "report",
    .help = "one HTML page of the rows of a sweep, to mail and print",
    .about =
        "Write one HTML file about ROWS (a CSV or a store of weft sweep; - reads a CSV from standard "
        "input):\n"
        "the answer beside its baseline, fronts whose marks lead to rows of a table that sorts and filters,\n"
        "and what made it. It loads nothing, and is readable without scripts.\n",
    .scope = SCOPE(1, 1, "ROWS|STUDY", &report_options, &options_study, &options_search, &options_files),
    .run = run_report,
};
