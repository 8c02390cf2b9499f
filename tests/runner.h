/** @file A program of many suites: each test file is one, of cases that register themselves (TEST of
 * support.h) or with a main() of its own under another name. */
#ifndef TESTS_RUNNER_H
#define TESTS_RUNNER_H

/** A test file with a main(): tests/unit/test_NAME.c. The Makefile renames it. */
struct suite {
    const char *name;
    int (*run)(void);
};

/** The Makefile writes this table; the last name is NULL. */
extern const struct suite suites[];

#endif
