#!/usr/bin/env bash
# test.sh [FLAGS]: the tests of make test. Packages that start goroutines, or are called by
# several, run under the race detector. The others are the same with it, only slower: parsers,
# schemas, text, generated code. The matrix of eras runs under it in make nightly.
# FLAGS go to each go test, as in test.sh -count 1.
set -euo pipefail
cd "$(dirname "$0")/../.."

# concurrent prints the packages whose code or tests have goroutines, servers or processes.
concurrent() {
	grep -lE '^[^/]*\b(go func|go [a-zA-Z_.]+\(|sync\.|errgroup|httptest|http\.Serve|synctest|exec\.Command)|\.Go\(' "$@" 2>/dev/null | xargs -r -n1 dirname | sort -u
}
files() { git ls-files "$@" -- '*.go' ':!*/testdata/*' ':!runtime/gosdk/*' ':!test/tokens/*' ':!test/collector/*'; }
