package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
)

// shapeRow is a line of the table of JSON shapes in docs/call.md.
var shapeRow = regexp.MustCompile("^\\| `([a-z ]+)` \\| `(\\{.*?\\})`")

// TestDocsShapes holds that table to what the commands print: every member is
// in the table, and what has no question mark there is printed.
func TestDocsShapes(t *testing.T) {
	t.Parallel()
	records, err := registrytest.Records()
	require.NoError(t, err)
	handler, err := registrytest.NewServer(records, registrytest.Options{})
	require.NoError(t, err)
	reg := httptest.NewServer(handler)
	defer reg.Close()
	mcpctl, err := exec.LookPath("mcpctl")
	require.NoError(t, err)
	dir := t.TempDir()
	run := func(words ...string) []byte {
		t.Helper()
		cmd := exec.Command(mcpctl, append(words, "--json")...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "MCPCTL_HOME=" + dir, "MCPCTL_REGISTRY=" + reg.URL, "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), noRaceSleep}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("mcpctl %s: %v", strings.Join(words, " "), err)
		}
		return out
	}
	run("add", "workshop", "--", mcpctl, "demo-server")
	run("add", "thing")
	// A warning, so that the list of problems has an element.
	odd := filepath.Join(dir, "odd.json")
	require.NoError(t, os.WriteFile(odd, []byte(`{"mcpServers":{"a":{"command":"x","arguments":[]}}}`), 0o600))
	// Something that has changed since, too.
	run("generate", "workshop", "--tools", "echo")
	words := map[string][]string{
		"list": {"list"}, "get": {"get", "workshop"}, "remove": {"remove", "thing"},
		"search": {"search", "acme"}, "info": {"info", "thing"}, "add": {"add", "notebook", "--dry-run"},
		"generate": {"generate", "workshop", "--record", "fixtures"}, "ping": {"ping", "workshop"},
		"config validate": {"config", "validate", "--config", odd}, "version": {"version"},
	}
	rows := 0
	for _, line := range readPage(t, "docs/call.md") {
		m := shapeRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		want, rest, err := parseShape(m[2])
		if err != nil || rest != "" {
			t.Errorf("%s: cannot read %s at %q: %v", m[1], m[2], rest, err)
			continue
		}
		var got any
		if err := json.Unmarshal(run(words[m[1]]...), &got); err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		if err := want.check(got); err != nil {
			t.Errorf("mcpctl %s prints %v: %v", m[1], got, err)
		}
	}
	if rows != len(words) {
		t.Errorf("docs/call.md has %d shapes, want %d", rows, len(words))
	}
}

// shape is a value in the table's notation. Without members and elements it is
// any value.
type shape struct {
	members  map[string]shape
	optional map[string]bool
	list     bool
	element  *shape
}

// parseShape reads {"a","b"?,"c":[{…}]} and gives what follows it.
func parseShape(s string) (shape, string, error) {
	switch {
	case strings.HasPrefix(s, "["):
		out := shape{list: true}
		s = s[1:]
		if strings.HasPrefix(s, "{") {
			e, rest, err := parseShape(s)
			if err != nil {
				return out, rest, err
			}
			out.element, s = &e, rest
		}
		s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '…' || unicode.IsLetter(r) })
		rest, ok := strings.CutPrefix(s, "]")
		if !ok {
			return out, s, errors.New("want ]")
		}
		return out, rest, nil
	case strings.HasPrefix(s, "{"):
		out := shape{members: map[string]shape{}, optional: map[string]bool{}}
		for sep := "{"; strings.HasPrefix(s, sep); sep = "," {
			name, rest, ok := strings.Cut(strings.TrimPrefix(s[1:], `"`), `"`)
			if !ok {
				return out, s, errors.New("want a name")
			}
			var value shape
			if strings.HasPrefix(rest, ":") {
				var err error
				if value, rest, err = parseShape(rest[1:]); err != nil {
					return out, rest, err
				}
			}
			s, out.optional[name] = strings.CutPrefix(rest, "?")
			out.members[name] = value
		}
		rest, ok := strings.CutPrefix(s, "}")
		if !ok {
			return out, s, errors.New("want }")
		}
		return out, rest, nil
	}
	return shape{}, s, errors.New("want { or [")
}

// check compares a decoded value with the shape.
func (s shape) check(v any) error {
	switch {
	case s.list:
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is no list", v)
		}
		if s.element != nil && len(list) == 0 {
			return errors.New("a list is empty: nothing to compare")
		}
		for _, e := range list {
			if s.element != nil {
				if err := s.element.check(e); err != nil {
					return err
				}
			}
		}
	case s.members != nil:
		object, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", v)
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			m, ok := s.members[name]
			if !ok {
				return fmt.Errorf("the page does not know %q", name)
			}
			if err := m.check(object[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		for name := range s.members {
			if _, ok := object[name]; !ok && !s.optional[name] {
				return fmt.Errorf("%q is missing", name)
			}
		}
	}
	return nil
}
