# Tenon: build, test, run. `make help` lists the targets.
#
# Output goes to build/$(VARIANT)/. Every room's *.c, *.re and *.y is found by name, so a new file
# needs no line here. VARIANT: release (default), asan (ASan and UBSan), tsan,
# cov (gcov), fuzz (clang).

# make must not try yacc on a .y
MAKEFLAGS += --no-builtin-rules

VARIANT ?= release
B := build/$(VARIANT)
CC ?= gcc
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wimplicit-fallthrough -Wvla
WERROR ?=
DEFS := -D_GNU_SOURCE -DNDEBUG
VFLAGS_release :=
VFLAGS_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
VFLAGS_tsan := -fsanitize=thread
VFLAGS_cov := --coverage -O0
VFLAGS_fuzz := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
ifneq ($(VARIANT),release)
DEFS := -D_GNU_SOURCE
endif
# Generated lexers and parsers (build/) are compiled with the same flags; foreign warnings are off.
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(VFLAGS_$(VARIANT)) $(WARN) $(WERROR) $(DEFS) -pthread -MMD -MP \
	-Iruntime -I. -I$(B)
LDFLAGS_ALL = $(LDFLAGS) $(VFLAGS_$(VARIANT)) -pthread
RE2C := re2c -W -Werror --no-generation-date --no-debug-info
LIBS := -lwebsockets -lev -llmdb -lcbor -lpcre2-8 -lcjose -ljansson -lssl -lcrypto -lcsv -lmicrohttpd -lm

ROOMS := base wire schema core store net manifest auth
# sources of a room: hand-written C, and C that re2c and lemon make of *.re and *.y
sources = $(wildcard $(1)/*.c) $(patsubst %.re,$(B)/%.re.c,$(wildcard $(1)/*.re)) \
	$(patsubst %.y,$(B)/%.c,$(wildcard $(1)/*.y)) \
	$(patsubst %.json,$(B)/%.json.c,$(wildcard $(1)/*.schema.json))
objects = $(patsubst %.c,$(B)/%.o,$(patsubst $(B)/%,%,$(call sources,$(1))))

BASE_OBJS := $(call objects,runtime/base)
WIRE_OBJS := $(call objects,runtime/wire)
# edges and tables without the dispatch tables: needs no handler
GENERATED_OBJS := $(patsubst %.c,$(B)/%.o,$(filter-out %/dispatch.c,$(wildcard generated/*.c generated/*/*.c))) \
	$(patsubst %.re,$(B)/%.re.o,$(wildcard generated/*.re))
DISPATCH_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard generated/*/dispatch.c))
LIB_OBJS := $(foreach room,$(ROOMS),$(call objects,runtime/$(room))) $(GENERATED_OBJS) $(DISPATCH_OBJS)
MAIN_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard runtime/*.c))
CODEGEN_OBJS := $(call objects,codegen)

.PHONY: all
all: build/tenon build/tenon-gen $(B)/libtenon.a ## build the server, the generator and libtenon.a

# components that are part of the program: make LINKED="mine.c other.c" (runtime/linked.h)
LINKED ?=
linked_name = $(subst -,_,$(basename $(notdir $(1))))
LINKED_OBJS := $(foreach source,$(LINKED),$(B)/linked/$(call linked_name,$(source)).o)
define link_component
$(B)/linked/$(call linked_name,$(1)).o: $(1) runtime/tenon.h
	@mkdir -p $$(@D)
	$$(CC) -std=c11 $$(CFLAGS) $$(VFLAGS_$$(VARIANT)) $$(WARN) $$(WERROR) -D_GNU_SOURCE -Iruntime \
		-Dtenon_component=tenon_component_$(call linked_name,$(1)) \
		-Dtenon_component_abi=tenon_component_abi_$(call linked_name,$(1)) -c -o $$@ $$<
endef
$(foreach source,$(LINKED),$(eval $(call link_component,$(source))))
# a list that did not change keeps its time, and so does the program
$(B)/linked.c: ALWAYS
	@mkdir -p $(@D)
	@{ echo '#include "linked.h"'; \
		for name in $(foreach source,$(LINKED),$(call linked_name,$(source))); do \
			echo "int tenon_component_$$name(struct tenon *tenon);"; done; \
		echo 'const struct linked_component linked_components[] = {'; \
		for name in $(foreach source,$(LINKED),$(call linked_name,$(source))); do \
			echo "    {\"linked:$$name\", tenon_component_$$name},"; done; \
		echo '    {0, 0}};'; } >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
.PHONY: ALWAYS
ALWAYS:
MAIN_OBJS += $(B)/linked.o $(LINKED_OBJS)

build/tenon: $(B)/tenon
	@ln -sf $(VARIANT)/tenon $@
build/tenon-gen: $(B)/tenon-gen
	@ln -sf $(VARIANT)/tenon-gen $@

# components find what tenon.h declares in the program, and nothing else of it
EXPORT := -Wl,--export-dynamic-symbol=tenon_*
$(B)/tenon: $(MAIN_OBJS) $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) $(EXPORT) -o $@ $^ $(LIBS)
$(B)/tenon-gen: $(CODEGEN_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcrypto -lm
# the CLI's parts without main, so that tests can link them
$(B)/libcli.a: $(filter-out $(B)/runtime/main.o,$(MAIN_OBJS))
	@rm -f $@
	$(AR) rcs $@ $^
$(B)/libtenon.a: $(LIB_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

# what lemon declares is included by hand-written files, so it is made before any of them
LEMON_HEADERS := $(patsubst %.y,$(B)/%.h,$(wildcard runtime/*/*.y codegen/*.y))
$(B)/%.o: %.c | $(LEMON_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(B)/%.o: $(B)/%.c | $(LEMON_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I$(dir $*) -Wno-unused-parameter -Wno-unused-variable -Wno-missing-prototypes -Wno-sign-compare \
		-Wno-unused-but-set-variable -Wno-shadow -Wno-implicit-fallthrough -c -o $@ $<
# the schema of component.json as bytes of the program
$(B)/runtime/manifest/component.schema.json.c: runtime/manifest/component.schema.json
	@mkdir -p $(@D)
	@{ echo "#include <stdint.h>"; \
	echo "extern const unsigned char manifest_schema[]; extern const uint32_t manifest_schema_bytes;"; \
	echo "const unsigned char manifest_schema[] = {"; od -An -v -tu1 $< | sed "s/[0-9][0-9]*/&,/g"; \
	echo "};"; echo "const uint32_t manifest_schema_bytes = sizeof manifest_schema;"; } >$@
