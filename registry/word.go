package registry

import "strings"

// WithoutVersion returns a package or an image without what follows its name: a version
// (@1.2, ==1.2) or a tag (:latest).
func WithoutVersion(word string) string {
	from := strings.LastIndexByte(word, '/') + 1
	if i := strings.IndexAny(word[from:], "@:="); i > 0 {
		return word[:from+i]
	}
	return word
}
