/*
 * Heads, warnings and files of a run. The head of an output has what is needed to make it again: version,
 * command line, hash of the study, seed. It has no date and no host, so that equal runs give equal bytes.
 *
 * Standard output carries results alone; what is said about a run goes to standard error. Files are replaced
 * in one step at the end of the command (base/outfile.h), all of them, so a run that fails leaves the old
 * ones. Outputs are checked before long work starts and once more when they are written, as the disk can
 * change in between.
 */
/* realpath() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "cli/output.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/overrides.h"
#include "study/source.h"
#include "study/store.h"
#include "weft.h"

bool output_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), n_end = strlen(end);
    return n > n_end && strcasecmp(s + n - n_end, end) == 0;
}

enum table_format output_format(const struct run *run)
{
    if (run->opt.format >= 0)
        return (enum table_format)run->opt.format;
    const char *out = run->opt.out;
    if (out && output_ends_with(out, ".csv"))
        return TABLE_AS_CSV;
    /* A sweep writes an object a line, which is what .jsonl promises. */
    if (out && (output_ends_with(out, ".json") || output_ends_with(out, ".jsonl")))
        return TABLE_AS_JSON;
    return TABLE_AS_TEXT;
}

struct origin output_origin(const struct design_point *s)
{
    return (struct origin){ .known = true,
                            .study_hash = design_point_hash(s),
                            .seed = s->seed,
                            .semantics = design_point_semantics(s) };
}

/* One "key=value" a line; table_write() puts "# " before each in a CSV. A store tells its own version and
 * command: its rows were not made by this one. */
void output_head(struct text *head, const struct run *run, struct origin from)
{
    text_printf(head, "version=%s\ncommand=%s\n", from.version ? from.version : WEFT_VERSION,
                from.command ? from.command : run->recorded);
    if (from.known)
        text_printf(head, "study_hash=%016llx\nseed=%lld\n", from.study_hash, (long long)from.seed);
    if (from.semantics)
        text_printf(head, "semantics=%s\n", from.semantics);
}

void output_json_head(struct json *j, const struct run *run, struct origin from)
{
    char hash[20];
    json_open(j, "weft", '{');
    json_text(j, "version", WEFT_VERSION);
    json_text(j, "command", run->recorded);
    if (from.known) {
        snprintf(hash, sizeof hash, "%016llx", from.study_hash);
        json_text(j, "study_hash", hash);
        json_count(j, "seed", from.seed);
    }
    if (from.semantics)
        json_text(j, "semantics", from.semantics);
    json_close(j, '}');
}

/* ---- files ---- */

int output_hold(const struct run *run, struct outfile *f, struct err *e)
{
    struct output_files *files = run->files;
    if (!f->path) /* standard output has what it was given */
        return outfile_end(f, e);
    if (!vec_reserve(files->held, files->cap, files->n + 1))
        return err_nomem(e, f->path);
    files->held[files->n++] = *f;
    *f = (struct outfile){ 0 };
    return 0;
}

int output_file(const struct run *run, const char *path, const struct text *t, struct err *e)
{
    struct outfile f = { 0 };
    int rc = text_any_cut() ? err_nomem(e, "text") : 0;
    if (!rc)
        rc = outfile_begin(&f, path, run->opt.force, e);
    if (!rc)
        rc = outfile_put(&f, text_str(t), t->n, e);
    if (!rc)
        rc = output_hold(run, &f, e);
    outfile_drop(&f);
    return rc;
}

int output_end(struct run *run, struct err *e)
{
    int32_t n = run->files->n;
    run->files->n = 0; /* they are gone, whatever happens */
    return outfile_end_all(run->files->held, n, e);
}

void output_drop(struct run *run)
{
    for (int32_t i = 0; i < run->files->n; i++)
        outfile_drop(&run->files->held[i]);
    free(run->files->held);
    *run->files = (struct output_files){ 0 };
}

int output_write(const struct run *run, const struct text *t, struct err *e)
{
    return output_file(run, run->opt.out, t, e);
}

int output_text(const struct run *run, struct text *t, struct err *e)
{
    int rc = text_show(t, e);
    return rc ? rc : output_write(run, t, e);
}

int output_table(const struct run *run, const struct table *t, struct origin from, struct err *e)
{
    struct text head = { 0 }, out = { 0 };
    output_head(&head, run, from);
    int rc = text_check(&head, e);
    if (!rc)
        rc = table_write(t, output_format(run), text_str(&head), &out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&head);
    text_free(&out);
    return rc;
}

void output_begin(struct report *r, const struct run *run, struct origin from)
{
    r->format = output_format(run);
    r->out.wide = run->opt.wide;
    report_page(r);
    if (report_is(r, IN_JSON))
        output_json_head(&r->json, run, from);
}