$(B)/%.re.c: %.re
	@mkdir -p $(@D)
	$(RE2C) -o $@ $<
# lemon writes beside its input, so it works on a copy under build/, always by the same path
$(B)/%.c $(B)/%.h: %.y
	@mkdir -p $(@D)
	@cp $< $(B)/$<
	lemon -l -q -d$(@D) $(B)/$<
.SECONDARY:

# components: of tenon.h alone
COMPONENTS := $(B)/examples/hello.so $(B)/conformance/fixture.so $(B)/tests/multi/live.so $(B)/tests/bench/stamp.so
$(B)/%.so: %.c runtime/tenon.h
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CFLAGS) $(WARN) $(WERROR) -D_GNU_SOURCE -fPIC -shared -Iruntime -o $@ $<
$(B)/conformance/fixture.so: conformance/fixture/fixture.c runtime/tenon.h
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CFLAGS) $(WARN) $(WERROR) -D_GNU_SOURCE -fPIC -shared -Iruntime -o $@ $<
build/conformance-fixture.so: $(B)/conformance/fixture.so
	@ln -sf $(VARIANT)/conformance/fixture.so $@
# for the transcripts of tests/wire/
build/hello.so: $(B)/examples/hello.so
	@ln -sf $(VARIANT)/examples/hello.so $@
.PHONY: examples
examples: $(B)/examples/hello.so ## build the example component

.PHONY: objects
objects: $(LIB_OBJS) $(MAIN_OBJS) $(CODEGEN_OBJS)

