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
			_, _ = pointerEscapes().WriteString(&b, s)
		} else {
			_, _ = fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

func pointerEscapes() *strings.Replacer { return strings.NewReplacer("~", "~0", "/", "~1") }
