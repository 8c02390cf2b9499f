# weft: one Makefile for everything; `make help` lists the targets.
# BUILD=release|debug|asan|cov|fuzz|fuzzfast|tsan picks the flags, CC=clang the compiler, WERROR=1 makes warnings errors,
# V=1 shows the commands.
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
BUILD ?= release
PREFIX ?= /usr/local
LIBDIR ?= lib
ZSHDIR ?= share/zsh/site-functions
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
EXECUTIONS ?= 100000000
FAULTS ?= 100000
TEST_BUILDS ?= release asan

# Objects of two compilers never mix.
CLANG_TAG := $(if $(findstring clang,$(CC)),-clang)
O := build/$(BUILD)$(CLANG_TAG)

# ---- packages ----
PACKAGES := gcc libc6-dev make pkg-config libigraph-dev libxml2-dev libgmp-dev libgsl-dev libyaml-dev libglpk-dev \
    libjansson-dev libcmocka-dev gnuplot-nox fonts-dejavu-core protobuf-c-compiler libprotobuf-c-dev \
    libsqlite3-dev libopenmpi-dev openmpi-bin binutils
TEST_PACKAGES := python3-yaml python3-jsonschema
LINT_PACKAGES := clang libomp-dev clang-format clang-tidy cppcheck shellcheck
SIMGRID_PACKAGES := g++ libsimgrid-dev
SLURM_PACKAGES := slurm-wlm munge
DEB_PACKAGES := git debhelper dh-python lintian fakeroot
FUZZ_PACKAGES := clang libomp-dev libclang-rt-dev

# Asked once and only when something is compiled: `make run` on a bare machine installs the
# packages first, and `make help` or `make clean` never need them.
PKGS := igraph libxml-2.0 gmp gsl yaml-0.1 libprotobuf-c jansson sqlite3
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CHECK) pkg-config --cflags $(PKGS) | sed 's/-I */-isystem /g'))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)
# Ranks are the program's: the library needs no MPI.
MPI_CFLAGS = $(eval MPI_CFLAGS := $$(shell pkg-config --cflags ompi-c | sed 's/-I */-isystem /g'))$(MPI_CFLAGS)
MPI_LIBS = $(eval MPI_LIBS := $$(shell pkg-config --libs ompi-c))$(MPI_LIBS)
PKG_CHECK := pkg-config --exists $(PKGS) || echo 'weft: libraries are missing; "make deps" installs them' >&2;

# ---- flags ----
# No -ffast-math: the NaN checks depend on IEEE rules. No -march, and no fused multiply-add:
# the same input gives the same bytes on every machine.
# -g1: names and lines for a trace, without what only a debugger asks for, which takes a fifth of the time.
# What the release is built with against memory errors; tests/cli/hardening.sh looks for it in the program.
HARDENED := -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
CFLAGS.release := -O2 -g1 $(HARDENED)
CFLAGS.debug := -O1 -g
CFLAGS.werror := -O2 -Werror
CFLAGS.asan := -O1 -g1 -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all
CFLAGS.cov := -O0 -g --coverage
CFLAGS.tsan := -O1 -g1 -fsanitize=thread
CFLAGS.fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# For volume: several times as fast, without ASan and reports of comparisons; UBSan traps. The build above sees what it keeps.
CFLAGS.fuzzfast := -O2 -g1 -fsanitize=fuzzer-no-link,undefined -fsanitize-undefined-trap-on-error \
    -fno-sanitize-coverage=trace-cmp,indirect-calls
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
    $(if $(WERROR),-Werror)
# What protoc-c writes is included as a system header: its warnings are not ours.
BASE_FLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L -I. -Iinclude -isystem $O/gen
# CPPFLAGS and LDFLAGS are those of whoever packages it; what they say of _FORTIFY_SOURCE gives way to ours.
ALL_CFLAGS = $(CPPFLAGS) $(BASE_FLAGS) -fopenmp -fno-math-errno -ffp-contract=off $(WARN) $(PKG_CFLAGS) \
    -fPIC -fvisibility=hidden -fno-semantic-interposition $(CFLAGS.$(BUILD)) $(CFLAGS) -MMD -MP
