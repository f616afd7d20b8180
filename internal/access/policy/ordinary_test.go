package policy_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// shape fills the shape of a URI of testdata/uris.txt.
func (c chance) shape(text string) string {
	word := func() string {
		return c.of("alpha", "beta", "project", "main", "index", "user", "data", "x1", "a-b", "my_notes", "report", "api", "server", "v2") + c.of("", strconv.Itoa(c.IntN(1000)))
	}
	return regexp.MustCompile(`\{[wnp]\}`).ReplaceAllStringFunc(text, func(hole string) string {
		switch hole {
		case "{w}":
			return word()
		case "{n}":
			return strconv.Itoa(1 + c.IntN(999))
		}
		out := word()
		for range c.IntN(4) {
			out += "/" + word()
		}
		return out
	})
}

// origin returns a URI up to its path.
var origin = regexp.MustCompile(`^[^:]+:(//[^/?#]*)?`)

// withPath returns a URI with the path "/" where that of a web page is empty.
func withPath(uri string) string {
	if strings.HasPrefix(uri, "http") && origin.FindString(uri) == uri {
		return uri + "/"
	}
	return uri
}

// TestOrdinaryVerdicts: URIs as published servers have them are compared with rules as they are
// written, and none is ambiguous.
func TestOrdinaryVerdicts(t *testing.T) {
	text, err := os.ReadFile("testdata/uris.txt")
	if err != nil {
		t.Fatal(err)
	}
	var shapes []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			shapes = append(shapes, line)
		}
	}
	c := chance{rand.New(rand.NewPCG(*policySeed, 4))}
	const n = 12_000
	seen := make(map[string]bool, n)
	for i := range n {
		uri := c.shape(shapes[i%len(shapes)])
		seen[uri] = true
		if u, ok := policy.ParseURI(uri); !ok || u.Ambiguous {
			t.Fatalf("%s: %+v, %v", uri, u, ok)
		}
		at := origin.FindString(uri)
		rule := c.of(uri, strings.TrimSuffix(at, "/")+"/**", at+"**", folderOf(uri), at+"/other/**", at+"/secret", at+".other/**", strings.ToUpper(at[:1])+at[1:]+"/**")
		about := withPath(uri) == withPath(rule)
		if folder, ok := strings.CutSuffix(rule, "**"); ok {
			about = strings.HasPrefix(withPath(uri), strings.Replace(folder, strings.ToUpper(at[:1]), at[:1], 1))
		}
		it := policy.Item{Kind: policy.Resource, Server: "fs", Name: uri}
		scope := `(principal, action, resource in Label::"resource:fs/` + rule + `");`
		if visible, _ := compile(t, permitAll+`@id("b") forbid `+scope).Snapshot(testServers, nil).View(alice).Unlisted(it); visible == about {
			t.Errorf("a rule against %s lets %s be read: %v", rule, uri, visible)
		}
		if visible, _ := compile(t, `@id("b") permit `+scope).Snapshot(testServers, nil).View(alice).Unlisted(it); visible != about {
			t.Errorf("a rule for %s lets %s be read: %v", rule, uri, visible)
		}
	}
	t.Logf("%d URIs of %d shapes", len(seen), len(shapes))
}
