# What a contributor runs: make help. Nothing has to be installed by hand but Go, a C compiler
# (for the race detector), Node and npm; tools go to .bin at the versions below. With Python
# 3.11 or newer, tests of its SDK run, too.

GOLANGCI_VERSION    := v2.15.0
GOFUMPT_VERSION     := v0.12.0
STATICCHECK_VERSION := v0.8.1
BIN                 := $(CURDIR)/.bin
# Separate modules: an adapter for the official SDK, a tokenizer, a collector.
GOSDK               := runtime/gosdk
MODULES             := $(GOSDK) test/tokens test/collector

.PHONY: all help build check unit scripts test lint fmt generate tidy tidy-check vet ci clean tools staticcheck npm python terminals

all: build

help:
	@awk -F ' *## ?' '/^## /{ printf "\n%s\n", $$2 } /^[a-z-]+:.* ## /{ split($$1, t, ":"); printf "  %-12s %s\n", t[1], $$2 }' Makefile test/suites.mk

## Every day
build: ## the program, into this folder
	CGO_ENABLED=0 go build -trimpath -o mcpctl ./cmd/mcpctl

# Linting, linking and waiting for processes leave one another room: the three run side by side.
# Lint has the vet of this system. Tests that compile programs or start mcpctl as a server, and
# the suites below test, are for make test.
check: ## before each commit: format, lint, vet, modules, unit tests and test scripts
	@$(MAKE) --no-print-directory -j3 lint unit scripts

unit:
	go test -vet=off -short ./cmd/internal/... ./internal/... ./registry/... ./runtime/... ./scaffold/... ./generated/... ./schemas ./templates ./test/architecture ./test/attacks ./test/wait
	go -C $(GOSDK) test -vet=off -short ./...

# A script mostly waits for the programs that it starts. The commands of the pages run in make
# test.
scripts:
	go test -vet=off -short -parallel 4 ./cmd/mcpctl -run '^Test(Scripts|Docs|Help)' -skip '^TestDocs(Console|Module|TenLines)'

test: npm python staticcheck terminals ## everything that a change needs to be trusted
	test/tools/test.sh

fmt: tools ## format the source
	$(BIN)/gofumpt -w .
	$(BIN)/golangci-lint fmt

# Two checkouts may be linted at once (--allow-parallel-runners).
#
# With less garbage collection, lint takes 67 s of processor time instead of 89 after a change of
# runtime/transport, vet of another system 29 instead of 37. Its memory stays below 3 GB.
SPARING := GOGC=400

lint: tools tidy-check ## formatting, golangci-lint, tidy modules
	@files=$$($(BIN)/gofumpt -l .); [ -z "$$files" ] || { printf 'not gofumpt-clean, make fmt:\n%s\n' "$$files" >&2; exit 1; }
	$(SPARING) $(BIN)/golangci-lint run --allow-parallel-runners
	cd $(GOSDK) && $(SPARING) $(BIN)/golangci-lint run --allow-parallel-runners
	@test/tools/words.sh

# The product has to vet on each system it is released for: VET_SYSTEMS='linux darwin windows'.
VET_SYSTEMS ?= $(shell go env GOOS)
vet:
	export $(SPARING) CGO_ENABLED=0; for os in $(VET_SYSTEMS); do GOOS=$$os go vet ./... && GOOS=$$os go -C $(GOSDK) vet ./... || exit 1; done

# Generated packages call mcpctl by its name, as those of users do.
generate: ## the sample clients in generated
	go build -o $(BIN)/mcpctl ./cmd/mcpctl
	PATH="$(BIN):$$PATH" go generate ./...

tidy: ## go mod tidy, in each module
	go mod tidy
	for m in $(MODULES); do go -C $$m mod tidy || exit 1; done

# test/collector is left out: that needs a hundred modules.
tidy-check:
	go mod tidy -diff
	for m in $(GOSDK) test/tokens; do go -C $$m mod tidy -diff || exit 1; done

ci: ## all that has to hold before a change is merged
	.ci/run

clean: ## remove what is built and installed here
	rm -rf .bin mcpctl dist test/npm/node_modules test/conformance/node_modules test/codegen/peers/node_modules test/load/bridges/node_modules test/hosts/node_modules test/hosts/short/node_modules $(PYTHON_VENV)

tools:
	@test/tools/install.sh $(BIN) golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $(GOLANGCI_VERSION)
	@test/tools/install.sh $(BIN) gofumpt mvdan.cc/gofumpt $(GOFUMPT_VERSION)

# What generated packages are checked with, by go test ./test/codegen.
staticcheck:
	@test/tools/install.sh $(BIN) staticcheck honnef.co/go/tools/cmd/staticcheck $(STATICCHECK_VERSION)

# Servers and SDKs of npm, pinned by a lock file.
NPM_STAMP := test/npm/node_modules/.stamp
npm: $(NPM_STAMP)
$(NPM_STAMP): test/npm/package.json test/npm/package-lock.json test/npm/.npmrc
	cd test/npm && npm ci --no-progress --loglevel=error
	touch $@

# The Python SDK. The tests that use it are skipped where Python is missing, is too old or
# cannot install it, and say so.
PYTHON      ?= python3
PYTHON_VENV := test/python/venv
python:
	@test/tools/python.sh $(PYTHON) $(PYTHON_VENV) test/python/requirements.txt

# tmux and the shells that tests use, where they can be installed.
terminals:
	@test/tools/terminals.sh

include test/suites.mk
