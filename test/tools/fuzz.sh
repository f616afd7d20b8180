#!/usr/bin/env bash
# fuzz.sh [TIME]: runs every fuzz target of the module for TIME (3s), two at a
# time. A finding fails the run and its input is kept under testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-3s}
targets=$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | grep -v '/node_modules/' | sed -E 's#^(.*)/[^/]*:[0-9]+:func (Fuzz.*)$#\1 \2#' | sort -u)
[ -n "$targets" ] || { echo "fuzz: no targets found" >&2; exit 1; }
echo "$(wc -l <<<"$targets") fuzz targets, $time each"
one() {
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	# The end of the time itself can come out as a failure, "context deadline
	# exceeded", where a worker is busy; a finding names its input.
	if ! go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 10x -parallel 2 "$1" >"$log" 2>&1 &&
		{ grep -q 'Failing input' "$log" || ! grep -q '^    context deadline exceeded$' "$log"; }; then
		echo "FAIL $1 $2"
		cat "$log"
		return 1
	fi
	echo "ok   $1 $2 ($(grep -oE 'execs: [0-9]+' "$log" | tail -1))"
}
export -f one
export time
xargs -P 2 -L 1 bash -c 'one "$0" "$1"' <<<"$targets"
