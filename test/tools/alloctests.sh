#!/usr/bin/env bash
# Runs, without the race detector, the packages whose tests count allocations:
# under it they are skipped, since it allocates too.
set -euo pipefail
cd "$(dirname "$0")/../.."
packages=$(grep -rlE --include='*_test.go' 'testing\.AllocsPerRun' . | grep -v '/node_modules/' | xargs -r -n1 dirname | sort -u)
[ -n "$packages" ] || { echo "alloctests: no package counts allocations"; exit 0; }
# shellcheck disable=SC2086 # a list of words
go test -timeout 4m -run 'Alloc' $packages
