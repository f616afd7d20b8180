#!/usr/bin/env bash
# fuzz.sh [TIME]: runs every fuzz target of the module for TIME (10s), two at a
# time. A finding fails the run and its input is kept under testdata/fuzz. Each
# package is built once, whatever number of targets it has.
set -euo pipefail
cd "$(dirname "$0")/../.."
export time=${1:-10s} root=$PWD
targets=$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | grep -v '/node_modules/' | sed -E 's#^(.*)/[^/]*:[0-9]+:func (Fuzz.*)$#\1 \2#' | sort -u)
[ -n "$targets" ] || { echo "fuzz: no targets found" >&2; exit 1; }
echo "$(wc -l <<<"$targets") fuzz targets, $time each"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export out corpus="$(go env GOCACHE)/fuzz/$(go list -m)"
one() {
	local package=$1 target=$2 name=${1//[.\/]/_}
	cd "$root/$package"
	# The end of the time itself can come out as a failure, "context deadline
	# exceeded", where a worker is busy; a finding names its input.
	if ! "$out/$name.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x \
		-test.fuzzcachedir "$corpus/$package" -test.parallel 2 -test.timeout 10m >"$out/$name.$target" 2>&1 &&
		{ grep -q 'Failing input' "$out/$name.$target" || ! grep -q '^    context deadline exceeded$' "$out/$name.$target"; }; then
		echo "FAIL $package $target"
		cat "$out/$name.$target"
		return 1
	fi
	echo "ok   $package $target ($(grep -oE 'execs: [0-9]+' "$out/$name.$target" | tail -1))"
}
build() { go test -c -fuzz . -o "$out/${1//[.\/]/_}.test" "$1"; }
export -f one build
cut -d' ' -f1 <<<"$targets" | sort -u | xargs -P 2 -L 1 bash -c 'build "$0"'
xargs -P 2 -L 1 bash -c 'one "$0" "$1"' <<<"$targets"
