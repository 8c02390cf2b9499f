/** @file A program of many suites: each test file is one, with a main() of its own under another name. */
#ifndef TESTS_RUNNER_H
#define TESTS_RUNNER_H

/** A test file: tests/unit/test_NAME.c, whose main() the Makefile renames. */
struct suite {
    const char *name;
    int (*run)(void);
};

/** The Makefile writes this table; the last name is NULL. */
extern const struct suite suites[];

#endif
