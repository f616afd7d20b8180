#!/usr/bin/env bash
# test.sh [FLAGS]: the tests of make test. FLAGS go to each go test, as in test.sh -count 1.
#
# A package whose code or tests start goroutines runs under the race detector. For the others
# it would find nothing and only take longer: parsers, schemas, text, generated code. Tests
# with a large input, and suites that start mcpctl as a program, run without it: what those
# call has tests under it, and make nightly has them under it as well.
set -euo pipefail
cd "$(dirname "$0")/../.."

slow='/(cmd/mcpctl|scaffold/gogen|internal/access/policy|internal/audit/(verify|merkle)|internal/clihelp|test)(/|$)'
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

# The longest first, or one of them runs alone at the end.
first() {
	printf '%s\n' "${@:2}" | grep -E "/($1)\$" || true
	printf '%s\n' "${@:2}" | grep -vE "/($1)\$"
}
mapfile -t racy < <(first '(runtime/(proxy|dial)|internal/audit/export)|cmd/internal/(auditing|cli|demo)' "${racy[@]}")
mapfile -t plain < <(first 'test/(peers|codegen|eras|login)|scaffold/gogen' "${plain[@]}" | grep -v '/cmd/mcpctl$')

# Large inputs, which take long under the race detector and have no goroutines.
large='^Test(ValidateIsBounded|EngineDefinitions|MemoryOfViews)$'
# Under it mcpctl takes three times as long to start: only what serves, ends and is killed.
serving='^Test(Serve|Bridge|Call|Interrupt|Lock|Status|UnknownKeys)'

# Many tests wait for processes and clocks: twice as many at once as there are cores. The two
# halves run side by side and take about as long.
cores=$(getconf _NPROCESSORS_ONLN)
run() { go test -vet=off -tags integration -timeout 10m -p "$cores" -parallel $((2 * cores)) "$@"; }

with() {
	export CGO_ENABLED=1
	run -race -skip "$large" "$@" "${racy[@]}"
	run -race "$@" ./cmd/mcpctl -run "$serving"
	run -race "$@" ./scaffold/gogen ./internal/access/policy ./internal/audit/verify -run '^Test(Order|Many|WhileWritten)$'
	go -C runtime/gosdk test -vet=off -race "$@" ./...
}

without() {
	run "$@" ./cmd/mcpctl -skip "$serving"
	run "$@" "${plain[@]}"
	# The race detector allocates: tests that count allocations are skipped under it.
	run "$@" -run "$large|Alloc" ./runtime/schema ./internal/search "${counting[@]}"
	go test -vet=off "$@" ./runtime/proxy -run '^TestOwnership$' -worlds 2000
}

set -m # a half is a process group, and ends with its children
trap 'for job in $(jobs -p); do kill -- "-$job" 2>/dev/null || true; done' EXIT
with "$@" &
halves=$!
without "$@" &
failed=0
for half in $halves $!; do
	wait "$half" || failed=1
done
exit $failed
