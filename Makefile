# Everything a contributor runs. Nothing has to be installed by hand but Go, a
# C compiler (for -race), Node and npm; tools go to .bin at the versions below.
# With Python 3.11 or newer, tests of its SDK run, too.

GOLANGCI_VERSION    := v2.15.0
GOFUMPT_VERSION     := v0.12.0
STATICCHECK_VERSION := v0.8.1
KEYCLOAK_VERSION    := 26.7.3
KEYCLOAK_SHA256     := 27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f
BIN              := $(CURDIR)/.bin
NPM_STAMP        := test/npm/node_modules/.stamp
PYTHON           ?= python3
PYTHON_VENV      := test/python/venv
SUITE_STAMP      := test/conformance/node_modules/.stamp
PEERS_STAMP      := test/codegen/peers/node_modules/.stamp
HOSTS_STAMP      := test/hosts/node_modules/.stamp
HOSTS_SHORT      := test/hosts/short/node_modules/.stamp
BRIDGES_STAMP    := test/load/bridges/node_modules/.stamp
CONFORMANCE      ?=
BENCH            ?=
CODEGEN          ?=
FUZZTIME         ?= 3s
# The adapter for the official SDK is a module of its own.
GOSDK            := runtime/gosdk
# So is the test with a collector, which needs a hundred others.
COLLECTOR        := test/collector

.PHONY: all build test test-short npm python terminals screens terminal-picture lint tools fmt generate tidy tidy-check vet fuzz coldstart conformance conformance-short bench bench-against bench-bridges bench-peers codegen-report staticcheck microbench eras eras-random eras-breaks policy-random policy-breaks ownership-worlds identity crossings unknown-keys codegen-random faults faults-short soak attacks attacks-short attacks-breaks keycloak drawing cli-corpus cli-property servers packages hosts hosts-short registry-copy registry-corpus search-quality search-cost search-reloads wordnet word-vectors bench-context token-counts nightly policy-suites audit-suites view-suites audit-changes audit-kill collector clean ci

all: build

build:
	CGO_ENABLED=0 go build -trimpath -o mcpctl ./cmd/mcpctl

# Unit tests, test scripts and the real npm servers, all under the race detector, in one
# run. Then, without it, what it would only slow down or disturb: the generator, policies
# and the proof of logs, whose few tests with goroutines run under it as well; the matrix of
# eras, which make nightly runs under it; the judges of generated code, pages, pictures,
# screens and rooms; what tools say of themselves; allocation counts. Many tests wait for
# processes and clocks, so twice as many as there are cores run at once, in one and a half
# times as many packages.
test: npm python staticcheck terminals
	CGO_ENABLED=1 go test -race -tags integration -timeout 8m -p $$((3 * $$(getconf _NPROCESSORS_ONLN) / 2)) -parallel $$((2 * $$(getconf _NPROCESSORS_ONLN))) $$(go list ./... | grep -v -e /scaffold/gogen -e /test/reading -e /test/picture -e /access/policy$$ -e /audit/verify -e /audit/merkle -e /test/rooms -e /test/screens -e /test/eras -e /runtime/clihelp)
	CGO_ENABLED=1 go test -race ./scaffold/gogen ./runtime/access/policy ./runtime/audit/verify -run '^(TestGolden|TestOrder|TestMany|TestWhileWritten)$$'
	CGO_ENABLED=1 go -C $(GOSDK) test -race ./...
	go test -tags integration -timeout 8m ./scaffold/gogen/... ./test/codegen ./test/reading ./test/picture ./runtime/access/policy ./runtime/audit/verify ./runtime/audit/merkle ./test/rooms ./test/screens ./test/eras ./runtime/clihelp
	go test ./runtime/proxy -run '^TestOwnership$$' -worlds 10000
	test/tools/alloctests.sh

# Without npm, for quick rounds.
test-short:
	go test ./...
	go -C $(GOSDK) test ./...

npm: $(NPM_STAMP)
$(NPM_STAMP): test/npm/package.json test/npm/package-lock.json test/npm/.npmrc
	cd test/npm && npm ci --no-progress
	touch $@

