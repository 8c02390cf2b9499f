/*
 * Heads, warnings and files of a run. The head of an output has what is needed to make it again: version,
 * command line, hash of the study, seed. It has no date and no host, so that equal runs give equal bytes.
 *
 * Standard output carries results alone; what is said about a run goes to standard error. Files are replaced
 * in one step at the end of the command (base/outfile.h), all of them, so a run that fails leaves the old
 * ones. Outputs are checked before long work starts and once more when they are written, as the disk can
 * change in between.
 */
#include "cli/output.h"

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

bool output_is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
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
    return (struct origin){
        .known = true, .study_hash = study_hash(s), .seed = s->seed, .semantics = study_semantics(s)
    };
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
    report_page(r);
    if (report_is(r, IN_JSON))
        output_json_head(&r->json, run, from);
}

int output_report(struct report *r, const struct run *run, struct origin from, struct err *e)
{
    struct text head = { 0 };
    report_page_end(r);
    output_head(&head, run, from);
    int rc = text_check(&head, e);
    if (!rc)
        rc = report_end(r, text_str(&head), e);
    if (!rc)
        rc = output_write(run, &r->out, e);
    text_free(&head);
    return rc;
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
        char text_[sizeof line_.msg];                                                                        \
        va_list ap_;                                                                                         \
        va_start(ap_, fmt);                                                                                  \
        vsnprintf(text_, sizeof text_, fmt, ap_);                                                            \
        va_end(ap_);                                                                                         \
        err_set(&line_, ERR_OK, "%s", text_);                                                                \
        say(run, kind, line_.msg);                                                                           \
    } while (0)

void output_say(const struct run *run, const char *fmt, ...)
{
    SAY(run, "", fmt);
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
    for (const char *s = text_str(&run->warned); *s;) {
        size_t n_old = strcspn(s, "\n");
        if (n_old == n && memcmp(s, line, n) == 0)
            return false;
        s += n_old + (s[n_old] == '\n');
    }
    text_add(&run->warned, line, n);
    text_puts(&run->warned, "\n");
    return true;
}

/* A line a warning; those that were said are left out. */
static void warn_lines(struct run *run, const char *lines)
{
    if (run->opt.quiet)
        return;
    for (const char *s = lines; *s;) {
        size_t n = strcspn(s, "\n");
        struct err clean = { 0 };
        if (n > 0 && is_new(run, s, n)) {
            err_set(&clean, ERR_OK, "%.*s", n < 1000 ? (int)n : 1000, s);
            say(run, "warning: ", clean.msg);
        }
        s += n + (s[n] == '\n');
    }
}

void output_warn(struct run *run, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    warn_lines(run, line);
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

enum { FOLDER = 4096 };

/* What comes after the last slash. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* @p path without its name; false: too long to be a folder's. */
static bool folder_of(char out[FOLDER], const char *path)
{
    size_t n = (size_t)(name_of(path) - path);
    if (n >= FOLDER)
        return false;
    memcpy(out, path, n);
    out[n] = '\0';
    if (n == 0)
        strcpy(out, ".");
    return true;
}

/*
 * Do two names lead to one thing? One that is not there yet is told by its folder and name. Device and inode
 * tell links and "./" apart from other files. Two names in one folder that are not there yet and differ in
 * case only are two, also where the file system takes them for one.
 */
static bool is_same(const char *a, const char *b)
{
    struct stat x, y;
    char folder_a[FOLDER], folder_b[FOLDER];
    if (strcmp(a, b) == 0)
        return true;
    if (output_is_stdout(a) || output_is_stdout(b))
        return false;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (!has_a && !has_b) {
        if (strcmp(name_of(a), name_of(b)) != 0)
            return false;
        has_a = folder_of(folder_a, a) && stat(folder_a, &x) == 0;
        has_b = folder_of(folder_b, b) && stat(folder_b, &y) == 0;
    }
    return has_a && has_b && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Would it replace what the study is made of: its own file, those put in, those that its values name? What is
 * wrong with the study is told later. */
static bool is_in_study(const struct run *run, const char *path)
{
    struct overrides o = { 0 };
    struct err ignored = { 0 };
    struct yaml_doc doc;
    int32_t own_source;
    const char *study = run->opt.operands[0];
    bool is = false;
    /* Tables name no files, and are large. */
    if (store_is(&is, study, &ignored) || is || output_ends_with(study, ".csv"))
        return false;
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

/* -f is for outputs of before: nobody means to lose what the command reads. */
static bool is_read(const struct run *run, const char *path)
{
    struct stat st;
    bool is = false;
    if (output_is_stdout(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    for (int32_t i = 0; i < run->opt.n_operands && !is; i++)
        is = is_same(path, run->opt.operands[i]);
    is = is || (run->opt.npu && is_same(path, run->opt.npu));
    return is || (run->opt.n_operands > 0 && is_in_study(run, path));
}

/* A name that promises what no command writes: it would be a text. */
static int check_ending(const struct run *run, const char *path, struct err *e)
{
    static const char *const endings[] = { ".db",  ".sqlite",  ".sqlite3", ".xlsx", ".xls",
                                           ".ods", ".parquet", ".arrow",   ".h5" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings && run->opt.format < 0; i++)
        if (output_ends_with(path, endings[i]))
            return err_set(e, ERR_USAGE,
                           "output %s: would be text, not what its name says; end it in .csv, .json or .txt, "
                           "or give --of%s",
                           path, i < 3 ? " (weft sweep --store writes stores)" : "");
    return 0;
}

static int check_path(const struct run *run, const char *path, struct err *e)
{
    struct stat st;
    if (is_read(run, path))
        return err_set(e, ERR_USAGE, "output %s: is a file that the command reads; choose another", path);
    int rc = check_ending(run, path, e);
    /* Devices and pipes are written, not replaced: they are always free. */
    if (!rc && !run->opt.force && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return err_set(e, ERR_USAGE, "%s: exists; use -f to overwrite it", path);
    return rc;
}

int output_check(const struct run *run, struct err *e)
{
    const char *path = run->opt.out;
    return !path || output_is_stdout(path) ? 0 : check_path(run, path, e);
}

/* A file is written beside its name and renamed, so that its folder has to be there and writable; what is no
 * file, /dev/null, is opened as it is. */
static int check_folder(const char *path, struct err *e)
{
    struct stat st;
    char folder[FOLDER];
    if (output_is_stdout(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return 0;
    if (!folder_of(folder, path) || stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_IO, "output %s: no such folder", path);
    if (access(folder, W_OK | X_OK) != 0)
        return err_set(e, ERR_IO, "output %s: its folder is not writable", path);
    return 0;
}

static int check_one(const struct run *run, const char *path, struct err *e)
{
    int rc = output_is_stdout(path) ? 0 : check_path(run, path, e);
    return rc ? rc : check_folder(path, e);
}

/* Each output against all before it: there are a handful. Before any work, so nothing has been written on
 * failure. */
int extra_check(const struct run *run, const struct extra *extras, int n, struct err *e)
{
    const char *out = run->opt.out ? run->opt.out : "-";
    int rc = check_one(run, out, e);
    for (int i = 0; i < n && !rc; i++) {
        const char *path = extras[i].path;
        if (!path)
            continue;
        bool twice = is_same(path, out) && !(extras[i].alone && !run->opt.out);
        for (int k = 0; k < i; k++)
            twice = twice || (extras[k].path && is_same(path, extras[k].path));
        rc = twice ? err_set(e, ERR_USAGE, "two outputs go to %s; give each its own file",
                             output_is_stdout(path) ? "standard output" : path)
                   : check_one(run, path, e);
    }
    return rc;
}
