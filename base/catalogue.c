#include "base/catalogue.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

/* Given by the Makefile; another build of these sources has no folder of its own. */
#ifndef WEFT_DATA_FOLDER
#define WEFT_DATA_FOLDER ""
#endif

static const char ending[] = ".yaml";

enum { N_FOLDERS = 3, LONGEST_EXE = 4096 };

/* Of the process: catalogue_use(). */
static const char *own_folder;

void catalogue_use(const char *folder)
{
    own_folder = folder;
}

/* configs/ beside the build folder, of a program that runs from there: .../build/release/weft. */
static void add_tree(struct text *out)
{
    char exe[LONGEST_EXE];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
    for (int up = 0; up < 3 && n > 0; up++)
        while (n > 0 && exe[--n] != '/')
            ;
    if (n > 0 && (size_t)n < sizeof exe)
        text_printf(out, "%.*s/configs", (int)n, exe);
}

/* Data folder @p i; "" where there is none. */
static void put_folder(struct text *out, int i)
{
    text_clear(out);
    if (i == 0)
        text_puts(out, own_folder ? own_folder : "");
    else if (i == 1)
        text_puts(out, WEFT_DATA_FOLDER);
    else
        add_tree(out);
}

bool catalogue_folder(struct text *out, int i)
{
    if (i < N_FOLDERS)
        put_folder(out, i);
    return i < N_FOLDERS;
}

bool catalogue_is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static bool is_file(const struct text *path)
{
    struct stat st;
    return !path->failed && stat(text_str(path), &st) == 0 && S_ISREG(st.st_mode);
}

bool catalogue_find(struct text *path, const char *kind, const char *name)
{
    struct text found = { 0 }, folder = { 0 };
    bool is = false;
    for (int i = 0; i < N_FOLDERS && !is && catalogue_is_name(name); i++) {
        put_folder(&folder, i);
        for (int with = 0; with < 2 && !is && folder.n; with++) {
            text_clear(&found);
            text_printf(&found, "%s/%s/%s%s", text_str(&folder), kind, name, with ? ending : "");
            is = is_file(&found);
        }
    }
    if (is) {
        text_clear(path);
        text_puts(path, text_str(&found));
    }
    path->failed = path->failed || found.failed || folder.failed;
    text_free(&found);
    text_free(&folder);
    return is && !path->failed;
}

void catalogue_path(struct text *path, const char *kind, const char *name)
{
    text_clear(path);
    text_puts(path, name);
    if (!is_file(path))
        catalogue_find(path, kind, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_name(const struct catalogue *c, const char *name, size_t n)
{
    for (int32_t i = 0; i < c->n; i++)
        if (strlen(c->names[i]) == n && strncmp(c->names[i], name, n) == 0)
            return true;
    return false;
}

static int add_name(struct catalogue *c, const char *file, struct err *e)
{
    size_t n = strlen(file), n_ending = sizeof ending - 1;
    if (n <= n_ending || strcmp(file + n - n_ending, ending) != 0 || !catalogue_is_name(file) ||
        has_name(c, file, n - n_ending))
        return 0;
    if (!vec_resize(c->names, c->n + 1))
        return err_nomem(e, file);
    c->names[c->n] = strndup(file, n - n_ending);
    return c->names[c->n] ? (c->n++, 0) : err_nomem(e, file);
}

int catalogue_list(struct catalogue *c, const char *kind, struct err *e)
{
    struct text folder = { 0 };
    int rc = 0;
    *c = (struct catalogue){ 0 };
    for (int i = 0; i < N_FOLDERS && !rc; i++) {
        put_folder(&folder, i);
        bool is = folder.n > 0;
        text_printf(&folder, "/%s", kind);
        rc = text_check(&folder, e);
        DIR *d = is && !rc ? opendir(text_str(&folder)) : NULL;
        for (struct dirent *x = d ? readdir(d) : NULL; x && !rc; x = readdir(d))
            rc = add_name(c, x->d_name, e);
        if (d)
            closedir(d);
    }
    text_free(&folder);
    if (c->n)
        qsort(c->names, (size_t)c->n, sizeof *c->names, by_name);
    return rc;
}

void catalogue_free(struct catalogue *c)
{
    for (int32_t i = 0; i < c->n; i++)
        free(c->names[i]);
    free(c->names);
    *c = (struct catalogue){ 0 };
}

void catalogue_hint(struct text *out, const char *kind, const char *name)
{
    struct catalogue c;
    struct err ignored;
    if (!catalogue_list(&c, kind, &ignored) && catalogue_is_name(name)) {
        const char *near = text_suggest(name, (const char *const *)c.names, (size_t)c.n);
        if (near)
            text_printf(out, "; did you mean %s?", near);
    }
    catalogue_free(&c);
}
