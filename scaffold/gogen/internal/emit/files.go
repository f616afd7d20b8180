package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// toolParts returns the files of tools. A file is named after its tool; names
// that would be equal have a digest of the tool's name added, which does not
// depend on other tools.
func toolParts(tools []*model.Tool, decls map[string][]*model.Decl) []part {
	count := map[string]int{}
	for _, t := range tools {
		count[strings.ToLower(fileStem(t.Name))]++
	}
	parts := make([]part, len(tools))
	for i, t := range tools {
		stem := fileStem(t.Name)
		if count[strings.ToLower(stem)] > 1 {
			stem += "_x" + textDigest(t.Name)
		}
		parts[i] = part{name: stem + "_gen.go", tools: []*model.Tool{t}, decls: decls}
	}
	return parts
}

// fileStem returns a tool's name in a form that all file systems accept: lower
// case letters, digits and underscores. "_gen" follows, so that no special
// suffix of go build (_test, _linux, _amd64) ends it, nor is it a device's name
// on Windows; "tool_" is put before what go build would ignore, or would be
// [SourceFile].
func fileStem(tool string) string {
	const longest = 80
	var b strings.Builder
	lossy := false
	for _, r := range tool {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r - 'A' + 'a')
		case r < utf8.RuneSelf:
			b.WriteByte('_')
		default:
			lossy = true
			b.WriteByte('_')
		}
	}
	stem := b.String()
	if len(stem) > longest {
		stem, lossy = stem[:longest], true
	}
	if lossy {
		stem += "_x" + textDigest(tool)
	}
	if stem == "" || stem[0] == '_' || stem == "client" {
		stem = "tool_" + strings.TrimLeft(stem, "_")
	}
	return stem
}

func textDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