# The Python SDK. The tests that use it are skipped where Python is missing, is too old
# or cannot install it, and say so.
python:
	@test/tools/python.sh $(PYTHON) $(PYTHON_VENV) test/python/requirements.txt

lint: tools
	@files=$$($(BIN)/gofumpt -l .); [ -z "$$files" ] || { printf 'not gofumpt-clean:\n%s\n' "$$files" >&2; exit 1; }
	$(BIN)/golangci-lint run
	cd $(GOSDK) && $(BIN)/golangci-lint run

tools:
	@test/tools/install.sh $(BIN) golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $(GOLANGCI_VERSION)
	@test/tools/install.sh $(BIN) gofumpt mvdan.cc/gofumpt $(GOFUMPT_VERSION)

# tmux and the shells that tests use, where they can be installed.
terminals:
	@test/tools/terminals.sh

# What commands print, on terminals of three widths, written anew: look at the diff.
screens: terminals
	go test ./test/screens -update

# docs/terminal.svg, the picture in README.md, from a real run.
terminal-picture: terminals build
	go run ./test/picture -mcpctl $(CURDIR)/mcpctl

# What generated packages are looked at with, by go test ./test/codegen.
staticcheck:
	@test/tools/install.sh $(BIN) staticcheck honnef.co/go/tools/cmd/staticcheck $(STATICCHECK_VERSION)

fmt: tools
	$(BIN)/gofumpt -w .
	$(BIN)/golangci-lint fmt

# Generated packages call mcpctl by its name, as those of users do.
generate:
	go build -o $(BIN)/mcpctl ./cmd/mcpctl
	PATH="$(BIN):$$PATH" go generate ./...

tidy:
	go mod tidy
	go -C $(GOSDK) mod tidy
	go -C test/tokens mod tidy
	go -C $(COLLECTOR) mod tidy

# All as they would be tidied.
tidy-check:
	go mod tidy -diff
	go -C $(GOSDK) mod tidy -diff
	go -C test/tokens mod tidy -diff

# The product has to build and vet on each system it is released for. lint vets
# it for the system it runs on, so CI asks for the others.
VET_SYSTEMS ?= linux darwin windows
vet:
	for os in $(VET_SYSTEMS); do echo "vet $$os"; CGO_ENABLED=0 GOOS=$$os go vet ./... && CGO_ENABLED=0 GOOS=$$os go -C $(GOSDK) vet ./... || exit 1; done

fuzz:
	test/tools/fuzz.sh $(FUZZTIME)

# Generated types on random schemas and values, more than go test tries, from a
# seed of one's own, and the validator that judges them held to Python's
# jsonschema where there is one.
CODEGEN_SEED    ?= $(shell date +%s)
CODEGEN_SCHEMAS ?= 1000
codegen-random:
	@echo "seed $(CODEGEN_SEED)"
	go test ./test/codegen -run '^TestRandom$$' -timeout 30m -random-seed $(CODEGEN_SEED) -random-schemas $(CODEGEN_SCHEMAS)
	@if python3 -c 'import jsonschema' 2>/dev/null; then go test ./test/codegen/trial -run '^TestVerdicts$$' -python python3; \
		else echo "no python3 with jsonschema: the validator is not held to it"; fi

# The audit log arrives at the receiver of a real OpenTelemetry collector, whose modules are
# fetched for that alone.
collector:
	go -C $(COLLECTOR) test ./... -count 1

# One call's time against the bare Go SDK doing the same, and what a saved token costs.
coldstart: npm build
	go run ./test/coldstart -mcpctl $(CURDIR)/mcpctl -server $(CURDIR)/test/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js

# The official conformance suite against mcpctl, the whole table; rows and more
# output with CONFORMANCE='-rows http,client -v'.
conformance: $(SUITE_STAMP)
	go build -o $(BIN)/conformance ./test/conformance
	$(BIN)/conformance $(CONFORMANCE)

