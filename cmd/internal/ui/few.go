package ui

import (
	"fmt"
	"strings"
)

// Few returns the first names of a list, and how many there are more.
func Few(names []string) string {
	const most = 5
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
