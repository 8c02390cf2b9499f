/** @file A folder of a test's own, and files in it. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

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

/** make_folder() of this file: a set-up that fills the folder with these files. */
#define FOLDER_OF(files)                                                                                     \
    static int make_folder(void **state)                                                                     \
    {                                                                                                        \
        return folder_begin(state, files, COUNT_OF(files));                                                  \
    }

#endif
