#!/usr/bin/env bash
# words.sh [BASE]: warns of words that a reader stumbles over, in lines that pages and
# comments have gained since BASE, the merge base with main if none is given. words.txt has
# each word and what to write instead. It never fails: a quotation may need the word.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || true)}
[ -n "$base" ] || exit 0
git diff -U0 "$base" -- '*.md' '*.go' ':!CHANGELOG.md' ':!*/testdata/*' | awk '
	NR == FNR { split($0, f, "\t"); instead[f[1]] = f[2]; next }
	/^\+\+\+ / { file = substr($0, 7); next }
	/^@@ / { split($3, at, /[+,]/); line = at[2] - 1; next }
	!/^\+/ { next }
	{
		line++
		text = tolower(substr($0, 2))
		if (file ~ /\.go$/ && !sub(/^.*\/\/ /, "", text)) next
		for (word in instead)
			if (text ~ "(^|[^a-z])" word "([^a-z]|$)")
				printf "%s:%d: warning: \"%s\": %s\n", file, line, word, instead[word] == "-" ? "leave it out" : "write \"" instead[word] "\""
	}
' test/tools/words.txt -
