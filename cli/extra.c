#include "cli/extra.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Do two names lead to one thing? One that is not there yet is told by its folder and name. */
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

/* A file is written beside its name and renamed, so that its folder has to be there and writable; what is no
 * file, /dev/null, is opened as it is. */
static int check_folder(const char *path, struct err *e)
{
    struct stat st;
    char folder[FOLDER];
    if (output_is_stdout(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return 0;
    if (!folder_of(folder, path) || stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_IO, "output %s: its folder is not there, need one", path);
    if (access(folder, W_OK | X_OK) != 0)
        return err_set(e, ERR_IO, "output %s: its folder cannot be written to, need one that can", path);
    return 0;
}

/* -f is for outputs of before: nobody means to lose the study. */
static int check_one(const struct run *run, const char *path, struct err *e)
{
    if (run->opt.n_operands > 0 && !output_is_stdout(path) && is_same(path, run->opt.operands[0]))
        return err_set(e, ERR_USAGE, "output %s: is the study itself, need another file", path);
    int rc = output_check(run, path, e);
    return rc ? rc : check_folder(path, e);
}

int extra_check(const struct run *run, const struct extra *extras, int n, struct err *e)
{
    const char *out = run->opt.out ? run->opt.out : "-";
    int rc = check_one(run, out, e);
    for (int i = 0; i < n && !rc; i++) {
        const char *path = extras[i].path;
        if (!path)
            continue;
        bool twice = is_same(path, out);
        for (int k = 0; k < i; k++)
            twice = twice || (extras[k].path && is_same(path, extras[k].path));
        rc = twice ? err_set(e, ERR_USAGE, "two outputs are to go to %s, need a file for each",
                             output_is_stdout(path) ? "standard output" : path)
                   : check_one(run, path, e);
    }
    return rc;
}

struct table *extra_table(struct extra *x)
{
    return x->path ? &x->table : NULL;
}

static int write_one(const struct run *run, const struct extra *x, struct origin from, struct err *e)
{
    struct text head = { 0 }, out = { 0 };
    output_head(&head, run, from);
    int rc = text_check(&head, e);
    if (!rc)
        rc = table_write(&x->table, TABLE_AS_CSV, text_str(&head), &out, e);
    if (!rc)
        rc = text_write_file(&out, x->path, run->opt.force, e);
    text_free(&head);
    text_free(&out);
    return rc;
}

int extra_write(const struct run *run, const struct extra *extras, int n, struct origin from, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path)
            rc = write_one(run, &extras[i], from, e);
    return rc;
}

void extra_free(struct extra *extras, int n)
{
    for (int i = 0; i < n; i++)
        table_free(&extras[i].table);
}
