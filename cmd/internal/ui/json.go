package ui

import (
	"bytes"
	"encoding/json"
)

// JSON returns a document indented and in colour, every digit as it was. What is no
// JSON is returned unchanged.
func JSON(raw []byte, p Palette) []byte {
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return raw
	}
	if !p {
		return b.Bytes()
	}
	return p.tokens(b.Bytes())
}

// tokens colours the names, texts and other values of a valid document.
func (p Palette) tokens(doc []byte) []byte {
	var out []byte
	for i := 0; i < len(doc); {
		end := i + 1
		paint := func(text string) string { return text }
		switch c := doc[i]; {
		case c == '"':
			end = textEnd(doc, i)
			if paint = p.Green; end < len(doc) && doc[end] == ':' {
				paint = p.Cyan
			}
		case bytes.IndexByte([]byte("{}[],: \n"), c) < 0:
			for end < len(doc) && bytes.IndexByte([]byte(",]} \n"), doc[end]) < 0 {
				end++
			}
			paint = p.Yellow
		}
		out = append(out, paint(string(doc[i:end]))...)
		i = end
	}
	return out
}

// textEnd returns where the string that begins at i ends, its quote included.
func textEnd(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(doc))
}
