#!/usr/bin/env bash
# test.sh [FLAGS]: the tests of make test. FLAGS go to each go test, as in test.sh -count 1.
#
# A package whose code or tests start goroutines runs under the race detector. For the others
# it would find nothing and only take longer: parsers, schemas, text, generated code. Tests
# with a large input, and suites that start mcpctl as a program, run without it: what those
# call has tests under it, and make nightly has them under it as well.
set -euo pipefail
cd "$(dirname "$0")/../.."

slow='/(cmd/mcpctl|scaffold/gogen|runtime/access/policy|runtime/audit/(verify|merkle)|runtime/clihelp|test)(/|$)'
all=$(go list -tags integration -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... | grep -v '^$')
racy=() plain=() counting=()
while read -r package dir; do
	if [[ ! $package =~ $slow ]] && grep -qE '^[^/"]*\bgo (func|[a-zA-Z_.]+\()|\.Go\(|synctest\.' "$dir"/*.go; then
		racy+=("$package")
		! grep -qs 'testing\.AllocsPerRun' "$dir"/*_test.go || counting+=("$package")
	else
		plain+=("$package")
	fi
done <<<"$all"
echo "${#racy[@]} packages under the race detector, ${#plain[@]} without"

# Many tests wait for processes and clocks: half as many packages again as there are cores,
# and twice as many tests.
cores=$(getconf _NPROCESSORS_ONLN)
run() { go test -vet=off -tags integration -timeout 10m -p $((cores + (cores + 1) / 2)) -parallel $((2 * cores)) "$@"; }

CGO_ENABLED=1 run -race "$@" "${racy[@]}"
CGO_ENABLED=1 run -race "$@" ./scaffold/gogen ./runtime/access/policy ./runtime/audit/verify -run '^(TestGolden|TestOrder|TestMany|TestWhileWritten)$'
# Under it mcpctl takes three times as long to start: only what serves, ends and is killed.
CGO_ENABLED=1 run -race "$@" ./cmd/mcpctl -run '^Test(Serve|Bridge|Call|Interrupt|Lock|Status|UnknownKeys)'
CGO_ENABLED=1 go -C runtime/gosdk test -vet=off -race "$@" ./...
run "$@" "${plain[@]}"
go test -vet=off "$@" ./runtime/proxy -run '^TestOwnership$' -worlds 10000
# The race detector allocates: tests that count allocations are skipped under it.
run "$@" -run Alloc "${counting[@]}"