# The rows of it that fit into CI.
conformance-short: $(SUITE_STAMP)
	go build -o $(BIN)/conformance ./test/conformance
	$(BIN)/conformance -short

# The suite brings its own Node: npm may say that the one here is too old.
$(SUITE_STAMP): test/conformance/package.json test/conformance/package-lock.json test/conformance/.npmrc
	cd test/conformance && npm ci --no-progress --loglevel=error
	touch $@

# What docs/performance.md promises of serve and bridge, measured; the page is written
# anew. A quick look: BENCH=-short. Without npm's registry the one row that
# needs a server from there is left out.
bench:
	-@$(MAKE) --no-print-directory npm
	go run ./test/load/bench $(BENCH)

# Another build of mcpctl, OLD=FILE, and this one with the same loads in turn: the
# table of docs/performance.md that says whether calls cost more than before.
bench-against:
	go run ./test/load/bench -against $(OLD) $(BENCH)

# mcpctl bridge beside other bridges with the same loads in turn, in both directions:
# the table of docs/performance.md. They are installed for that alone.
bench-bridges: $(BRIDGES_STAMP)
	go run ./test/load/bench -bridges $(BENCH)

# mcpctl beside programs that do the same: proxies and command lines. What no registry
# gives is named by path: BENCH='-peer "NAME VERSION=PATH,DIALECT"'.
bench-peers: $(BRIDGES_STAMP)
	go run ./test/load/bench -peers $(BENCH)

BRIDGES := test/load/bridges
$(BRIDGES_STAMP): $(BRIDGES)/package.json $(BRIDGES)/package-lock.json $(BRIDGES)/.npmrc $(BRIDGES)/requirements.txt
	cd $(BRIDGES) && npm ci --no-progress --loglevel=error
	python3 -m venv --clear $(BIN)/bridges
	$(BIN)/bridges/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(BRIDGES)/requirements.txt
	touch $@

# Generated clients against the judgements of others, beside other generators:
# docs/generate-report.md is written anew. What needs no other generator is part
# of make test. One part again: CODEGEN='-only scale'.
codegen-report: npm staticcheck $(PEERS_STAMP)
	go run ./test/codegen $(CODEGEN)

$(PEERS_STAMP): test/codegen/peers/package.json test/codegen/peers/package-lock.json test/codegen/peers/.npmrc
	cd test/codegen/peers && npm ci --no-progress --loglevel=error
	touch $@

# Every Go benchmark, briefly.
microbench:
	go test -run '^$$' -bench . -benchtime 20ms ./...

# Random worlds of servers that list names and URIs in each other's forms: nothing
# of one ever reaches another.
ownership-worlds:
	go test ./runtime/proxy -run '^TestOwnership$$' -worlds 1000000 -timeout 3h -v

# 10,000 tokens a second with unknown keys, for half a minute: how often the issuer is
# asked for its keys, and how much longer others wait.
unknown-keys:
	go test ./cmd/mcpctl -run '^TestUnknownKeys$$' -flood 30s -v

# Two principals call the same servers side by side: 10,000 calls; make test has a few.
crossings:
	go test -race ./runtime/proxy -run '^TestNothingCrosses$$' -crossings 10000 -count 1 -v

# What docs/eras.md shows, and that mistakes would show there.
eras:
	go test ./test/eras -run 'TestEras$$' -update

# 10,000 cases of two clients with equal ids, of which nothing may cross.
eras-random:
	go test ./test/eras -run TestNobodyElse -cases 10000 -timeout 30m -v

# A million random requests: verdict tables, plain evaluation and explanations decide as
# cedar does, and rules as their twins, written by hand in Cedar. POLICY_SEED repeats a run.
POLICY_SEED ?= $(shell date +%s)
policy-random:
	@echo "seed $(POLICY_SEED)"
	go test ./runtime/access/policy -run '^TestRandom$$' -policy-cases 1000000 -policy-seed $(POLICY_SEED) -timeout 60m -count 1 -v
	go test ./runtime/access/rules -run '^TestTwins$$' -policy-cases 1000000 -policy-seed $(POLICY_SEED) -timeout 60m -count 1 -v

