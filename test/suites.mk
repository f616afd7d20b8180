# The suites that make test leaves out, or has in a short form. test/README.md says what only
# each of them finds.

.PHONY: fuzz mutation codegen-random collector coldstart conformance conformance-short bench bench-against call-path bench-bridges bench-peers codegen-report microbench ownership-worlds unknown-keys crossings eras eras-random eras-breaks policy-random policy-breaks faults faults-short soak audit-kill identity policy-suites view-suites audit-suites audit-changes attacks attacks-short attacks-breaks keycloak cli-corpus cli-property search-quality search-cost search-reloads bench-context token-counts wordnet word-vectors registry-copy registry-corpus servers packages hosts hosts-short screens terminal-picture nightly installs

## Suites (test/README.md has the others)

FUZZTIME ?= 10s
fuzz: ## every fuzz target for FUZZTIME
	test/tools/fuzz.sh $(FUZZTIME)

SUITE_STAMP := test/conformance/node_modules/.stamp
CONFORMANCE ?=
conformance: $(SUITE_STAMP) ## the official suite, every revision and transport
	go build -o $(BIN)/conformance ./test/conformance
	$(BIN)/conformance $(CONFORMANCE)

conformance-short: $(SUITE_STAMP)
	go build -o $(BIN)/conformance ./test/conformance
	$(BIN)/conformance -short

# The suite brings its own Node: npm may say that the one here is too old.
$(SUITE_STAMP): test/conformance/package.json test/conformance/package-lock.json test/conformance/.npmrc
	cd test/conformance && npm ci --no-progress --loglevel=error
	touch $@

# FAULTS=-product-race has mcpctl run under the race detector; SOAK and SEED are of make soak.
SOAK   ?= 10m
SEED   ?= 0
FAULTS ?=

faults: ## serve between servers and clients that misbehave
	go test -tags faults ./test/faults -timeout 20m $(FAULTS)

faults-short:
	go test -tags faults ./test/faults -short -timeout 10m $(FAULTS)

soak:
	go test -tags faults ./test/faults -run 'TestSoak$$' -soak $(SOAK) -seed $(SEED) -timeout 0 -v $(FAULTS)

attacks: ## serve and the commands under attack
	go test -tags attacks ./test/attacks -timeout 20m

attacks-short:
	go test -tags attacks ./test/attacks -short -timeout 5m

attacks-breaks:
	go test -tags attacks ./test/attacks -run 'TestBreaks$$' -breaks . -breaks-update -timeout 90m -v

BENCH ?=
bench: ## what a call, a start and a server cost
	-@$(MAKE) --no-print-directory npm
	go run ./test/load/bench $(BENCH)

bench-against:
	go run ./test/load/bench -against $(OLD) $(BENCH)

call-path: ## the files that one call passes through, against docs/architecture.md
	go run ./test/callpath

bench-peers: $(BRIDGES_STAMP)
	go run ./test/load/bench -peers $(BENCH)

bench-bridges: $(BRIDGES_STAMP)
	go run ./test/load/bench -bridges $(BENCH)

BRIDGES       := test/load/bridges
BRIDGES_STAMP := $(BRIDGES)/node_modules/.stamp
$(BRIDGES_STAMP): $(BRIDGES)/package.json $(BRIDGES)/package-lock.json $(BRIDGES)/.npmrc $(BRIDGES)/requirements.txt
	cd $(BRIDGES) && npm ci --no-progress --loglevel=error
	python3 -m venv --clear $(BIN)/bridges
	$(BIN)/bridges/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(BRIDGES)/requirements.txt
	touch $@

PEERS_STAMP := test/codegen/peers/node_modules/.stamp
CODEGEN     ?=
codegen-report: npm staticcheck $(PEERS_STAMP)
	go run ./test/codegen $(CODEGEN)

$(PEERS_STAMP): test/codegen/peers/package.json test/codegen/peers/package-lock.json test/codegen/peers/.npmrc
	cd test/codegen/peers && npm ci --no-progress --loglevel=error
	touch $@

CODEGEN_SEED    ?= $(shell date +%s)
CODEGEN_SCHEMAS ?= 1000
codegen-random:
	@echo "seed $(CODEGEN_SEED)"
	go test ./test/codegen -run '^TestRandom$$' -timeout 30m -random-seed $(CODEGEN_SEED) -random-schemas $(CODEGEN_SCHEMAS)
	@if python3 -c 'import jsonschema' 2>/dev/null; then go test ./test/codegen/trial -run '^TestVerdicts$$' -python python3; \
		else echo "no python3 with jsonschema: the validator is not held to it"; fi

