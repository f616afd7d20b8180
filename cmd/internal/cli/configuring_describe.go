package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Bounds of what is shown of a project's file before it is trusted: whoever wrote it must
// not be able to fill the screen. What is left out is said.
const (
	maxShown = 20  // servers
	maxLine  = 400 // characters
)

// describe returns what a file has mcpctl run and send, a few lines a server. Nothing is
// masked: a project's file has no secrets of the reader's, and any word of it can decide
// what runs.
func describe(f *config.File) string {
	var b strings.Builder
	for i, e := range f.Entries() {
		if i == maxShown {
			fmt.Fprintf(&b, "  … and %s more: read the file first\n", plain.Count(len(f.Entries())-i, "server"))
			break
		}
		fmt.Fprintf(&b, "  %s: %s\n", plain.Line(e.Name), clip(target(e)))
		for _, m := range members(e.Raw) {
			fmt.Fprintf(&b, "    %s: %s\n", plain.Line(m.name), clip(string(m.value)))
		}
	}
	return b.String()
}

// target returns the command line or the URL of an entry.
func target(e config.Entry) string {
	if e.Command == "" {
		return e.URL
	}
	return clitool.Line(append([]string{e.Command}, e.Args...))
}

// clip returns a text as one line of bounded length.
func clip(text string) string {
	line := []rune(plain.Line(text))
	if len(line) <= maxLine {
		return string(line)
	}
	return fmt.Sprintf("%s… (%d characters more: read the file first)", string(line[:maxLine]), len(line)-maxLine)
}

type member struct {
	name  string
	value json.RawMessage
}

// members returns those of an entry that target does not show, in their order.
func members(raw json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return out
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return out
		}
		if text, _ := name.(string); !slices.Contains([]string{"command", "args", "url", "origin"}, text) {
			out = append(out, member{text, value})
		}
	}
	return out
}
