#!/usr/bin/env bash
# clisamples.sh DIR: makes the samples of test/kit that are no Go ready below DIR: a Python
# with click, and the program that is built with clap. What cannot be had here is said and
# left out; the tests that want it are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$1
mkdir -p "$dir"

click() {
	"$dir/click/bin/python3" -c 'import click' 2>/dev/null && return
	python3 -m venv "$dir/click" && "$dir/click/bin/pip" install -q -r test/kit/click/requirements.txt
}

clap() { cargo build -q --manifest-path test/kit/clap/Cargo.toml --target-dir "$dir/clap"; }

command -v python3 >/dev/null && click || echo 'no python3 with venv and click: its sample is skipped' >&2
command -v cargo >/dev/null && clap || echo 'no cargo with clap: its sample is skipped' >&2