microbench:
	go test -run '^$$' -bench . -benchtime 20ms ./...

coldstart: npm build
	go run ./test/coldstart -mcpctl $(CURDIR)/mcpctl -server $(CURDIR)/test/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js

eras:
	go test ./test/eras -run 'TestEras$$' -update

eras-random:
	go test ./test/eras -run TestNobodyElse -cases 10000 -timeout 30m -v

eras-breaks:
	go test ./test/eras -run 'TestBreaks$$' -breaks . -breaks-update -timeout 60m -v

identity: $(SUITE_STAMP)
	MCPCTL_TEST_IDENTITY=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	MCPCTL_TEST_IDENTITY=1 go test -tags faults ./test/faults -timeout 20m $(FAULTS)
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_IDENTITY=1 $(BIN)/conformance $(CONFORMANCE)

POLICY_SEED ?= $(shell date +%s)
policy-random:
	@echo "seed $(POLICY_SEED)"
	go test ./internal/access/policy -run '^TestRandom$$' -policy-cases 1000000 -policy-seed $(POLICY_SEED) -timeout 60m -count 1 -v
	go test ./internal/access/rules -run '^TestTwins$$' -policy-cases 1000000 -policy-seed $(POLICY_SEED) -timeout 60m -count 1 -v

policy-breaks:
	go test ./internal/access/policy -run '^TestBreaks$$' -breaks . -timeout 60m -v

GREMLINS_VERSION := v0.6.0
MUTATED          ?= internal/rawjson internal/jsonrpc internal/revision runtime/config runtime/proxy/internal/catalog
mutation:
	@test/tools/install.sh $(BIN) gremlins github.com/go-gremlins/gremlins/cmd/gremlins $(GREMLINS_VERSION)
	for p in $(MUTATED); do $(BIN)/gremlins unleash ./$$p || exit 1; done

policy-suites: $(SUITE_STAMP)
	MCPCTL_TEST_POLICY=1 go test ./runtime/proxy
	MCPCTL_TEST_POLICY=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	MCPCTL_TEST_POLICY=1 go test -tags faults ./test/faults -timeout 20m $(FAULTS)
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_POLICY=1 $(BIN)/conformance $(CONFORMANCE)

view-suites: $(SUITE_STAMP)
	MCPCTL_TEST_VIEWS=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_VIEWS=1 $(BIN)/conformance $(CONFORMANCE)

audit-suites: $(SUITE_STAMP)
	MCPCTL_TEST_AUDIT=1 go test ./runtime/proxy -skip Allocate
	MCPCTL_TEST_AUDIT=1 go test ./test/eras -run '^(TestEras|TestNobodyElse)$$'
	MCPCTL_TEST_AUDIT=1 go test -tags faults ./test/faults -timeout 20m $(FAULTS)
	MCPCTL_TEST_AUDIT=1 go test -tags attacks ./test/attacks -timeout 20m
	go build -o $(BIN)/conformance ./test/conformance
	MCPCTL_TEST_AUDIT=1 $(BIN)/conformance $(CONFORMANCE)

audit-changes:
	go test ./internal/audit/verify -run '^Test(Changed|Other|Truncated|WrittenAnew|Damaged)' -whole -timeout 120m -count 1 -v

audit-kill:
	go test ./internal/audit/journal -run 'TestKilled|TestPower' -kills 1000 -timeout 60m -v
	go test -tags faults ./test/faults -run TestAuditKilled -audit-kills 100 -timeout 30m -v

ownership-worlds:
	go test ./runtime/proxy -run '^TestOwnership$$' -worlds 1000000 -timeout 3h -v

unknown-keys:
	go test ./cmd/mcpctl -run '^TestUnknownKeys$$' -flood 30s -v

crossings:
	go test -race ./runtime/proxy -run '^TestNothingCrosses$$' -crossings 10000 -count 1 -v

collector:
	go -C test/collector test ./... -count 1

KEYCLOAK_VERSION := 26.7.3
KEYCLOAK_SHA256  := 27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f
keycloak: npm
	test/tools/keycloak.sh $(BIN) $(KEYCLOAK_VERSION) $(KEYCLOAK_SHA256)
	KEYCLOAK=$(BIN)/keycloak-$(KEYCLOAK_VERSION) go test -tags keycloak ./test/login -run '^TestKeycloak$$' -timeout 10m

