#!/usr/bin/env bash
# completions.sh DIR: writes the shell completions that a release carries.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
for shell in bash zsh fish powershell; do
	go run ./cmd/mcpctl completion "$shell" >"$1/mcpctl.$shell"
done
