package codec

import (
	"fmt"
	"strings"
)

// Pointer makes a JSON pointer (RFC 6901) of member names and indices.
func Pointer(steps ...any) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		if s, ok := step.(string); ok {
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1"))
		} else {
			_, _ = fmt.Fprint(&b, step)
		}
	}
	return b.String()
}