# Which tests notice each of some forty ways to decide wrongly.
policy-breaks:
	go test ./runtime/access/policy -run '^TestBreaks$$' -breaks . -timeout 60m -v

eras-breaks:
	go test ./test/eras -run 'TestBreaks$$' -breaks . -breaks-update -timeout 60m -v

# mcpctl serve between servers and clients that misbehave: all of it; what fits
# into CI; and faults at random, as in make soak SOAK=60s SEED=7. FAULTS=-product-race
# has mcpctl run under the race detector.
SOAK ?= 10m
SEED ?= 0
FAULTS ?=

faults:
	go test -tags faults ./test/faults -timeout 20m $(FAULTS)

faults-short:
	go test -tags faults ./test/faults -short -timeout 10m $(FAULTS)

soak:
	go test -tags faults ./test/faults -run 'TestSoak$$' -soak $(SOAK) -seed $(SEED) -timeout 0 -v $(FAULTS)

# A process with 256 callers is killed at 1,000 random moments, and the power fails at as
# many: the audit log has what backends and clients have seen. -kills-seed repeats a run.
# Then the same with serve, 100 times with each durability.
audit-kill:
	go test ./runtime/audit/journal -run 'TestKilled|TestPower' -kills 1000 -timeout 60m -v
	go test -tags faults ./test/faults -run TestAuditKilled -audit-kills 100 -timeout 30m -v

# The suites of before with identity on: each serve over HTTP asks for a token, and each
# client has one. Whole, the soak apart: MCPCTL_TEST_IDENTITY=1 make soak SOAK=60s.
identity: $(SUITE_STAMP)
	MCPCTL_TEST_IDENTITY=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	MCPCTL_TEST_IDENTITY=1 go test -tags faults ./test/faults -timeout 20m $(FAULTS)
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_IDENTITY=1 $(BIN)/conformance $(CONFORMANCE)

# The same with policies that allow all and are asked each time, and with all held back
# that servers offer and is not as it was locked at the start. In the tests of runtime/proxy
# servers are compared with a lock, and nothing is held back.
policy-suites: $(SUITE_STAMP)
	MCPCTL_TEST_POLICY=1 go test ./runtime/proxy
	MCPCTL_TEST_POLICY=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	MCPCTL_TEST_POLICY=1 go test -tags faults ./test/faults -timeout 20m $(FAULTS)
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_POLICY=1 $(BIN)/conformance $(CONFORMANCE)

# The same with a view that shows everything and hooks that look at all arguments and results.
view-suites: $(SUITE_STAMP)
	MCPCTL_TEST_VIEWS=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_VIEWS=1 $(BIN)/conformance $(CONFORMANCE)

# The same with an audit log, which has to verify at the end of each test with a serve, and
# with a record of each denial in the suite of attacks. TestRecordsAllocateNothing counts what
# a call allocates: the other counts would have those of the log's writer.
audit-suites: $(SUITE_STAMP)
	MCPCTL_TEST_AUDIT=1 go test ./runtime/proxy -skip Allocate
	MCPCTL_TEST_AUDIT=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	MCPCTL_TEST_AUDIT=1 go test -tags faults ./test/faults -timeout 20m $(FAULTS)
	MCPCTL_TEST_AUDIT=1 go test -tags attacks ./test/attacks -timeout 20m
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_AUDIT=1 $(BIN)/conformance $(CONFORMANCE)

# mcpctl between clients, servers, registries and files that want what is not
# theirs: every case; those that fit into CI; and every defence taken out in turn,
# with what fails then: docs/attacks-breaks.md.
attacks:
	go test -tags attacks ./test/attacks -timeout 20m

attacks-short:
	go test -tags attacks ./test/attacks -short -timeout 5m

attacks-breaks:
	go test -tags attacks ./test/attacks -run 'TestBreaks$$' -breaks . -breaks-update -timeout 90m -v

