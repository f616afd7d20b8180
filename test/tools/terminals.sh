#!/usr/bin/env bash
# Installs what tests need of a terminal: tmux, which draws the screens of test/screens, and
# the shells whose completion is tested. Only where that takes one command: a test without
# its program is skipped, and says so.
set -euo pipefail
missing=()
for program in tmux zsh fish; do
	command -v "$program" >/dev/null || missing+=("$program")
done
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; }
	{ install || { apt-get update -qq && install; }; } >/dev/null 2>&1 && exit 0
fi
echo "without ${missing[*]}, which cannot be installed here, some tests are skipped" >&2
