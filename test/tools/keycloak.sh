#!/usr/bin/env bash
# keycloak.sh DIR VERSION SHA256: puts Keycloak's distribution into DIR/keycloak-VERSION,
# unless it is there. It needs Maven, unzip, Java 17 or newer to run Keycloak, and 600 MB.
set -euo pipefail
dir=$1 version=$2 sha256=$3
for program in java mvn unzip; do
	command -v "$program" >/dev/null || { echo "keycloak: $program is not installed" >&2; exit 1; }
done
java=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
[ "${java:-0}" -ge 17 ] || { echo "keycloak: Java 17 or newer is needed, this is ${java:-unknown}" >&2; exit 1; }
[ ! -d "$dir/keycloak-$version" ] || exit 0
echo "installing Keycloak $version"
mkdir -p "$dir"
work=$(mktemp -d "$dir/keycloak.XXXXXX")
trap 'rm -rf "$work"' EXIT
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy "-Dartifact=org.keycloak:keycloak-quarkus-dist:$version:zip" "-DoutputDirectory=$work"
zip=$work/keycloak-quarkus-dist-$version.zip
sum=$( (sha256sum "$zip" 2>/dev/null || shasum -a 256 "$zip") | cut -d' ' -f1)
[ "$sum" = "$sha256" ] || { echo "keycloak: the distribution is another than the pinned one: $sum" >&2; exit 1; }
unzip -q "$zip" -d "$work"
mv "$work/keycloak-$version" "$dir/"