# Logins at Keycloak, which needs Java 17 or newer, Maven, unzip and 600 MB of disk.
keycloak: npm
	test/tools/keycloak.sh $(BIN) $(KEYCLOAK_VERSION) $(KEYCLOAK_SHA256)
	KEYCLOAK=$(BIN)/keycloak-$(KEYCLOAK_VERSION) go test -tags keycloak ./test/login -run '^TestKeycloak$$' -timeout 10m

# docs/architecture.svg: rooms and imports as they are.
drawing:
	go run ./test/rooms

# How much clihelp finds of the programs of this machine, of some that are installed for
# it, and of cobra programs built from their modules, which takes minutes. With
# CORPUS=-update the tables of docs/cli-as-mcp.md are written anew.
CORPUS ?=
cli-corpus:
	@test/tools/heldout.sh $(BIN)/heldout
	PATH="$$PATH:$(BIN)/heldout/bin" MCPCTL_NIGHTLY=1 go test ./runtime/clihelp -run 'TestReal|TestHeldOut|TestCobra|TestLarge' -count 1 -v -timeout 30m $(CORPUS)

# How well queries are answered: the tools of runtime/search/testdata, and published tools
# in a folder (tools.jsonl, queries.jsonl). It writes the figures of docs/search.md. Queries
# that nobody has tuned to: SEARCH_QUERIES=FILE.
TOOL_CORPUS ?= $(CURDIR)/../tool-corpus
search-quality:
	MCPCTL_TOOL_CORPUS=$(abspath $(TOOL_CORPUS)) MCPCTL_TOOL_CORPUS_QUERIES=$(SEARCH_QUERIES) go test ./runtime/search -run TestQuality -count 1 -v -update
	go test ./runtime/search -run '^$$' -bench Engine

# What searches cost, and what they cost calls, with bounds for a machine that does nothing
# else; and 1,000 changes of servers under 32 clients that search.
search-cost:
	MCPCTL_SEARCH_COST=1 MCPCTL_TOOL_CORPUS=$(if $(wildcard $(TOOL_CORPUS)/tools.jsonl),$(abspath $(TOOL_CORPUS))) go test ./runtime/proxy -run TestSearchCost -count 1 -v
search-reloads:
	MCPCTL_SEARCH_RELOADS=1000 go test -race ./runtime/proxy -run TestSearchWhileServersChange -count 1 -v

# What 40 whole tasks cost in tokens, turns and calls: with all tools, with search, and with a
# host that searches. It writes the figures of docs/budget.md; TOOL_CORPUS is as above.
bench-context:
	MCPCTL_TOOL_CORPUS=$(if $(wildcard $(TOOL_CORPUS)),$(abspath $(TOOL_CORPUS))) go test ./test/context -run TestTasks -count 1 -v -update

# How far the estimate of tokens is off in published tools, and the counts that its tests
# compare with. The tokenizer is a dependency of test/tokens alone.
token-counts:
	go -C test/tokens run . -corpus $(abspath $(TOOL_CORPUS)) -file $(CURDIR)/runtime/tokens/testdata/definitions.jsonl

# The synonyms that tools are searched with, from the folder of WordNet's database (Debian's
# package wordnet-base has it).
WORDNET ?= /usr/share/wordnet
wordnet:
	python3 test/tools/wordnet.py $(WORDNET) > runtime/search/wordnet.txt

# What words mean, for the same: from a model of sentences (all-MiniLM-L6-v2 as ONNX), its
# tokenizer.json and a list of words, the most frequent first (that of GloVe).
word-vectors:
	python3 test/tools/vectors.py $(MODEL) $(TOKENIZER) $(WORDS) $(WORDNET) $$(go env GOROOT)/src runtime/search/vocabulary.txt runtime/search/vectors.bin

# A copy of a registry of 20,000 servers that does everything wrong, in bounded memory, and
# how long a search in it takes. Where the collection of real records is (see
# MCPCTL_REGISTRY_CORPUS), what 100 queries find in it, and how long each takes in 20,000.
registry-copy:
	MCPCTL_COPY=20000 go test ./registry/mirror -run 'TestLarge|TestRecall|TestSpeed' -count 1 -v

