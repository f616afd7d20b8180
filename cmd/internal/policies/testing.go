package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// maxTests is the greatest size of a file of tests, in bytes.
const maxTests = 4 << 20

const exampleTest = `as in - {as: {id: "token|ci"}, call: gh/merge, want: deny}`

// test is one test of a file.
type test struct {
	file string
	node *yaml.Node
	request
	want, policy string
}

// testForm is how it is written.
type testForm struct {
	As   yaml.Node `yaml:"as"`
	Call string    `yaml:"call"`
	Get  string    `yaml:"get"`
	Read string    `yaml:"read"`
	Args yaml.Node `yaml:"args"`
	Seen []string  `yaml:"seen"`
	Now  string    `yaml:"now"`
	IP   string    `yaml:"ip"`
	Want string    `yaml:"want"`
	By   string    `yaml:"by"`
}

// asForm is a principal in a test.
type asForm struct {
	ID     string   `yaml:"id"`
	Groups []string `yaml:"groups"`
	Scopes []string `yaml:"scopes"`
}

// difference is one test that is decided otherwise; a line of policy test --json.
type difference struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Request string   `json:"request"`
	Want    string   `json:"want"`
	WantBy  string   `json:"wantBy,omitempty"`
	Got     string   `json:"got"`
	By      []string `json:"by"`
	Reason  string   `json:"reason,omitempty"`
}

// Test runs the tests of some files, those of config.yaml without any. It fails with
// ErrDifferent.
func (p *Command) Test(ctx context.Context, files []string) error {
	l, err := p.load(ctx)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if files, err = l.TestFiles(); err != nil {
			return err
		}
		if len(files) == 0 {
			return ui.Usage("config.yaml names no tests").WithHint("name a file, or write access: {tests: [policy/*_test.yaml]}")
		}
	}
	count, differences := 0, []difference{}
	for _, file := range files {
		tests, err := p.readTests(l, file)
		if err != nil {
			return err
		}
		count += len(tests)
		for _, t := range tests {
			if d, differs := t.run(l); differs {
				differences = append(differences, d)
			}
		}
	}
	if p.UI.WantJSON() {
		err = p.UI.EncodeJSON(struct {
			Tests       int          `json:"tests"`
			Differences []difference `json:"differences"`
		}{count, differences})
	} else {
		err = p.printDifferences(count, differences)
	}
	if err == nil && len(differences) > 0 {
		err = ErrDifferent
	}
	return err
}

func (p *Command) printDifferences(count int, all []difference) error {
	var b strings.Builder
	for _, d := range all {
		want, got := d.Want, d.Got
		if d.WantBy != "" {
			want += " by " + d.WantBy
		}
		if len(d.By) > 0 {
			got += " by " + strings.Join(d.By, ", ")
		}
		if d.Reason != "" {
			got += " (" + d.Reason + ")"
		}
		fmt.Fprintf(&b, "%s: %s\n  want %s, got %s\n", p.place(d.File, d.Line), ui.CleanLine(d.Request), ui.CleanLine(want), ui.CleanLine(got))
	}
	c, tests := p.UI.Palette(), "tests"
	if count == 1 {
		tests = "test"
	}
	if len(all) == 0 {
		fmt.Fprintf(&b, "%s: %d %s\n", c.Green("ok"), count, tests)
	} else {
		fmt.Fprintf(&b, "%s: %d of %d %s\n", c.Red("different"), len(all), count, tests)
	}
	_, err := p.UI.Out.Write([]byte(b.String()))
	return err
}

// run decides a test, and reports whether the decision differs from what is wanted.
func (t *test) run(l *loaded) (difference, bool) {
	got := l.decide(&t.request)
	verdict := got.verdict
	if verdict == hidden && t.want == deny {
		verdict = deny // hidden is the stricter form of it
	}
	of := difference{
		File: t.file, Line: t.node.Line, Request: fmt.Sprintf("%s %s/%s as %s", t.action, t.server, t.name, t.as),
		Want: t.want, WantBy: t.policy, Got: got.verdict, By: or(got.policies), Reason: got.Outcome.Reason,
	}
	return of, verdict != t.want || t.policy != "" && !slices.ContainsFunc(got.policies, func(id string) bool {
		// A rule may have become several policies.
		return id == t.policy || strings.HasPrefix(id, t.policy+".")
	})
}