# ---- tests: every tests/unit/test_x.c is a program of its own that writes TAP
UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
CODEGEN_LIB_OBJS := $(filter-out $(B)/codegen/main.o,$(CODEGEN_OBJS))
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libcli.a $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(LIBS)
# letters of one kind are taken by the test itself
$(B)/tests/unit/test_mail: LDFLAGS += -Wl,--wrap=running_take_cancel
# their allocations fail one by one
$(addprefix $(B)/tests/unit/test_,access_memory core_memory component_memory manage_memory store_memory table_top): LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
# what goes out and other workers are made up: tests/unit/pending_rig.h
$(addprefix $(B)/tests/unit/test_,pending pending_answers pending_check logging): LDFLAGS += \
	-Wl,--wrap=call_send,--wrap=push_send,--wrap=mail_send,--wrap=bus_is_alive
# what goes out is written down
$(B)/tests/unit/test_live: LDFLAGS += -Wl,--wrap=call_send,--wrap=log_message_call,--wrap=pending_ask_call
# who follows is made up: tests/unit/fake_follow.h; commits fail
$(B)/tests/unit/test_stream_notify: LDFLAGS += \
	-Wl,--wrap=follow_begin,--wrap=follow_end,--wrap=follow_ready,--wrap=follow_stored,--wrap=store_submit