int output_report_to(struct report *r, const struct run *run, const char *path, struct origin from,
                     struct err *e)
{
    struct text head = { 0 };
    output_head(&head, run, from);
    int rc = text_check(&head, e);
    if (!rc)
        rc = report_end(r, text_str(&head), e);
    if (!rc)
        rc = output_file(run, path, &r->out, e);
    text_free(&head);
    report_free(r);
    return rc;
}

int output_report(struct report *r, const struct run *run, struct origin from, struct err *e)
{
    report_page_end(r);
    return output_report_to(r, run, run->opt.out, from, e);
}

/* Words that were cut are not said; how the run ended is (cli/main.c). */
static void say(const struct run *run, const char *kind, const char *message)
{
    if (text_any_cut())
        return;
    fprintf(stderr, "weft %s: %s%s\n", run->command->name, kind, message);
}

/* Messages are cut and cleaned of control characters as those of errors are. */
#define SAY(run, kind, fmt)                                                                                  \
    do {                                                                                                     \
        struct err line_ = { 0 };                                                                            \
        va_list ap_;                                                                                         \
        va_start(ap_, fmt);                                                                                  \
        err_vset(&line_, ERR_OK, fmt, ap_);                                                                  \
        va_end(ap_);                                                                                         \
        say(run, kind, line_.msg);                                                                           \
    } while (0)

void output_say(const struct run *run, const char *fmt, ...)
{
    SAY(run, "", fmt);
}

void output_say_lines(const struct run *run, const struct text *lines)
{
    size_t n;
    for (const char *rest = text_str(lines), *line; (line = text_next(&rest, '\n', &n));)
        output_say(run, "%.*s", (int)n, line);
}

void output_verbose(const struct run *run, const char *fmt, ...)
{
    if (run->opt.verbose)
        SAY(run, "", fmt);
}

/* True the first time a line is asked about. A sweep finds the same thing amiss at each of its points.
 * Linear: distinct warnings are few. */
static bool is_new(struct run *run, const char *line, size_t n)
{
    size_t n_old;
    for (const char *rest = text_str(&run->warned), *s; (s = text_next(&rest, '\n', &n_old));)
        if (n_old == n && memcmp(s, line, n) == 0)
            return false;
    text_add(&run->warned, line, n);
    text_puts(&run->warned, "\n");
    return true;
}

/* A line a warning; those that were said are left out. */
static void warn_lines(struct run *run, const char *lines)
{
    size_t n;
    if (run->opt.quiet)
        return;
    for (const char *s; (s = text_next(&lines, '\n', &n));) {
        struct err clean = { 0 };
        if (n > 0 && is_new(run, s, n)) {
            err_set(&clean, ERR_OK, "%.*s", (int)n, s);
            say(run, "warning: ", clean.msg);
        }
    }
}

void output_warn(struct run *run, const char *fmt, ...)
{
    struct text line = { 0 };
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&line, fmt, ap);
    va_end(ap);
    warn_lines(run, text_str(&line));
    text_free(&line);
}

void output_notes(struct run *run, const struct text *notes)
{
    warn_lines(run, text_str(notes));
}

/* The list is in the help of every command; scripts go by it. Without a default, so that a new code is
 * noticed. */
int output_exit_code(int rc)
{
    switch ((enum err_code)rc) {
    case ERR_OK:
        return EXIT_DONE;
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_PARSE:
    case ERR_RANGE:
    case ERR_UNSUP:
        return EXIT_INPUT;
    case ERR_NO_DESIGN:
        return EXIT_NO_DESIGN;
    case ERR_STOPPED:
        return EXIT_INTERRUPT;
    case ERR_NOMEM:
    case ERR_IO:
    case ERR_LIB:
        break;
    }
    return EXIT_FAILED;
}

static int gravity(int code)
{
    return code == EXIT_INPUT ? 3 : code == EXIT_NO_DESIGN ? 2 : code == EXIT_DONE ? 0 : 1;
}

void output_outcome(struct run *run, enum exit_code code)
{
    if (gravity((int)code) > gravity(run->exit_code))
        run->exit_code = (int)code;
}

