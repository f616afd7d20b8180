package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// reader reads the nodes of one file, which it names in problems.
type reader struct{ file string }

func (r reader) fault(n *yaml.Node, text, remedy string) error {
	return &policy.Problem{File: r.file, Line: n.Line, Column: n.Column, Text: text, Remedy: remedy}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// behind returns the node that an alias stands for.
func behind(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// mapping returns the members of a mapping, which are some of known, or any where that is
// nil.
func (r reader) mapping(n *yaml.Node, name string, known []string, example string) (map[string]*yaml.Node, error) {
	n = behind(n)
	if isNull(n) {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, r.fault(n, name+" is no mapping", example)
	}
	all := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], behind(n.Content[i+1])
		switch {
		case k.Kind != yaml.ScalarNode:
			return nil, r.fault(k, name+" has a member without a name", example)
		case known != nil && !slices.Contains(known, k.Value):
			return nil, r.fault(k, fmt.Sprintf("unknown setting %q of %s", k.Value, name), unknown(k.Value, known))
		case all[k.Value] != nil:
			return nil, r.fault(k, name+" has "+k.Value+" twice", "remove one of the two")
		}
		all[k.Value] = v
	}
	return all, nil
}

func unknown(name string, known []string) string {
	return plain.NearestHint(name, known, "settings are "+strings.Join(known, ", "))
}

// list returns the items of a list of texts; one text is a list of one.
func (r reader) list(name string, n *yaml.Node, example string) ([]*yaml.Node, error) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = nil
		for _, i := range n.Content {
			items = append(items, behind(i))
		}
	}
	for _, i := range items {
		if i.Kind != yaml.ScalarNode || isNull(i) || i.Value == "" || !utf8.ValidString(i.Value) || hasControl(i.Value) {
			return nil, r.fault(i, name+" is no text or list of texts", example)
		}
	}
	return items, nil
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// word returns a text that is one of several.
func (r reader) word(name string, n *yaml.Node, remedy string, words ...string) (string, error) {
	if n.Kind != yaml.ScalarNode || !slices.Contains(words, n.Value) {
		return "", r.fault(n, fmt.Sprintf("%s is %q", name, n.Value), remedy)
	}
	return n.Value, nil
}

// IsName reports whether a text can be the name of a group, a label or a rule.
func IsName(text string) bool {
	for _, r := range text {
		if !strings.ContainsRune("-_.", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	const most = 128
	return text != "" && len(text) <= most
}
