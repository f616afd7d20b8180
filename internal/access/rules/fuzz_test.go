package rules_test

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/rules"
)

// FuzzRules: what a section becomes is Cedar that can be read, or there is an error with its
// place.
func FuzzRules(f *testing.F) {
	for _, form := range forms {
		f.Add(form.text)
	}
	for _, text := range faults {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
			return
		}
		s, err := rules.Parse("config.yaml", doc.Content[0])
		var p *policy.Problem
		switch {
		case err == nil:
		case errors.As(err, &p) && p.Line > 0 && p.Column > 0 && p.Text != "" && p.Remedy != "":
			return
		default:
			t.Fatalf("%q: %v has no place", text, err)
		}
		for _, auth := range []bool{true, false} {
			if _, err := policy.Compile(s.Config(auth)); err != nil {
				// Rates and questions are read there; they have the line of their rule.
				if !errors.As(err, &p) || p.Line == 0 || p.File != "config.yaml" {
					t.Fatalf("%q: %v", text, err)
				}
				known := false
				for _, text := range []string{"@over", "@ask", "is written as Resource::", "longer than"} {
					known = known || strings.Contains(p.Text, text)
				}
				if !known {
					t.Fatalf("%q: the Cedar cannot be read: %v", text, err)
				}
				for _, r := range s.List(auth) {
					if r.Line == p.Line && (r.Words == "" || len(r.Cedar) > 0) {
						return
					}
				}
				t.Fatalf("%q: no rule is in line %d: %v", text, p.Line, err)
			}
		}
	})
}
