#!/usr/bin/env bash
# Installs tmux, which draws the screens of test/screens, where that takes one command. The
# test is skipped without it, and says so.
set -euo pipefail
command -v tmux >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
	{ apt-get install -y -qq tmux || { apt-get update -qq && apt-get install -y -qq tmux; }; } >/dev/null 2>&1; then
	exit 0
fi
echo 'no tmux here, and it cannot be installed: the test of the screens is skipped' >&2
