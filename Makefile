# Tenon: build, test, run. `make help` lists the targets.
#
# Output goes to build/$(VARIANT)/. Every room's *.c, *.re and *.y is found by name, so a new file
# needs no line here. VARIANT: release (default), asan (ASan and UBSan), cov (gcov), tsan.

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
ifneq ($(VARIANT),release)
DEFS := -D_GNU_SOURCE
endif
# Generated lexers and parsers (build/) are compiled with the same flags; foreign warnings are off.
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(VFLAGS_$(VARIANT)) $(WARN) $(WERROR) $(DEFS) -pthread -MMD -MP \
	-Iruntime -I. -I$(B)
LDFLAGS_ALL = $(LDFLAGS) $(VFLAGS_$(VARIANT)) -pthread
RE2C := re2c -W -Werror --no-generation-date --no-debug-info
LIBS := -lwebsockets -lev -llmdb -lcbor -lpcre2-8 -lcrypto -lcsv -lm

ROOMS := base wire schema core store net
# sources of a room: hand-written C, and C that re2c and lemon make of *.re and *.y
sources = $(wildcard $(1)/*.c) $(patsubst %.re,$(B)/%.re.c,$(wildcard $(1)/*.re)) \
	$(patsubst %.y,$(B)/%.c,$(wildcard $(1)/*.y))
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

build/tenon: $(B)/tenon
	@ln -sf $(VARIANT)/tenon $@
build/tenon-gen: $(B)/tenon-gen
	@ln -sf $(VARIANT)/tenon-gen $@

$(B)/tenon: $(MAIN_OBJS) $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)
$(B)/tenon-gen: $(CODEGEN_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcrypto -lm
$(B)/libtenon.a: $(LIB_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(B)/%.o: $(B)/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I$(dir $*) -Wno-unused-parameter -Wno-unused-variable -Wno-missing-prototypes -Wno-sign-compare \
		-Wno-unused-but-set-variable -Wno-shadow -Wno-implicit-fallthrough -c -o $@ $<
$(B)/%.re.c: %.re
	@mkdir -p $(@D)
	$(RE2C) -o $@ $<
# lemon writes beside its input, so it works on a copy under build/, always by the same path
$(B)/%.c $(B)/%.h: %.y
	@mkdir -p $(@D)
	@cp $< $(B)/$<
	lemon -l -q -d$(@D) $(B)/$<
.SECONDARY:

.PHONY: objects
objects: $(LIB_OBJS) $(MAIN_OBJS) $(CODEGEN_OBJS)

# ---- tests: every tests/unit/test_x.c is a program of its own that writes TAP
UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
CODEGEN_LIB_OBJS := $(filter-out $(B)/codegen/main.o,$(CODEGEN_OBJS))
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libtenon.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(LIBS)
# tests/codegen/test_x.c: of the generator's parts
CODEGEN_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/codegen/test_*.c))
$(B)/tests/codegen/%: $(B)/tests/codegen/%.o $(CODEGEN_LIB_OBJS) $(BASE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka -lcrypto -lm

.PHONY: check-unit
check-unit: $(UNIT_TESTS) $(CODEGEN_TESTS) ## unit tests only
	@tests/run $(B)/unit.log $(UNIT_TESTS) $(CODEGEN_TESTS)

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: format format-check
FORMATTED := $(wildcard runtime/*.[ch] runtime/*/*.[ch] codegen/*.[ch] tests/*/*.[ch])
format: ## format all hand-written C
	clang-format -i $(FORMATTED)
format-check: ## fail if a file is not formatted
	clang-format --dry-run -Werror $(FORMATTED)

.PHONY: clean
clean: ## remove build/
	rm -rf build

-include $(shell find build/$(VARIANT) -name '*.d' 2>/dev/null)