/* Of a command that reads rows: a study, by its name, has none yet. */
static int refuse_study(const char *path, struct err *e)
{
    if (!output_ends_with(path, ".yaml") && !output_ends_with(path, ".yml"))
        return 0;
    return err_set(e, ERR_PARSE, "%s: a study, which has no rows yet; run weft sweep %s -o rows.csv first",
                   path, path);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int output_is_store(bool *is, const char *path, struct err *e)
{
    *is = is_folder(path);
    return *is ? 0 : store_is(is, path, e);
}

int output_names_stores(bool *is, const struct run *run, int32_t first, struct err *e)
{
    const char *path = run->opt.operands[first];
    int rc = refuse_study(path, e);
    rc = rc ? rc : output_is_store(is, path, e);
    *is = !rc && (*is || run->opt.n_operands > first + 1);
    return rc;
}

/* Of one file that is named, what is not there yet is no error: a sweep may be running. */
static int check_whole(struct store *s, const struct run *run, const char *path, struct err *e)
{
    char seen[SHOW], all[SHOW];
    if (run->opt.partial || store_is_complete(s))
        return 0;
    if (store_missing(s))
        return err_set(
            e, ERR_NO_DESIGN,
            "%s: is missing, a file of the rows that belongs to %s; give --partial to read what is "
            "there",
            store_missing(s), store_path_of(s));
    if (!store_is_of_many(s) && !is_folder(path))
        return 0;
    show_count(seen, store_counts_of(s).seen);
    show_count(all, store_head_of(s)->n_points);
    return err_set(
        e, ERR_NO_DESIGN,
        "%d store%s %s of %s points: a shard is missing or under way; give --partial to read what is there",
        (int)store_n_parts(s), store_n_parts(s) > 1 ? "s have" : " has", seen, all);
}

void output_warn_incomplete(struct run *run, const struct store *s, int32_t first)
{
    const struct store_head *head = store_head_of(s);
    const char *path = run->opt.operands[first];
    char seen[SHOW], all[SHOW];
    if (store_is_complete(s))
        return;
    show_count(seen, store_counts_of(s).seen);
    show_count(all, head->n_points);
    if (store_n_parts(s) > 1)
        output_warn(run, "%d stores have %s of %s points", (int)store_n_parts(s), seen, all);
    else if (head->n_shards > 1)
        output_warn(run, "%s: is shard %d of %d, with %s of all %s points; weft merge puts shards together",
                    path, (int)head->shard, (int)head->n_shards, seen, all);
    else
        output_warn(run, "%s: has %s of %s points; weft sweep --store %s goes on with it", path, seen, all,
                    path);
}

int output_read_stores(struct store **out, const struct run *run, int32_t first, struct err *e)
{
    const int32_t n = run->opt.n_operands - first;
    int rc = 0;
    *out = NULL;
    for (int32_t i = first; i < run->opt.n_operands && n > 1 && !rc; i++) {
        bool is = false;
        rc = output_is_store(&is, run->opt.operands[i], e);
        if (!rc && !is)
            rc = err_set(e, ERR_USAGE, "%.200s: is no store; several are read together where all are stores",
                         run->opt.operands[i]);
    }
    rc = rc ? rc : store_read_together(out, run->opt.operands + first, n, e);
    rc = rc ? rc : check_whole(*out, run, run->opt.operands[first], e);
    if (rc) {
        store_close(*out);
        *out = NULL;
    }
    return rc;
}

bool output_is_of_store(const char *path, const char *store)
{
    static const char *const beside[] = { "", "-wal", "-shm", "-journal" };
    char name[PATH_MAX];
    /* The log lies where the store is, not where a link to it is. */
    char *real = realpath(store, NULL);
    bool is = false;
    for (size_t i = 0; i < sizeof beside / sizeof *beside && !is; i++) {
        int n = snprintf(name, sizeof name, "%s%s", real ? real : store, beside[i]);
        is = n > 0 && (size_t)n < sizeof name && outfile_is_same(path, name);
    }
    free(real);
    return is;
}

/* Would it replace what the study is made of: its own file, those put in, those that its values name, theirs?
 * What is wrong with the study is told later. */
static bool is_in_study(const struct run *run, const char *study, const char *path)
{
    struct overrides o = { 0 };
    struct err ignored = { 0 };
    struct yaml_doc doc;
    int32_t own_source;
    bool is = false;
    if (overrides_read(&o, run, &ignored) == 0) {
        const struct study_source from = { .path = study, .overrides = o.list, .n = o.n };
        if (source_open(&doc, &own_source, &from, &ignored) == 0) {
            is = yaml_has_file(&doc, path);
            if (!is && source_fetch(&doc, own_source, &from, &ignored) == 0)
                is = yaml_has_file(&doc, path);
            yaml_free(&doc);
        }
    }
    overrides_free(&o);
    return is;
}

/* -f is for outputs of before: nobody means to lose what the command reads. Asked before long work; what is
 * found only as it is read is refused when the output is to get its name. */
static bool is_read(const struct run *run, const char *path)
{
    bool is = false;
    for (int32_t i = 0; i < run->opt.n_operands && !is; i++) {
        const char *operand = run->opt.operands[i];
        struct err ignored = { 0 };
        bool is_store = false;
        if (strcmp(operand, "-") == 0)
            continue;
        if (store_is(&is_store, operand, &ignored) || is_store)
            is = output_is_of_store(path, operand);
        else
            /* Tables name no files, and are large. */
            is = outfile_is_same(path, operand) ||
                 (!output_ends_with(operand, ".csv") && is_in_study(run, operand, path));
    }
    return is;
}

/* Of a table or a report. */
#define ENDINGS ".csv .json .jsonl .txt"

/* ".pdf"; NULL: none. Devices have none, and what is no word is a number ("run-1.2"). */
static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    bool device = strncmp(path, "/dev/", 5) == 0;
    return dot && dot > name && isalpha((unsigned char)dot[1]) && !device ? dot : NULL;
}

