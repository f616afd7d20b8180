#!/usr/bin/env bash
# install.sh DIR NAME PACKAGE VERSION: builds a Go tool into DIR unless exactly
# that version is there already.
set -euo pipefail
dir=$1 name=$2 package=$3 version=$4
if [ -x "$dir/$name" ] && go version -m "$dir/$name" | awk -v v="$version" '$1 == "mod" && $3 == v { found = 1 } END { exit !found }'; then
	exit 0
fi
echo "installing $name $version"
# Out of the module, so that its go.mod has no say in the tool's versions.
(cd / && GOBIN=$dir GOFLAGS=-buildvcs=false go install "$package@$version")
