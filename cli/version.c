/*
 * The one file that may include every library: it asks each for its version and nothing else. Versions are
 * those of the libraries that run, which need not be those that the program was built with.
 */
#include "cli/version.h"

#include <glpk.h>
#include <gmp.h>
#include <gsl/gsl_version.h>
#include <igraph.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <mpi.h>
#include <omp.h>
#include <protobuf-c/protobuf-c.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/catalogue.h"
#include "plots/gnuplot.h"
#include "weft.h"

static void put_version(struct text *out, const char *what, const char *is)
{
    text_printf(out, "%-12s %.*s\n", what, (int)strcspn(is, "\n"), is);
}

/* "20914" is 2.9.14. */
static void put_libxml(struct text *out)
{
    long n = strtol(xmlParserVersion, NULL, 10);
    text_printf(out, "%-12s %ld.%ld.%ld\n", "libxml2", n / 10000, n / 100 % 100, n % 100);
}

static void put_libraries(struct text *out)
{
    const char *igraph;
    igraph_version(&igraph, NULL, NULL, NULL);
    put_version(out, "igraph", igraph);
    put_version(out, "GSL", gsl_version);
    put_version(out, "GLPK", glp_version());
    put_version(out, "GMP", gmp_version);
    put_version(out, "SQLite", sqlite3_libversion());
    put_version(out, "Jansson", jansson_version_str());
    put_version(out, "libyaml", yaml_get_version_string());
    put_version(out, "protobuf-c", protobuf_c_version());
    put_libxml(out);
}

static void put_data(struct text *out)
{
    struct text folder = { 0 };
    struct stat st;
    for (int i = 0; catalogue_folder(&folder, i); i++)
        if (folder.n)
            text_printf(out, "%-12s %s%s\n", "data", text_str(&folder),
                        stat(text_str(&folder), &st) == 0 && S_ISDIR(st.st_mode) ? "" : " (not there)");
    text_free(&folder);
}

static void put_helpers(struct text *out)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    struct text gnuplot = { 0 };
    struct err missing;
    text_printf(out, "%-12s of %d, %d threads\n", "OpenMP", _OPENMP, omp_get_max_threads());
    if (MPI_Get_library_version(mpi, &n) == MPI_SUCCESS) {
        mpi[strcspn(mpi, ",")] = '\0';
        put_version(out, "MPI", mpi);
    }
    put_version(out, "gnuplot",
                gnuplot_find(&gnuplot, &missing) == 0 ? text_str(&gnuplot)
                                                      : "not found; PDF and PNG need it");
    text_free(&gnuplot);
}

void version_write(struct text *out, bool all)
{
    text_puts(out, "weft " WEFT_VERSION "\nLicense GPL-3.0-or-later\n");
    if (!all)
        return;
#ifdef __clang__
    put_version(out, "compiler", __VERSION__);
#else
    put_version(out, "compiler", "gcc " __VERSION__);
#endif
    put_libraries(out);
    put_data(out);
    put_helpers(out);
}