LIB_LIBS = $(LDFLAGS) -Wl,--as-needed -Wl,-z,relro,-z,now,-z,noexecstack $(PKG_LIBS) -lglpk -lm
LIBS = -pie $(LIB_LIBS) $(MPI_LIBS)

# ---- sources ----
sources = $(sort $(foreach d,$(1),$(wildcard $(d)/*.c $(d)/*/*.c $(d)/*/*/*.c)))
objects = $(patsubst %.c,$O/%.o,$(1))
LAYERS := base topo workloads alloc sim study kinds plots
LIB_SRC := $(call sources,$(LAYERS))
# Of the program alone: figures (gnuplot) and ranks. The library has ranks of its own: one.
MPI_SRC := $(wildcard study/fleet_mpi*.c)
ALONE_SRC := study/fleet_alone.c
OUR_SRC := $(filter-out $(ALONE_SRC),$(LIB_SRC))
SHARED_SRC := $(filter-out $(MPI_SRC) plots/%,$(LIB_SRC))
EXAMPLE_SRC := $(wildcard examples/*.c)
CLI_SRC := $(call sources,cli)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
# What several unit tests share: brute-force oracles and the like.
RUNNER_SRC := tests/runner.c
SUPPORT_SRC := $(filter-out $(RUNNER_SRC),$(wildcard tests/*.c)) $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
BENCH_SRC := $(wildcard bench/*.c)
# Each validate_NAME.c writes one section of docs/validation.md; what they share lies beside them.
VALIDATE_SRC := $(wildcard tests/validate/*.c)
SECTION_SRC := $(filter tests/validate/validate_%,$(VALIDATE_SRC))
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
# A sweep without a model, run by tests/mpi.sh on threads and ranks.
RANKS_SRC := tests/mpi/fleet_ranks.c
# Another simulator's answers (C++, SimGrid), and the program that writes its questions.
ORACLE_SRC := tests/oracle/write_cases.c
TEST_SRC := $(UNIT_SRC) $(SUPPORT_SRC) $(RUNNER_SRC)
ALL_SRC := $(LIB_SRC) $(EXAMPLE_SRC) $(CLI_SRC) $(TEST_SRC) $(BENCH_SRC) $(VALIDATE_SRC) $(ORACLE_SRC) $(RANKS_SRC)
FORMATTED := $(ALL_SRC) $(FUZZ_SRC) $(wildcard tests/faults/*.[ch]) tests/oracle/simgrid_flows.cpp $(sort $(foreach d,$(LAYERS) cli tests tests/unit tests/fuzz bench,$(wildcard $(d)/*.h $(d)/*/*.h $(d)/*/*/*.h)))
SCRIPTS := .ci/run $(wildcard tests/*.sh tests/cli/*.sh tests/faults/*.sh tests/hooks/*)

# Written at build time from the schema; compiled without our warnings, never linted.
PROTO := workloads/readers/chakra
PROTO_H := $(PROTO:%=$O/gen/%.pb-c.h)
PROTO_O := $(PROTO_H:.h=.o)

# What programs of this tree link with, and what is installed.
LIB := $O/objects.a
VERSION := $(shell sed -n 's/^#define WEFT_VERSION  *"\(.*\)"/\1/p' include/weft.h)
SONAME := libweft.so.$(basename $(VERSION))
LIBRARY := $O/libweft.a $O/libweft.so
WEFT := $O/weft
# All suites in one program; those that T asks for in another, so that `make t` compiles nothing else.
UNIT := $O/unit_tests
T_SRC := $(sort $(foreach p,$(subst /,_,$T),$(foreach s,$(UNIT_SRC),$(if $(findstring $(firstword $(subst :, ,$p)),$s),$s))))
$O/unit_tests.suites: SUITES = $(UNIT_SRC)
$O/t.suites: SUITES = $(T_SRC)
BENCH := $O/bench/bench
RANKS := $O/tests/mpi/fleet_ranks
SECTIONS := $(patsubst %.c,$O/%,$(SECTION_SRC))
SIMGRID := $O/tests/oracle/simgrid_flows
# Fails allocations and system calls of the program: a driver, and what it preloads, which no sanitizer watches.
FAULT_DRIVER := $O/tests/faults/faults
FAULT_SHIM := $O/tests/faults/shim.so
FUZZERS := $(patsubst tests/fuzz/%.c,$O/fuzz/%,$(FUZZ_SRC))

# Figures that are drawn from the table of the main study.
FIGURES ?= speedup cost perf_per_cost split time utilization pareto nic
MAIN_STUDY := configs/studies/main.yaml
# Bars for each design: of the main study's ten totals, one fits on a page.
ROWS.split := --where total_GBps=500
ROWS.time := $(ROWS.split)
ROWS.utilization := $(ROWS.split)

# One word and the file per command; V=1 shows the whole command.
SAY = $(if $(V),,@echo '  $(if $(filter %.o,$@),CC  ,$(if $(filter %.a,$@),AR  ,$(if $(filter %.c,$@),GEN ,LINK)))  $@';)

.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
# A sub-make gets as many jobs as there are cores, unless -j was given.
SUBMAKE = +@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

all: $(WEFT) $(if $(filter release,$(BUILD)),$(LIBRARY)) ## build/release/weft and the library (default)

# Changes when the flags do: a line of the Makefile that compiles nothing costs no compiling.
$O/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(filter-out -Werror,$(ALL_CFLAGS))' | cmp -s - $@ || \
	    echo '$(CC) $(filter-out -Werror,$(ALL_CFLAGS))' >$@

$O/%.o: %.c $O/flags
	@mkdir -p $(@D)
	$(SAY)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# One run writes both; the second target only waits for it.
$O/gen/%.pb-c.c: %.proto Makefile
	@mkdir -p $O/gen
	$(SAY)protoc-c --c_out=$O/gen $<
$O/gen/%.pb-c.h: $O/gen/%.pb-c.c
	@:

$(PROTO_O): %.o: %.c
	$(SAY)$(CC) $(BASE_FLAGS) $(PKG_CFLAGS) -fPIC -fvisibility=hidden -w $(CFLAGS.$(BUILD)) $(CFLAGS) -c -o $@ $<

$O/workloads/readers/chakra.o: $(PROTO_H)

# cli/version.c asks every library for its version.
$(call objects,$(MPI_SRC) cli/version.c): ALL_CFLAGS += $(MPI_CFLAGS)

# Where the installed program finds networks, NPUs and models by name.
$O/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' >$@
# Tests are compiled once and run once, so they are compiled fast.
TEST_CFLAGS.release := -O1
TEST_CFLAGS.asan := -O0
$O/tests/unit/%.o: private ALL_CFLAGS += $(TEST_CFLAGS.$(BUILD))
$O/base/catalogue.o: private ALL_CFLAGS += -DWEFT_DATA_FOLDER='"$(PREFIX)/share/weft/configs"'
$O/base/catalogue.o: $O/prefix

$(LIB): $(call objects,$(OUR_SRC)) $(PROTO_O)
	@rm -f $@
	$(SAY)ar rcs $@ $^

# One member with the names of weft.h alone: no other of ours can clash with the host's.
$O/libweft.a: $(call objects,$(SHARED_SRC)) $(PROTO_O)
	@rm -f $@
	$(SAY)ld -r -d -o $O/libweft.o $^ && objcopy -w --keep-global-symbol='weft_*' $O/libweft.o && ar rcs $@ $O/libweft.o && rm $O/libweft.o

$O/libweft.so: $(call objects,$(SHARED_SRC)) $(PROTO_O) include/weft.map
	$(SAY)$(CC) -shared -fopenmp -Wl,--version-script=include/weft.map -Wl,-soname,$(SONAME) -Wl,-z,defs -o $O/libweft.so.$(VERSION) $(filter %.o,$^) $(LIB_LIBS)
	@ln -sf libweft.so.$(VERSION) $O/$(SONAME) && ln -sf $(SONAME) $@

# Script and style of a page of weft report, as bytes: without the line of their licence, which the page states, and without blanks
# at the begin of lines and around operators.
PAGE_SED := -e '/SPDX/d' -e 's/^ *//' -e 's/ \([-=+?:<>|&*]\{1,3\}\) /\1/g' -e 's/) {/){/g' -e 's/\(if\|for\|function\) (/\1(/g'
PAGE_O := $O/gen/page_files.o
$O/gen/page_files.c: cli/report.css cli/report.js Makefile
	@mkdir -p $(@D)
	$(SAY)for f in style:cli/report.css script:cli/report.js; do echo "const char html_$${f%%:*}[] = {"; \
	    sed $(PAGE_SED) "$${f#*:}" | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g'; echo '0};'; done >$@
$(PAGE_O): $O/gen/page_files.c
	$(SAY)$(CC) $(BASE_FLAGS) -include cli/html.h -fPIC -fvisibility=hidden $(CFLAGS.$(BUILD)) $(CFLAGS) -c -o $@ $<

$(WEFT): $(call objects,$(CLI_SRC)) $(PAGE_O) $(LIB)
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

# Written anew when the list changes, not when the files do: a program is linked again when it loses a suite.
$O/%.suites: FORCE
	@mkdir -p $(@D)
	@echo '$(SUITES)' | cmp -s - $@ || echo '$(SUITES)' >$@
FORCE:

$(UNIT): $(call objects,$(UNIT_SRC) $(RUNNER_SRC) $(SUPPORT_SRC)) $(LIB) $O/unit_tests.suites
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $(filter-out %.suites,$^) -lcmocka $(LIBS)

$O/t: $(call objects,$(T_SRC) $(RUNNER_SRC) $(SUPPORT_SRC)) $(LIB) $O/t.suites
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $(filter-out %.suites,$^) -lcmocka $(LIBS)

# Both take their networks from the fixtures of the unit tests, which need cmocka.
$(BENCH): $(call objects,$(BENCH_SRC) $(SUPPORT_SRC)) $(LIB)
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(SECTIONS): $O/%: $O/%.o $(call objects,$(filter-out $(SECTION_SRC),$(VALIDATE_SRC)) $(SUPPORT_SRC)) $(LIB)
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $^ -lcmocka $(LIBS)

$O/tests/oracle/write_cases: $(call objects,$(ORACLE_SRC) $(SUPPORT_SRC)) $(LIB)
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(RANKS): $(call objects,$(RANKS_SRC)) $(LIB)
	$(SAY)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

FAULT_CFLAGS := -std=c11 -O2 -g1 $(WARN)
$(FAULT_DRIVER): tests/faults/faults.c tests/faults/page.h Makefile
	@mkdir -p $(@D)
	$(SAY)$(CC) $(FAULT_CFLAGS) -o $@ $<

$(FAULT_SHIM): tests/faults/shim.c tests/faults/page.h Makefile
	@mkdir -p $(@D)
	$(SAY)$(CC) $(FAULT_CFLAGS) -shared -fPIC -fvisibility=hidden -o $@ $<

$(SIMGRID): tests/oracle/simgrid_flows.cpp Makefile
	@mkdir -p $(@D)
	$(SAY)$(CXX) -std=c++17 -O2 -Wall -Wextra -o $@ $< $$(pkg-config --cflags --libs simgrid)

# The whole program: its main() is in the fuzzer.
$O/fuzz/fuzz_program: $(call objects,$(filter-out cli/main.c,$(CLI_SRC))) $(PAGE_O)
$(FUZZERS): $O/fuzz/%: $O/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(SAY)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(LIB) $(LIBS)

run: deps ## install what is missing, build, run the main study, draw its figures
	$(SUBMAKE) all
	$(SUBMAKE) run-study

run-study:
	@mkdir -p out
	$(WEFT) sweep $(MAIN_STUDY) -f -o out/main.csv
	$(WEFT) sweep $(MAIN_STUDY) -f -o out/main.txt
	set -e; $(foreach f,$(FIGURES),$(WEFT) plot $f out/main.csv $(ROWS.$f) -f -o out/$f.svg;)
	@printf '\nDone. Look at:\n'; printf '  %s\n' out/main.csv out/main.txt $(FIGURES:%=out/%.svg)

test: ## install what is missing, then every test, plain and under ASan+UBSan
	@tests/install_deps.sh $(PACKAGES) $(TEST_PACKAGES)
	@CC='$(CC)' JOBS='$(JOBS)' tests/run_tests.sh $(TEST_BUILDS:%=build/%$(CLANG_TAG))

soak: ## the tests with their long counts: 1,000 kills, 2,000 damaged stores, every rank count, all random cases under ASan
	@tests/install_deps.sh $(PACKAGES) $(TEST_PACKAGES)
	@CC='$(CC)' JOBS='$(JOBS)' SOAK=1 LIMIT_S=3600 tests/run_tests.sh $(TEST_BUILDS:%=build/%$(CLANG_TAG))

test-programs: $(WEFT) $(UNIT) $(RANKS) $(FAULT_DRIVER) $(FAULT_SHIM) $(if $(filter release,$(BUILD)),$(LIBRARY))
	@:

unit-tests: $(UNIT)
	@:

t: ## build and run the suites that T names: make t T="sim/flow base_heap:order"
	@[ -n '$(T_SRC)' ] || { echo 'make t: no tests/unit/test_*.c has "$T" in its name' >&2; exit 2; }
	$(SUBMAKE) $O/t
	@ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 LC_ALL=C \
	    $O/t -j $(JOBS) $T

valgrind: ## unit tests under valgrind
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) valgrind'
	@CC='$(CC)' JOBS='$(JOBS)' UNIT_ONLY=1 \
	    WRAP='valgrind -q --error-exitcode=9 --leak-check=full' tests/run_tests.sh build/release$(CLANG_TAG)

golden: all ## rewrite the expected outputs of tests/cli and figures; read the diff before you commit it
	@for script in $(filter-out tests/cli/run.sh,$(wildcard tests/cli/*.sh)); do \
	    tests/cli/run.sh --update $(WEFT) $$script || exit 1; done
	$(SUBMAKE) unit-tests
	@scripts=$$(mktemp -d) && FIGURE_SCRIPTS=$$scripts $(UNIT) plots_figures >/dev/null && \
	    LC_ALL=C sort -o tests/figures/scripts.sum $$scripts/sums && rm -r "$$scripts"

coverage: deps ## line coverage of the library by the tests, per file and folder; fails below 92 %
	@find build/cov -name '*.gcda' -delete 2>/dev/null || :
	@CC=gcc JOBS='$(JOBS)' tests/run_tests.sh build/cov
	@tests/coverage.sh build/cov $(LIB_SRC)

mutants: deps ## raise every bound, make MUTANTS (60) small mistakes in every folder, and print what no test notices; SEED=n, IN="alloc sim/flow"
	$(SUBMAKE) all unit-tests
	@$(if $(IN),,JOBS='$(JOBS)' MUTANT_CC='$(CC) $(ALL_CFLAGS)' MUTANT_LIBS='$(LIBS)' tests/bounds.sh $O)
	@JOBS='$(JOBS)' CC='$(CC)' MUTANT_CC='$(CC) $(ALL_CFLAGS)' MUTANT_LIBS='$(LIBS)' tests/mutants.sh $O $(IN)

fuzz: ## run each fuzzer for FUZZ_SECONDS (60) under ASan and UBSan; findings and corpora stay in build/fuzzing
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(FUZZ_PACKAGES)'
	$(SUBMAKE) CC=clang BUILD=fuzz fuzzers
	@tests/fuzz.sh build/fuzz-clang $(FUZZ_SECONDS)

fuzz-long: ## a fast build until EXECUTIONS (10^8), in turns of FUZZ_SECONDS; then under ASan what it kept. Goes on when called again
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(FUZZ_PACKAGES)'
	$(SUBMAKE) CC=clang BUILD=fuzzfast fuzzers
	$(SUBMAKE) CC=clang BUILD=fuzz fuzzers
	@nice -n 19 tests/fuzz.sh -n $(EXECUTIONS) build/fuzzfast-clang $(FUZZ_SECONDS)
	@nice -n 19 tests/fuzz.sh build/fuzz-clang 0

fuzzers: $(FUZZERS) $(WEFT)
	@:

tsan: ## studies of every kind on 2 to 4 threads, under ThreadSanitizer; fails where threads race
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(FUZZ_PACKAGES)'
	$(SUBMAKE) CC=clang BUILD=tsan all
	@tests/tsan.sh build/tsan-clang/weft

faults: deps ## fail FAULTS (100000; 0: all) allocations and system calls of every command; SEED=n draws others
	$(SUBMAKE) $(WEFT) $(FAULT_DRIVER) $(FAULT_SHIM)
	@nice -n 15 $(FAULT_DRIVER) -n $(FAULTS) -s $(or $(SEED),1) -j $(JOBS) $(WEFT) $(FAULT_SHIM) .

bench: deps ## measure the speeds that README and docs promise, and what fell since the last release; SUBJECTS=split for one; KEEP=bench/last.txt
	$(SUBMAKE) bench-programs
	@! pkg-config --exists simgrid || $(MAKE) --no-print-directory $(SIMGRID)
	@WEFT=$(WEFT) SIMGRID=$(SIMGRID) KEEP='$(KEEP)' $(BENCH) $(SUBJECTS)

bench-programs: $(WEFT) $(BENCH)
	@:

validate: deps ## compare weft with published numbers; writes docs/validation.md
	$(SUBMAKE) validate-programs
	@FOLDER=$O/tests/validate tests/validate.sh

validate-programs: $(SECTIONS)
	@:

check-parquet: ## rows as Parquet by DuckDB, where node is; DUCKDB=FOLDER with node_modules/@duckdb/node-api
	$(SUBMAKE) $(WEFT)
	@FOLDER=$O DUCKDB='$(DUCKDB)' tests/parquet.sh

check-simgrid: ## flows against SimGrid itself, not only against its answers in tests/oracle/simgrid.csv
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(SIMGRID_PACKAGES)'
	$(SUBMAKE) $O/tests/oracle/write_cases $(SIMGRID) $(UNIT)
	$O/tests/oracle/write_cases >$O/simgrid_cases.txt
	$(SIMGRID) <$O/simgrid_cases.txt >$O/simgrid.csv
	WEFT_SIMGRID_CSV=$O/simgrid.csv $(UNIT) sim_flow_reference

check-slurm: ## job arrays and srun under a Slurm of one node, in a folder of its own; needs root
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(SLURM_PACKAGES)'
	$(SUBMAKE) $(WEFT) $(RANKS)
	@FOLDER=$O tests/slurm.sh

check-report: ## pages of weft report: well-formed, accessible, within budgets; in chromium where there is one. Pictures: build/release/report
	$(SUBMAKE) $(WEFT)
	@FOLDER=$O tests/report.sh

lint: ## formatting, static analysis (clang-tidy of what changed), warnings of both compilers
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(LINT_PACKAGES)'
	@tests/check_columns.sh
	@tests/check_docs.sh
	@tests/check_names.sh
	$(SUBMAKE) -k -Otarget lint-format lint-cppcheck lint-changed lint-scripts lint-titles lint-warnings
	@echo 'lint: clean'

lint-all: ## the same of all files, and everything compiled by both compilers
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(LINT_PACKAGES)'
	$(SUBMAKE) -k -Otarget lint-format lint-cppcheck lint-tidy lint-scripts lint-titles compilers
	@echo 'lint: clean'

lint-format:
	@clang-format --dry-run -Werror $(FORMATTED)

lint-cppcheck: $(PROTO_H)
	@mkdir -p build/cppcheck
	@cppcheck -q -j $(JOBS) --std=c11 -D_POSIX_C_SOURCE=200809L -I. --enable=warning,performance,portability \
	    --inline-suppr --error-exitcode=1 --cppcheck-build-dir=build/cppcheck $(ALL_SRC) $(FUZZ_SRC)

# One file per process: clang-tidy 14 carries state of va_list checks from one file to the next.
TIDY = xargs -r -P $(JOBS) -I '{}' clang-tidy --quiet '{}' -- $(BASE_FLAGS) -fopenmp $(PKG_CFLAGS) $(MPI_CFLAGS)
lint-tidy: $(PROTO_H)
	@printf '%s\n' $(LIB_SRC) $(CLI_SRC) $(BENCH_SRC) | $(TIDY)
lint-changed: $(PROTO_H)
	@tests/changed.sh $(LIB_SRC) $(CLI_SRC) $(BENCH_SRC) | $(TIDY)

lint-scripts:
	@shellcheck $(SCRIPTS)

# Of commits that are not on origin/main yet; none where that is not known.
lint-titles:
	@git log --format=%s origin/main..HEAD 2>/dev/null | \
	    { rc=0; while read -r title; do echo "$$title" | tests/check_title.sh - || rc=1; done; exit $$rc; }

# What `make test` compiles has had the warnings of gcc, if WERROR is set.
lint-warnings: $(PROTO_H)
	@printf '%s\n' $(ALL_SRC) $(FUZZ_SRC) | xargs -P $(JOBS) -n 8 clang -fsyntax-only $(FRONT_FLAGS)
	@printf '%s\n' $(filter-out $(LIB_SRC) $(CLI_SRC) $(TEST_SRC),$(ALL_SRC) $(FUZZ_SRC)) | \
	    xargs -P $(JOBS) -n 8 gcc -fsyntax-only $(FRONT_FLAGS)
FRONT_FLAGS = $(BASE_FLAGS) -fopenmp $(WARN) -Werror $(PKG_CFLAGS) $(MPI_CFLAGS)

compilers: ## compile everything with gcc and with clang, warnings are errors
	$(SUBMAKE) CC=gcc BUILD=werror all-objects
	$(SUBMAKE) CC=clang BUILD=werror all-objects

all-objects: $(call objects,$(ALL_SRC) $(FUZZ_SRC))
	@:

count: ## lines, files, structs, names and cycles of includes; tests/count.sh -v lists them
	@tests/count.sh

docs: ## README and docs/ as a site with search, in build/site
	$(SUBMAKE) deps PACKAGES=mkdocs
	@rm -rf build/pages build/site
	@mkdir -p build/pages
	@tar c README.md CONTRIBUTING.md SECURITY.md CHANGES.md LICENSE docs configs examples tests/reference | tar x -C build/pages
	@mkdocs build -q || { mkdocs build; exit 1; } # -q leaves out the warning that ends it
	@echo 'docs: build/site/index.html'

hooks: ## have git check formatting, layers and the title of each commit
	git config core.hooksPath tests/hooks

format: ## clang-format in place
	clang-format -i $(FORMATTED)

INSTALLED = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' ZSHDIR='$(ZSHDIR)' tests/install.sh
install: all ## copy program, library, manual, completion, schemas and configs below $(DESTDIR)$(PREFIX)
	@$(INSTALLED) install $O $(VERSION)

uninstall: ## remove what install copied
	@$(INSTALLED) uninstall $O $(VERSION)

# The same bytes wherever and whenever it is made: in the order of names, owned by 0, of the time of the commit.
TARBALL := build/weft-$(VERSION).tar
dist: ## build/weft-VERSION.tar.gz of the committed files, always the same bytes
	@mkdir -p build
	git -c tar.umask=0022 archive --prefix=weft-$(VERSION)/ -o $(TARBALL) HEAD
	gzip -9nf $(TARBALL)

deb: ## Debian packages of the committed files in build/deb: weft, libweft0.2, libweft-dev, python3-weft
	$(SUBMAKE) deps PACKAGES='$(PACKAGES) $(DEB_PACKAGES)'
	$(SUBMAKE) dist
	@rm -rf build/deb
	@mkdir -p build/deb
	tar -xf $(TARBALL).gz -C build/deb
	cd build/deb/weft-$(VERSION) && MAKEFLAGS= DEB_BUILD_OPTIONS=parallel=$(JOBS) dpkg-buildpackage -us -uc
	lintian --fail-on error,warning build/deb/weft_*.changes

check-deb: deb ## packages on a bare Debian, in a folder: report, new, keys, completion, import weft; needs root and the network
	$(SUBMAKE) deps PACKAGES=debootstrap
	@tests/deb.sh build/deb

deps: ## install the Debian packages that are missing
	@tests/install_deps.sh $(PACKAGES)

clean: ## remove build/ and out/
	rm -rf build out

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  %-10s %s\n", $$1, $$2 }' Makefile

.PHONY: all run run-study test soak test-programs unit-tests t FORCE valgrind golden coverage faults fuzz fuzz-long fuzzers tsan mutants bench bench-programs validate \
    check-parquet check-simgrid check-slurm check-report validate-programs lint lint-all lint-format lint-cppcheck lint-tidy lint-changed \
    lint-scripts lint-titles lint-warnings compilers all-objects count docs hooks format install \
    uninstall dist deb check-deb deps clean help

-include $(patsubst %.c,$O/%.d,$(ALL_SRC) $(FUZZ_SRC))
