package settings

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access"
)

// TokenProvider accepts static tokens: those of mcpctl access token, or only those that
// the settings list.
type TokenProvider struct {
	// List are the listed ones, without ids. Nil: there is no list.
	List []access.Token
}

// listedToken is a token as it is in the settings.
type listedToken struct {
	Name string `yaml:"name"`
	// Hash is "sha256:" and the SHA-256 of the token, in hex.
	Hash    string   `yaml:"hash"`
	Groups  []string `yaml:"groups"`
	Expires string   `yaml:"expires"`
}

func (f *file) tokenProvider(n *yaml.Node, p *Providers) error {
	p.Token = &TokenProvider{}
	n = resolved(n)
	if n.Kind != yaml.SequenceNode {
		return f.decode("token", n, &struct{}{}, "as in token: {}")
	}
	for _, item := range n.Content {
		t, err := f.readListedToken(item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.Token.List, func(o access.Token) bool { return o.SHA256 == t.SHA256 }) {
			return f.problemAt(item, "token has one hash twice", "remove one of the two")
		}
		p.Token.List = append(p.Token.List, t)
	}
	if p.Token.List == nil {
		return f.problemAt(n, "token is an empty list: nobody could have one", "write token: {} for the tokens of mcpctl access token")
	}
	return nil
}

func (f *file) readListedToken(n *yaml.Node) (t access.Token, err error) {
	const example = `as in token: [{name: ci, hash: "sha256:…"}]`
	var l listedToken
	if err := f.decode("token", n, &l, example); err != nil {
		return t, err
	}
	wrong := func(remedy, format string, a ...any) (access.Token, error) {
		return access.Token{}, f.problemAt(n, fmt.Sprintf(format, a...), remedy)
	}
	sum, isHash := strings.CutPrefix(l.Hash, "sha256:")
	const hashLength = 64
	switch b, err := hex.DecodeString(sum); {
	case !access.ValidTokenName(l.Name):
		return wrong(example, "token has the name %q: want letters, digits and . _ @ + -, at most 64", l.Name)
	case access.IsToken(l.Hash):
		return wrong(`write its hash: printf %s TOKEN | sha256sum`, "the hash of %s is the token itself, which must not be in a file", l.Name)
	case !isHash || err != nil || len(sum) != hashLength:
		return wrong(example, "the hash of %s is not sha256: and 64 hexadecimal digits", l.Name)
	default:
		t.SHA256 = hex.EncodeToString(b) // in lower case
	}
	if i := slices.IndexFunc(l.Groups, func(g string) bool { return !access.ValidGroup(g) }); i >= 0 {
		return wrong("want letters, digits and . _ : / -, at most 64", "%s has the group %q", l.Name, l.Groups[i])
	}
	if l.Expires != "" {
		if t.Expires, err = time.Parse(time.DateOnly, l.Expires); err != nil {
			if t.Expires, err = time.Parse(time.RFC3339, l.Expires); err != nil {
				return wrong("as in expires: 2027-01-31", "%s expires on %q, which is not a date", l.Name, l.Expires)
			}
		}
	}
	t.Name, t.Groups = l.Name, slices.Compact(slices.Sorted(slices.Values(l.Groups)))
	return t, nil
}