static bool is_among(const char *ending, const char *endings)
{
    size_t n;
    for (const char *at; (at = text_next(&endings, ' ', &n));)
        if (strlen(ending) == n && strncasecmp(at, ending, n) == 0)
            return true;
    return false;
}

/* ".csv, .json or .txt" */
static void list_endings(char *out, size_t size, const char *endings)
{
    size_t used = 0, n;
    for (const char *next = endings, *at; (at = text_next(&next, ' ', &n));) {
        const char *gap = at == endings ? "" : *next ? ", " : " or ";
        int put = snprintf(out + used, size - used, "%s%.*s", gap, (int)n, at);
        used = put > 0 && (size_t)put < size - used ? used + (size_t)put : size - 1;
    }
}

/* A name that promises what is not written there. */
static int check_ending(const char *path, const char *endings, bool has_of, struct err *e)
{
    static const char *const others[][2] = { { ".db .sqlite .sqlite3",
                                               " (weft sweep --store writes stores)" },
                                             { ".svg .pdf .png .gp", " (weft plot draws figures)" } };
    const char *ending = ending_of(path), *hint = "";
    char list[128];
    if (!ending || is_among(ending, endings))
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        hint = is_among(ending, others[i][0]) ? others[i][1] : hint;
    list_endings(list, sizeof list, endings);
    return err_set(e, ERR_USAGE, "output %s: its name says %s, which is not written there; end it in %s%s%s",
                   path, ending, list, has_of ? ", or give --of" : "", hint);
}

static int check_path(const struct run *run, const char *path, struct err *e)
{
    bool replaces = outfile_replaces(path);
    if (replaces && is_read(run, path))
        return outfile_refuse_input(e, path);
    if (!*path)
        return err_set(e, ERR_USAGE, "output: its name is empty");
    if (!run->opt.force && replaces)
        return err_set(e, ERR_USAGE, "%s: exists; use -f to overwrite it", path);
    return 0;
}

int output_check_store(const char *path, struct err *e)
{
    const char *ending = ending_of(path);
    struct stat st;
    if (ending && stat(path, &st) != 0 &&
        is_among(ending, ENDINGS " .yaml .yml .svg .pdf .png .gp .graphml .dot"))
        return err_set(e, ERR_USAGE, "store %s: its name says %s, which is not written there; end it in .db",
                       path, ending);
    return 0;
}

/* @p endings: those that the name may have, separated by blanks; NULL: any. */
static int check_one(const struct run *run, const char *path, const char *endings, bool has_of, struct err *e)
{
    if (outfile_is_stdout(path))
        return outfile_check_folder(path, e);
    int rc = check_path(run, path, e);
    if (!rc && endings)
        rc = check_ending(path, endings, has_of, e);
    return rc ? rc : outfile_check_folder(path, e);
}

int output_check_as(const struct run *run, const char *endings, bool has_of, struct err *e)
{
    return run->opt.out ? check_one(run, run->opt.out, endings, has_of, e) : 0;
}

int output_check(const struct run *run, struct err *e)
{
    return output_check_as(run, run->opt.format < 0 ? ENDINGS : NULL, true, e);
}

/* Each output against all before it: there are a handful. Before any work, so nothing has been written on
 * failure. */
int extra_check(const struct run *run, const struct extra *extras, int n, struct err *e)
{
    const char *out = run->opt.out ? run->opt.out : "-";
    int rc = output_check(run, e);
    for (int i = 0; i < n && !rc; i++) {
        const char *path = extras[i].path;
        if (!path)
            continue;
        bool twice = outfile_is_same(path, out) && !(extras[i].alone && !run->opt.out);
        for (int k = 0; k < i; k++)
            twice = twice || (extras[k].path && outfile_is_same(path, extras[k].path));
        rc = twice ? err_set(e, ERR_USAGE, "two outputs go to %s; give each its own file",
                             outfile_is_stdout(path) ? "standard output" : path)
                   : check_one(run, path, extras[i].endings ? extras[i].endings : ".csv", false, e);
    }
    return rc;
}