# tests/codegen/test_x.c: of the generator's parts
CODEGEN_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/codegen/test_*.c))
$(B)/tests/codegen/%: $(B)/tests/codegen/%.o $(CODEGEN_LIB_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka -lcrypto -lm

.PHONY: check-unit
check-unit: $(UNIT_TESTS) $(CODEGEN_TESTS) ## unit tests only
	@tests/run $(B)/unit.log $(UNIT_TESTS) $(CODEGEN_TESTS)

# what has threads, under ThreadSanitizer: the loop, the store, searches and their end
TSAN_TESTS := loop store_contract store_contract_more core_tools core_scans core_stop core_jobs core_cancel bus live component prompts completion
.PHONY: check-tsan check-tsan-run
check-tsan: ## unit tests of what has threads, under ThreadSanitizer
	@$(MAKE) --no-print-directory -s check-tsan-run VARIANT=tsan
check-tsan-run: $(TSAN_TESTS:%=$(B)/tests/unit/test_%)
	@tests/run $(B)/tsan.log $^

# Programs that look at the running server from outside: tests/wire/ is one, each
# tests/multi/test_x.c another. They share tests/lib/ and need the binary only when they run.
TEST_LIB_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/lib/*.c))
OUTSIDE_TESTS := $(B)/tests/wire/run_wire $(patsubst %.c,$(B)/%,$(wildcard tests/multi/test_*.c))
$(B)/tests/wire/run_wire: $(patsubst %.c,$(B)/%.o,$(wildcard tests/wire/*.c)) $(TEST_LIB_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^
$(B)/tests/multi/%: $(B)/tests/multi/%.o $(TEST_LIB_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^
# they look into the store themselves, or speak TLS
$(addprefix $(B)/tests/multi/test_,kill_change kill_jobs follow follow_kill attack_tls): %: %.o $(TEST_LIB_OBJS) $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)
# tests/bench/x.c: built by tests/bench/run
$(B)/tests/bench/bench_parse: $(B)/tests/bench/messages.o
$(B)/tests/bench/load: $(B)/tests/bench/asker.o
$(B)/tests/bench/bench_streams: $(patsubst %,$(B)/tests/bench/%.o,asker latency report rig)
$(B)/tests/bench/bench_subscriptions: $(patsubst %,$(B)/tests/bench/%.o,asker report rig)
$(B)/tests/bench/make_rows $(B)/tests/bench/bench_data $(B)/tests/bench/bench_lmdb: $(B)/tests/bench/rows.o
$(B)/tests/bench/%: $(B)/tests/bench/%.o $(TEST_LIB_OBJS) $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)
.PHONY: check-wire check-multi
check-wire: $(B)/tenon build/hello.so $(B)/tests/wire/run_wire ## the transcripts of tests/wire/ against a server
	@TENON=$(B)/tenon tests/run $(B)/wire.log $(B)/tests/wire/run_wire
check-multi: $(B)/tenon $(OUTSIDE_TESTS) ## workers and servers killed, restarted, shared
	@TENON=$(B)/tenon tests/run $(B)/multi.log $(filter-out %/run_wire,$(OUTSIDE_TESTS))
.PHONY: nightly
nightly: $(B)/tenon $(B)/tests/multi/test_follow_kill $(B)/tests/multi/live.so ## what takes too long for every day: subscribers for ten minutes, while workers and servers are killed
	@TENON=$(B)/tenon TENON_LIVE=$(B)/tests/multi/live.so TENON_FOLLOW_KILL_S=600 TENON_TEST_TIMEOUT=900 tests/run $(B)/nightly.log $(B)/tests/multi/test_follow_kill

# tests/judge/: an outside validator (conformance/judge/) asks the tables about many messages
JUDGE := $(B)/tests/judge/verdicts
$(JUDGE): $(JUDGE).o $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)
.PHONY: check-judge
check-judge: $(JUDGE) ## the generated tables against an outside validator
	@VERDICTS=$(JUDGE) tests/run $(B)/judge.log tests/judge/judge.sh

# tests/*.sh and tests/*/*.sh write TAP too. They find the binaries in $TENON, $TENON_ASAN and
# $TENON_GEN. What only helps them ends in .bash. Those of BESIDE_TESTS take long and
# run beside the others.
BESIDE_TESTS := tests/fuzz_json.sh
SCRIPT_TESTS := $(filter-out tests/bench/% tests/fuzz/% $(BESIDE_TESTS),$(wildcard tests/*.sh tests/*/*.sh))
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
# the corpus through a fuzz target without the fuzzer: tests/fuzz/replay.c is its main
FUZZ_REPLAYS := $(FUZZ_SOURCES:tests/fuzz/%.c=$(B)/tests/fuzz/replay/%)
# of the generator's parts
$(B)/tests/fuzz/replay/fuzz_generate $(B)/tests/fuzz/fuzz_generate: $(CODEGEN_LIB_OBJS)
$(B)/tests/fuzz/replay/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(B)/libcli.a $(B)/libtenon.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

.PHONY: check check-build check-tests
check: deps ## everything that can be tested on this machine; closes with one line
	@$(MAKE) --no-print-directory -s check-build WERROR=-Werror VARIANT=release && \
	$(MAKE) --no-print-directory -s check-build WERROR=-Werror VARIANT=asan || \
	{ echo "the build failed: nothing was tested"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
	@$(MAKE) --no-print-directory -s check-tests
check-build: $(B)/tenon $(B)/tenon-gen $(COMPONENTS) build/conformance-fixture.so build/hello.so $(UNIT_TESTS) $(CODEGEN_TESTS) $(FUZZ_REPLAYS) $(OUTSIDE_TESTS) $(JUDGE)
asan = $(patsubst $(B)/%,build/asan/%,$(1))
check-tests: export TENON := $(CURDIR)/build/release/tenon
check-tests: export TENON_ASAN := $(CURDIR)/build/asan/tenon
check-tests: export TENON_GEN := $(CURDIR)/build/release/tenon-gen
check-tests:
	@tests/run build/check.log $(addprefix --beside ,$(BESIDE_TESTS)) $(UNIT_TESTS) $(CODEGEN_TESTS) $(OUTSIDE_TESTS) \
		$(call asan,$(UNIT_TESTS) $(CODEGEN_TESTS) $(FUZZ_REPLAYS)) $(SCRIPT_TESTS)

.PHONY: conformance bench bench-quick bench-data bench-streams bench-subscriptions
conformance: all build/conformance-fixture.so ## outside clients and suites against a server with two workers
	@conformance/run
bench: all ## measure; takes minutes
	@tests/bench/run
bench-quick: all ## measure for a minute
	@tests/bench/run --quick
bench-data: all ## measure tables of BENCH_ROWS rows (1000000); fails if a bound is broken
	@tests/bench/data
bench-streams: $(B)/tenon $(B)/tests/bench/bench_streams $(B)/tests/bench/stamp.so ## measure 10,000 open streams, first events, cancellations; fails if a target is missed
	@TENON=$(B)/tenon TENON_STAMP=$(B)/tests/bench/stamp.so $(B)/tests/bench/bench_streams
bench-subscriptions: $(B)/tenon $(B)/tests/bench/bench_subscriptions $(B)/tests/bench/stamp.so ## measure how soon a commit is told, and what 10,000 subscriptions to other rows cost; fails if a target is missed
	@TENON=$(B)/tenon TENON_STAMP=$(B)/tests/bench/stamp.so $(B)/tests/bench/bench_subscriptions

# ---- fuzzing: every tests/fuzz/fuzz_x.c holds one LLVMFuzzerTestOneInput; needs clang
FUZZ_SECONDS ?= 30
FUZZERS := $(FUZZ_SOURCES:tests/fuzz/%.c=$(B)/tests/fuzz/%)
.PHONY: fuzz fuzz-run
fuzz: ## fuzz each parser for FUZZ_SECONDS
	@$(MAKE) --no-print-directory fuzz-run VARIANT=fuzz CC=clang
fuzz-run: $(FUZZERS)
	@tests/fuzz/run $(FUZZ_SECONDS) $(FUZZERS)
ifeq ($(VARIANT),fuzz)
# of the readers alone, as `make check` builds it
$(B)/tests/fuzz/fuzz_json: $(B)/tests/fuzz/fuzz_json.o $(WIRE_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(LIBS)
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(B)/libcli.a $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
endif

.PHONY: coverage size
coverage: ## unit tests with gcov; prints the share of lines run
	@$(MAKE) --no-print-directory -s check-unit VARIANT=cov
	@tests/coverage build/cov
size: all ## text bytes by room, against the budgets
	@tests/size $(B)

# ---- the generator
.PHONY: generate
generate: build/tenon-gen ## spec/ to generated/; twice in a row changes nothing
	build/tenon-gen generate

# ---- what a fresh machine needs (Debian 12)
BUILD_PACKAGES := gcc libc6-dev re2c lemon libwebsockets-dev libev-dev liblmdb-dev libcbor-dev \
	libpcre2-dev libssl-dev libcjose-dev libjansson-dev libcurl4-openssl-dev libcsv-dev \
	libmicrohttpd-dev iso-codes
CHECK_PACKAGES := libcmocka-dev clang libclang-rt-14-dev clang-format valgrind curl jq openssl wrk \
	ca-certificates
.PHONY: deps deps-build
deps: ## install what is missing from Debian's packages (root or sudo)
	@.ci/deps $(BUILD_PACKAGES) $(CHECK_PACKAGES) node
deps-build:
	@.ci/deps $(BUILD_PACKAGES)

# ---- use
.PHONY: run install uninstall
run: deps-build ## build, load the sample data once, serve it on 127.0.0.1:8750
	@$(MAKE) --no-print-directory -s all
	@runtime/sample/run
install: all ## to $(DESTDIR)$(PREFIX)
	install -D -m 755 $(B)/tenon $(DESTDIR)$(PREFIX)/bin/tenon
	install -D -m 755 $(B)/tenon-gen $(DESTDIR)$(PREFIX)/bin/tenon-gen
	install -D -m 644 $(B)/libtenon.a $(DESTDIR)$(PREFIX)/lib/libtenon.a
	install -D -m 644 runtime/tenon.h $(DESTDIR)$(PREFIX)/include/tenon.h
uninstall: ## what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/tenon $(DESTDIR)$(PREFIX)/bin/tenon-gen \
		$(DESTDIR)$(PREFIX)/lib/libtenon.a $(DESTDIR)$(PREFIX)/include/tenon.h

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: format format-check
FORMATTED := $(wildcard examples/*.c conformance/fixture/*.c runtime/*.[ch] runtime/*/*.[ch] codegen/*.[ch] tests/*/*.[ch])
format: ## format all hand-written C
	clang-format -i $(FORMATTED)
format-check: ## fail if a file is not formatted
	clang-format --dry-run -Werror $(FORMATTED)

.PHONY: clean
clean: ## remove build/
	rm -rf build

-include $(shell find build/$(VARIANT) -name '*.d' 2>/dev/null)
