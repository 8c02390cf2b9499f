/** @file A folder of a test's own, and files in it. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <sys/wait.h>

#include "base/text.h"
#include "tests/support.h"

struct folder {
    char dir[SUPPORT_PATH], path[SUPPORT_PATH]; /**< path: of the file that was put last */
};

struct file {
    const char *name, *text;
};

/** Write a file; returns its path. */
static inline const char *put(struct folder *f, const char *name, const char *text)
{
    return scratch_file(f->path, f->dir, name, text, strlen(text));
}

static inline void folder_remove(struct folder *f)
{
    scratch_remove(f->dir);
}

/** An empty one, removed where the block ends. */
#define FOLDER(f)                                                                                            \
    KEEP(struct folder, f, folder_remove);                                                                   \
    scratch_make(f.dir)

/** One for *state, with these files. */
static inline int folder_begin(void **state, const struct file *files, size_t n)
{
    struct folder *f = calloc(1, sizeof *f);
    assert_non_null(f);
    scratch_make(f->dir);
    for (size_t i = 0; i < n; i++)
        put(f, files[i].name, files[i].text);
    *state = f;
    return 0;
}

static inline int remove_folder(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

/** make_folder() of this file: an empty folder, and the path of a file of that name. */
#define FOLDER_FOR(name)                                                                                     \
    static int make_folder(void **state)                                                                     \
    {                                                                                                        \
        struct folder *f;                                                                                    \
        folder_begin(state, NULL, 0);                                                                        \
        f = *state;                                                                                          \
        scratch_path(f->path, f->dir, name);                                                                 \
        return 0;                                                                                            \
    }

/** The file has this text. */
static inline void assert_holds(const char *path, const char *want)
{
    KEEP(struct text, t, text_free) = { 0 };
    MUST(text_read_file(&t, path, 1 << 20, e));
    assert_string_equal(text_str(&t), want);
}

/** A text, printed. */
#define TEXT(t, ...)                                                                                         \
    KEEP(struct text, t, text_free) = { 0 };                                                                 \
    text_printf(&t, __VA_ARGS__)

/** How a child ended; -1: it was not one. */
static inline int child_status(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

/** make_folder() of this file: a set-up that fills the folder with these files. */
#define FOLDER_OF(files)                                                                                     \
    static int make_folder(void **state)                                                                     \
    {                                                                                                        \
        return folder_begin(state, files, COUNT_OF(files));                                                  \
    }

#endif
