/** @file All files of a folder of the catalogue, for tests that hold something of each. */
#ifndef TESTS_UNIT_CATALOGUE_FILES_H
#define TESTS_UNIT_CATALOGUE_FILES_H

#include "base/catalogue.h"
#include "base/yaml.h"
#include "tests/support.h"

/** Calls @p take with each file of configs/@p kind, of which there are @p least or more. */
static inline void each_catalogue_file(const char *kind, int32_t least,
                                       void (*take)(const char *path, const struct yaml_doc *doc,
                                                    struct err *e))
{
    struct err err = { 0 }, *e = &err;
    struct catalogue c;
    catalogue_use("configs");
    OK(catalogue_list(&c, kind, e));
    assert_true(c.n >= least);
    for (int32_t i = 0; i < c.n; i++) {
        char path[512];
        struct yaml_doc doc;
        snprintf(path, sizeof path, "configs/%s/%s.yaml", kind, c.names[i]);
        OK(yaml_read_file(&doc, path, e));
        take(path, &doc, e);
        yaml_free(&doc);
    }
    catalogue_free(&c);
    catalogue_use(NULL);
}

#endif
