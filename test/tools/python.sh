#!/usr/bin/env bash
# python.sh PYTHON VENV REQUIREMENTS: installs the requirements into a virtual
# environment, unless they are there. Where that is not possible it says why and
# succeeds: the tests that need them are skipped then.
set -euo pipefail
python=$1 venv=$2 requirements=$3
cmp -s "$requirements" "$venv/.stamp" && exit 0
without() {
	rm -rf "$venv"
	echo "no tests of the Python SDK: $1" >&2
	exit 0
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || without "$python is not there, or is older than 3.11"
"$python" -c 'import ensurepip, venv' 2>/dev/null || without "$python has no module venv; Debian has it in the package python3-venv"
echo "installing $(grep '^mcp==' "$requirements") for Python"
rm -rf "$venv"
"$python" -m venv "$venv" || without "its virtual environment cannot be made"
"$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: --timeout 20 --retries 2 -r "$requirements" ||
	without "pip cannot install it"
cp "$requirements" "$venv/.stamp"
