// Package find searches the tools of servers as they were last listed, and shows them as the
// views of config.yaml do, without a running serve.
package find

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Hit is a tool that was found, in the form of --json.
type Hit struct {
	Server      string `json:"server"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	// Line is the line of text that says what the search was for: of the description,
	// or of an argument.
	Line string `json:"-"`
}

// Pattern compiles a pattern of grep: RE2, without regard to letter case.
func Pattern(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile("(?i)" + text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a regular expression: %w", text, err)
	}
	return re, nil
}

// Glob compiles a pattern for a whole name, in which * is any text and ? any character.
func Glob(pattern string) (*regexp.Regexp, error) {
	quoted := regexp.QuoteMeta(pattern)
	return regexp.Compile(`(?s)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted) + `$`)
}

// Grep returns the tools of a server with a match in their name, title, description or
// the name of an argument. Entries that are no tools are left out.
func Grep(server string, items []json.RawMessage, re *regexp.Regexp) (hits []Hit) {
	for _, raw := range items {
		hit, t, ok := read(server, raw)
		if !ok {
			continue
		}
		switch line, described := lineWith(t.Description, re); {
		case re.MatchString(t.Name), re.MatchString(hit.Title):
			hits = append(hits, hit)
		case described:
			hit.Line = line
			hits = append(hits, hit)
		default:
			if line, ok := argument(t.InputSchema, re); ok {
				hit.Line = line
				hits = append(hits, hit)
			}
		}
	}
	return hits
}

// Named returns the tools of a server whose name matches, and their entries as the server
// sent them.
func Named(server string, items []json.RawMessage, name *regexp.Regexp) (hits []Hit, raw []json.RawMessage) {
	for _, item := range items {
		if hit, t, ok := read(server, item); ok && name.MatchString(t.Name) {
			hits, raw = append(hits, hit), append(raw, item)
		}
	}
	return hits, raw
}

func read(server string, raw json.RawMessage) (hit Hit, t runtime.Tool, ok bool) {
	if json.Unmarshal(raw, &t) != nil || t.Name == "" {
		return hit, t, false
	}
	hit = Hit{Server: server, Name: t.Name, Title: t.Title, Description: t.Description}
	if t.Title == "" && t.Annotations != nil {
		hit.Title = t.Annotations.Title
	}
	first, _ := lineWith(t.Description, regexp.MustCompile(`\S`))
	hit.Line = cmp.Or(first, hit.Title)
	return hit, t, true
}

// lineWith returns the first line of a text with a match.
func lineWith(text string, re *regexp.Regexp) (string, bool) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); re.MatchString(line) && line != "" {
			return line, true
		}
	}
	return "", false
}

// argument returns a line about the first argument whose name matches.
func argument(inputSchema json.RawMessage, re *regexp.Regexp) (string, bool) {
	s, err := schema.Parse(inputSchema)
	if err != nil {
		return "", false
	}
	for _, p := range s.Root().Properties() {
		if re.MatchString(p.Name) {
			about, _, _ := strings.Cut(strings.TrimSpace(p.Node.Description()), "\n")
			return strings.TrimSuffix(p.Name+": "+about, ": "), true
		}
	}
	return "", false
}