CORPUS ?=
cli-corpus:
	@test/tools/heldout.sh $(BIN)/heldout
	PATH="$$PATH:$(BIN)/heldout/bin" MCPCTL_NIGHTLY=1 go test ./internal/clihelp -run 'TestReal|TestHeldOut|TestCobra|TestLarge' -count 1 -v -timeout 30m $(CORPUS)
	MCPCTL_NIGHTLY=1 go test ./internal/clitool -run TestPrograms -count 1 -v -timeout 10m $(CORPUS)

CLI_OBJECTS ?= 100000
cli-property:
	@test/tools/clisamples.sh $(BIN)
	go test ./internal/clitool -run '^TestMeaning' -count 1 -v -timeout 30m -objects $(CLI_OBJECTS) \
		-click $(BIN)/click/bin/python3 -clap $(BIN)/clap/debug/kit

TOOL_CORPUS ?= $(CURDIR)/../tool-corpus
search-quality:
	MCPCTL_TOOL_CORPUS=$(abspath $(TOOL_CORPUS)) MCPCTL_TOOL_CORPUS_QUERIES=$(SEARCH_QUERIES) go test ./internal/search -run TestQuality -count 1 -v -update
	go test ./internal/search -run '^$$' -bench Engine

search-cost:
	MCPCTL_SEARCH_COST=1 MCPCTL_TOOL_CORPUS=$(if $(wildcard $(TOOL_CORPUS)/tools.jsonl),$(abspath $(TOOL_CORPUS))) go test ./runtime/proxy -run TestSearchCost -count 1 -v
search-reloads:
	MCPCTL_SEARCH_RELOADS=1000 go test -race ./runtime/proxy -run TestSearchWhileServersChange -count 1 -v

bench-context:
	MCPCTL_TOOL_CORPUS=$(if $(wildcard $(TOOL_CORPUS)),$(abspath $(TOOL_CORPUS))) go test ./test/context -run TestTasks -count 1 -v -update

token-counts:
	go -C test/tokens run . -corpus $(abspath $(TOOL_CORPUS)) -file $(CURDIR)/runtime/tokens/testdata/definitions.jsonl

WORDNET ?= /usr/share/wordnet
wordnet:
	python3 test/tools/wordnet.py $(WORDNET) > internal/search/wordnet.txt

word-vectors:
	python3 test/tools/vectors.py $(MODEL) $(TOKENIZER) $(WORDS) $(WORDNET) $$(go env GOROOT)/src internal/search/vocabulary.txt internal/search/vectors.bin

registry-copy:
	MCPCTL_COPY=20000 go test ./internal/mirror -run 'TestLarge|TestRecall|TestSpeed' -count 1 -v

REGISTRY_CORPUS ?= $(CURDIR)/../registry-corpus
registry-corpus:
	MCPCTL_REGISTRY_CORPUS=$(abspath $(REGISTRY_CORPUS)) go test ./scaffold/... ./internal/... ./registry/... ./cmd/internal/cli -run 'Published|DocumentsThat|Recorded' -count 1 -timeout 30m

servers:
	go run ./test/servers $(SERVERS)

packages:
	@command -v uvx >/dev/null || { echo 'packages: uvx is not installed, so no record of PyPI can be tried: pip install uv' >&2; exit 1; }
	go test -tags integration ./test/peers -run '^TestRecords$$' -download -count 1 -v -timeout 15m

HOSTS_STAMP := test/hosts/node_modules/.stamp
HOSTS_SHORT := test/hosts/short/node_modules/.stamp
hosts: $(HOSTS_STAMP)
	go test -tags hosts -timeout 20m -v ./test/hosts

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

screens: terminals
	go test ./test/screens -update

terminal-picture: terminals build
	go run ./test/picture -mcpctl $(CURDIR)/mcpctl

nightly: npm python ## what only long runs find
	MCPCTL_NIGHTLY=1 go test -race -tags integration ./test/peers ./test/login ./test/hooks -timeout 20m
	MCPCTL_NIGHTLY=1 go test ./test/eras ./internal/upgrade ./internal/audit/export -count 1
	go test ./runtime/auth -run TestKilled -kills 5000 -timeout 15m
	go test -race ./test/eras ./cmd/mcpctl -timeout 15m
	$(MAKE) --no-print-directory eras-random policy-random policy-suites audit-suites view-suites audit-changes audit-kill ownership-worlds identity crossings unknown-keys faults attacks fuzz soak conformance collector keycloak cli-corpus cli-property registry-copy call-path

# All that .ci/run needs of registries.
installs: npm python staticcheck terminals $(SUITE_STAMP) $(HOSTS_SHORT)