# A folder of published documents (servers.jsonl, refused.jsonl) through add, lint and update,
# as commands and in the packages below them: about two minutes.
REGISTRY_CORPUS ?= $(CURDIR)/../registry-corpus
registry-corpus:
	MCPCTL_REGISTRY_CORPUS=$(abspath $(REGISTRY_CORPUS)) go test ./scaffold/... ./registry/... ./cmd/internal/cli -run 'Published|DocumentsThat|Recorded' -count 1 -timeout 30m

# 24 published servers that no other test knows: added, listed, called, generated for and
# served. It writes the table of docs/servers.md, and needs npm, Python and their
# registries.
servers:
	go run ./test/servers $(SERVERS)

# Three records of npm and two of PyPI, added from a registry on this machine and called: the
# real npx and uvx download and start the servers. make test does so with one, of test/npm.
packages:
	@command -v uvx >/dev/null || { echo 'packages: uvx is not installed, so no record of PyPI can be tried: pip install uv' >&2; exit 1; }
	go test -tags integration ./test/peers -run '^TestRecords$$' -download -count 1 -v -timeout 15m

# The programs of five hosts read what mcpctl export writes, and mcpctl import what they
# write. They are 1.2 GB.
hosts: $(HOSTS_STAMP)
	go test -tags hosts -timeout 20m -v ./test/hosts

# Two of them, whose programs install and run in a few seconds.
hosts-short: npm $(HOSTS_SHORT)
	go test -tags hosts -timeout 5m ./test/hosts -run '^TestHosts$$/^(codex|mcporter)$$' -programs short/node_modules/.bin,../npm/node_modules/.bin

$(HOSTS_SHORT): test/hosts/short/package.json test/hosts/short/package-lock.json test/hosts/short/.npmrc
	cd test/hosts/short && npm ci --no-progress --loglevel=error
	touch $@

# Without a lock file: npm ci refuses one that lacks packages for other systems, which not
# every registry has. package.json has exact versions.
$(HOSTS_STAMP): test/hosts/package.json test/hosts/.npmrc
	cd test/hosts && npm install --no-package-lock --no-progress --loglevel=error
	touch $@

# 100,000 random objects for each of three command-line tools, made with cobra, click and
# clap: none becomes words that the tool reads as another flag. A tool whose language is
# not installed is skipped. The samples: test/kit.
CLI_OBJECTS ?= 100000
cli-property:
	@test/tools/clisamples.sh $(BIN)
	go test ./runtime/clitool -run '^TestMeaning' -count 1 -v -timeout 30m -objects $(CLI_OBJECTS) \
		-click $(BIN)/click/bin/python3 -clap $(BIN)/clap/debug/kit

# Every change of an audit log of 10,000 records, one kind after the other: each byte of
# each record and hash, each deletion, swap, duplication and truncation is named.
audit-changes:
	go test ./runtime/audit/verify -run '^Test(Changed|Other|Truncated|WrittenAnew|Damaged)' -whole -timeout 120m -count 1 -v

# What make test leaves out because it takes long and rarely finds anything, and the
# whole of what CI has in a short form.
nightly: npm python
	MCPCTL_NIGHTLY=1 go test -tags integration ./test/peers ./test/login -timeout 15m
	MCPCTL_NIGHTLY=1 go test ./scaffold/merge ./runtime/audit/export -count 1
	go test ./runtime/auth -run TestKilled -kills 5000 -timeout 15m
	go test -race ./test/eras -timeout 15m
	$(MAKE) --no-print-directory eras-random policy-random policy-suites audit-suites view-suites audit-changes audit-kill ownership-worlds identity crossings unknown-keys faults attacks soak conformance collector keycloak cli-corpus cli-property registry-copy

ci:
	.ci/run

clean:
	rm -rf .bin mcpctl dist test/npm/node_modules test/conformance/node_modules test/codegen/peers/node_modules test/load/bridges/node_modules test/hosts/node_modules test/hosts/short/node_modules $(PYTHON_VENV)
