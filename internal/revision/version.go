package revision

import "slices"

// Modern is the revision of the stateless era that mcpctl speaks.
const Modern = "2026-07-28"

// Latest is the newest revision with a handshake.
const Latest = "2025-11-25"

// Versions lists the revisions mcpctl speaks, newest first.
func Versions() []string {
	return []string{Modern, Latest, "2025-06-18", "2025-03-26", "2024-11-05"}
}

// LegacyVersions lists those with a handshake, newest first.
func LegacyVersions() []string { return Versions()[1:] }

// IsModern reports whether a revision is of the stateless era. Revisions are
// dates and compare as text.
func IsModern(version string) bool { return version >= Modern }

// Mutual returns the newest of our legacy revisions that a server lists, "" for
// none.
func Mutual(theirs []string) string {
	for _, v := range LegacyVersions() {
		if slices.Contains(theirs, v) {
			return v
		}
	}
	return ""
}

// ModernOnly reports whether a list names modern revisions and not one of ours.
func ModernOnly(theirs []string) bool {
	return slices.ContainsFunc(theirs, IsModern) && !slices.Contains(theirs, Modern) && Mutual(theirs) == ""
}