// readTests reads a file of tests. Its errors have their place.
func (p *Command) readTests(l *loaded, path string) ([]*test, error) {
	raw, err := atomicfile.Read(path, maxTests)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, ui.Usage("no such file: %s", path)
		}
		return nil, config.FileProblem(path, err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, &config.Problem{File: path, Message: strings.TrimPrefix(err.Error(), "yaml: "), Remedy: "a file of tests is YAML"}
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.SequenceNode {
		return nil, problemAt(path, root, "the file is no list of tests", exampleTest)
	}
	var all []*test
	for _, n := range root.Content {
		t := &test{file: path, node: n}
		if err := p.readTest(l, t); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func problemAt(path string, n *yaml.Node, message, remedy string) error {
	return &config.Problem{File: path, Line: n.Line, Column: n.Column, Message: message, Remedy: remedy}
}

// known refuses members that a struct does not have: a test of which a part is not read
// would prove nothing.
func knownMembers(path string, n *yaml.Node, names ...string) error {
	if n.Kind != yaml.MappingNode {
		return problemAt(path, n, "it is no mapping", exampleTest)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; !slices.Contains(names, k.Value) {
			return problemAt(path, k, fmt.Sprintf("unknown setting %q of a test", k.Value), "settings are "+strings.Join(names, ", "))
		}
	}
	return nil
}

func (p *Command) readTest(l *loaded, t *test) error {
	if err := knownMembers(t.file, t.node, "as", "call", "get", "read", "args", "seen", "now", "ip", "want", "by"); err != nil {
		return err
	}
	bad := func(message string) error { return problemAt(t.file, t.node, message, exampleTest) }
	var f testForm
	if err := t.node.Decode(&f); err != nil {
		return bad(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  "), "\n", ";"))
	}
	item := ""
	for action, of := range map[policy.Action]string{policy.Call: f.Call, policy.Get: f.Get, policy.Read: f.Read} {
		if of != "" && item != "" {
			return bad("a test has one of call, get and read")
		}
		if of != "" {
			t.action, item = action, of
		}
	}
	if item == "" {
		return bad("a test has one of call, get and read")
	}
	if err := l.about(&t.request, item); err != nil {
		return bad(err.Error())
	}
	if !slices.Contains([]string{allow, ask, deny, hidden}, f.Want) {
		return bad(fmt.Sprintf("want is %q, and not allow, ask, deny or hidden", f.Want))
	}
	t.want, t.policy, t.seen, t.now = f.Want, f.By, f.Seen, time.Now()
	var err error
	if f.Now != "" {
		if t.now, err = time.Parse(time.RFC3339, f.Now); err != nil {
			return bad(fmt.Sprintf("now is %q, and no time such as 2027-01-31T12:00:00Z", f.Now))
		}
	}
	if f.IP != "" {
		if t.addr, err = netip.ParseAddr(f.IP); err != nil {
			return bad(fmt.Sprintf("ip is %q, and no address", f.IP))
		}
	}
	if t.principal, t.as, err = p.readAs(t.file, &f.As); err != nil {
		return err
	}
	t.arguments, err = argumentsOf(&f.Args)
	if err != nil {
		return bad("args is no object")
	}
	return nil
}

// readAs reads the principal of a test: a text as of --as, or id, groups and scopes.
func (p *Command) readAs(path string, n *yaml.Node) (principal *access.Principal, as string, err error) {
	var f asForm
	switch n.Kind {
	case 0: // not there
	case yaml.ScalarNode:
		f.ID = n.Value
	default:
		if err := knownMembers(path, n, "id", "groups", "scopes"); err != nil {
			return nil, "", err
		}
		if n.Decode(&f) != nil {
			return nil, "", problemAt(path, n, "as is no principal", exampleTest)
		}
	}
	if principal, err = p.principal(f.ID, f.Groups, f.Scopes); err != nil {
		return nil, "", problemAt(path, n, err.Error(), `write an id, as in as: {id: "token|ci", groups: [ci]}`)
	}
	if f.ID == "" {
		f.ID = access.Local
	}
	return principal, f.ID, nil
}

// argumentsOf returns arguments as JSON: of a mapping, or of a text that is JSON, in which
// numbers keep their digits.
func argumentsOf(n *yaml.Node) ([]byte, error) {
	if n.Kind == 0 {
		return nil, nil
	}
	var object map[string]any
	if n.Kind == yaml.ScalarNode {
		return []byte(n.Value), json.Unmarshal([]byte(n.Value), &object)
	}
	if err := n.Decode(&object); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}
