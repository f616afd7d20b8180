#!/usr/bin/env bash
# heldout.sh DIR: installs the programs of internal/clihelp/testdata/heldout below DIR, at
# the versions that the tables there are of. What cannot be had here is said and left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$1
mkdir -p "$dir"

python() {
	[ -x "$dir/bin/poetry" ] && return
	python3 -m venv "$dir" && "$dir/bin/pip" install -q -r internal/clihelp/testdata/heldout/requirements.txt
}

fd() { [ -x "$dir/bin/fd" ] || cargo install -q fd-find --version 10.2.0 --root "$dir"; }

command -v python3 >/dev/null && python || echo 'no python3 with venv, or no packages for it: its programs are left out' >&2
command -v cargo >/dev/null && fd || echo 'no cargo, or fd cannot be built: it is left out' >&2
