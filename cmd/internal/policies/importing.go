package policies

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/rules"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// maxImport is the greatest size of a file that is imported, in bytes.
const maxImport = 4 << 20

// ImportLong is the help of the command.
const ImportLong = `Turn the access list of another gateway into rules for config.yaml, and print them. Nothing is written.

FILE is a servers.json with serverAuth.acl or acl, in its form with roles or in the one with rules, or the access list
alone. A file is refused where its meaning would change: rules whose order matters, and access levels that rest on a guess
from the names of tools. What a tool reads is taken from its annotations, where they are trusted, and from nothing else.`

// Import prints the rules that an access list of another gateway becomes.
func (p *Command) Import(path string) error {
	raw, err := atomicfile.Read(path, maxImport)
	if err != nil {
		return ui.Usage("%w", err)
	}
	out, err := translate(raw)
	if err != nil {
		return &ui.Error{Kind: "config", Err: fmt.Errorf("%s: %w", path, err), Remedy: ui.HintOf(err)}
	}
	text := out.yaml()
	// What is printed is read back: it must be accepted as it is.
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if _, err := rules.Parse(path, doc.Content[0].Content[1]); err != nil {
		return &ui.Error{Kind: "config", Err: err}
	}
	for _, note := range out.notes {
		p.UI.Info("note: %s", note)
	}
	if p.UI.JSON {
		return encodeAccess(p.UI, text)
	}
	_, err = p.UI.Out.Write([]byte(text))
	return err
}

// refusal is why a list cannot be translated, and what to do.
type refusal struct{ text, remedy string }

func (r *refusal) Error() string { return r.text }
func (r *refusal) Hint() string  { return r.remedy }

func refuse(remedy, format string, a ...any) error {
	return &refusal{text: fmt.Sprintf(format, a...), remedy: remedy}
}

// foreign is a file of the other gateway, as far as it says who may do what.
type foreign struct {
	Servers    map[string]json.RawMessage `json:"mcpServers"`
	ACL        *foreignList               `json:"acl"`
	ServerAuth *struct {
		ACL       *foreignList `json:"acl"`
		Providers []string     `json:"providers"`
		Bearer    struct {
			Tokens map[string]json.RawMessage `json:"tokens"`
		} `json:"bearer"`
	} `json:"serverAuth"`
}

// foreignList is one list in either form.
type foreignList struct {
	Default  string                    `json:"default"`
	Strict   bool                      `json:"strictClassification"`
	Roles    map[string][]grant        `json:"roles"`
	Subjects map[string]foreignSubject `json:"subjects"`
	Rules    []foreignRule             `json:"rules"`
}

type foreignSubject struct {
	Roles []string `json:"roles"`
	Extra []grant  `json:"extra"`
}

type grant struct {
	Server    oneOrMore `json:"server"`
	Access    string    `json:"access"`
	Tools     []string  `json:"tools"`
	Resources []string  `json:"resources"`
	Prompts   []string  `json:"prompts"`
	Deny      bool      `json:"deny"`
}

type foreignRule struct {
	Subjects []string `json:"subjects"`
	Roles    []string `json:"roles"`
	Tools    []string `json:"tools"`
	Policy   string   `json:"policy"`
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

// UnmarshalJSON reads both forms.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

// translation is what a list becomes.
type translation struct {
	ids     func(subject string) []string
	servers []string
	deflt   string
	groups  map[string][]string
	rules   []translated
	notes   []string
}

type translated struct {
	effect         string
	principals, to []string
	readOnly       bool
}

func translate(raw []byte) (*translation, error) {
	plain, err := hujson.Standardize(raw)
	if err != nil {
		return nil, refuse("the file is JSON, with comments", "%v", err)
	}
	var f foreign
	if err := json.Unmarshal(plain, &f); err != nil {
		return nil, refuse("mcpctl policy import --help says what it reads", "%v", err)
	}
	list := f.ACL
	var providers []string
	tokens := map[string]json.RawMessage{}
	if f.ServerAuth != nil {
		providers, tokens = f.ServerAuth.Providers, f.ServerAuth.Bearer.Tokens
		if f.ServerAuth.ACL != nil {
			if list != nil {
				return nil, refuse("remove one of the two", "it has both acl and serverAuth.acl")
			}
			list = f.ServerAuth.ACL
		}
	}
	if list == nil {
		list = new(foreignList)
		d := json.NewDecoder(strings.NewReader(string(plain)))
		d.DisallowUnknownFields()
		if err := d.Decode(list); err != nil || list.Roles == nil && list.Rules == nil && list.Subjects == nil {
			return nil, refuse("mcpctl policy import --help says what it reads", "it has no access list: neither acl nor serverAuth.acl")
		}
	}
	t := &translation{servers: slices.Sorted(maps.Keys(f.Servers)), groups: map[string][]string{}, deflt: rules.Allow}
	t.ids = idsOf(providers)
	switch list.Default {
	case "", rules.Allow:
	case rules.Deny:
		t.deflt = rules.Deny
	default:
		return nil, refuse("write allow or deny", "default is %q", list.Default)
	}
	if err := t.tokens(tokens); err != nil {
		return nil, err
	}
	if list.Rules != nil && (list.Roles != nil || list.Subjects != nil) {
		return nil, refuse("keep one of the two forms", "it has both roles and rules")
	}
	if list.Rules != nil {
		err = t.firstMatch(list.Rules)
	} else {
		err = t.roles(list)
	}
	return t, err
}

// idsOf returns what finds the IDs of a subject, by how the gateway learns who comes.
func idsOf(providers []string) func(string) []string {
	return func(subject string) (ids []string) {
		if subject == "anonymous" {
			return []string{access.Local}
		}
		if slices.Contains(providers, "forwarded") {
			ids = append(ids, "proxy|"+subject)
		}
		if len(ids) == 0 || slices.Contains(providers, "bearer") {
			ids = append(ids, "token|"+subject)
		}
		return ids
	}
}

// tokens puts the subjects of static tokens into the groups that are their roles.
func (t *translation) tokens(all map[string]json.RawMessage) error {
	for _, secret := range slices.Sorted(maps.Keys(all)) {
		var of struct {
			Subject string   `json:"subject"`
			Roles   []string `json:"roles"`
		}
		if json.Unmarshal(all[secret], &of) != nil { // the subject alone
			continue
		}
		if err := t.join(of.Subject, of.Roles); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		t.notes = append(t.notes, "tokens are not taken over: mcpctl access token add NAME makes one for each subject")
	}
	return nil
}

// join puts a subject into groups.
func (t *translation) join(subject string, roles []string) error {
	for _, r := range roles {
		if err := t.group(r); err != nil {
			return err
		}
		for _, id := range t.ids(subject) {
			if !slices.Contains(t.groups[r], id) {
				t.groups[r] = append(t.groups[r], id)
			}
		}
	}
	return nil
}

// group notes that there is a group.
func (t *translation) group(name string) error {
	if !rules.IsName(name) || name == access.Local {
		return refuse("rename it: letters, digits, '-', '_' and '.'", "the role %q cannot be the name of a group", name)
	}
	if t.groups[name] == nil {
		t.groups[name] = []string{}
	}
	return nil
}

// roles translates the form in which the grants of a subject's roles are united, and deny
// wins: as it is here.
func (t *translation) roles(list *foreignList) error {
	for _, role := range slices.Sorted(maps.Keys(list.Roles)) {
		if err := t.group(role); err != nil {
			return err
		}
		for i, g := range list.Roles[role] {
			if err := t.grant(fmt.Sprintf("grant %d of role %s", i+1, role), []string{role}, g, list.Roles[role], list.Strict); err != nil {
				return err
			}
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(list.Subjects)) {
		of := list.Subjects[subject]
		for _, r := range of.Roles {
			if _, known := list.Roles[r]; !known {
				return refuse("add it to roles, or remove it there", "the subject %q has the unknown role %q", subject, r)
			}
		}
		if err := t.join(subject, of.Roles); err != nil {
			return err
		}
		for i, g := range of.Extra {
			if err := t.grant(fmt.Sprintf("extra grant %d of %s", i+1, subject), t.ids(subject), g, of.Extra, list.Strict); err != nil {
				return err
			}
		}
	}
	return nil
}

// grant translates one grant; beside are those of the same role.
func (t *translation) grant(name string, principals []string, g grant, others []grant, strict bool) error {
	effect := map[bool]string{false: "allow", true: "deny"}[g.Deny]
	out := translated{effect: effect, principals: principals}
	const guess = "name the tools, with access \"*\""
	switch g.Access {
	case "*":
		if strict && !g.Deny {
			return refuse("set strictClassification to false and name the tools", "%s: strictClassification leaves out tools by a guess from their names", name)
		}
	case "read":
		if g.Deny {
			return refuse(guess, "%s denies tools that only read, by a guess from their names", name)
		}
		out.readOnly = true
	case "write":
		if g.Deny || strict {
			return refuse(guess, "%s is about tools that write, by a guess from their names", name)
		}
		reads := slices.ContainsFunc(others, func(o grant) bool {
			return !o.Deny && o.Access == "read" && slices.Equal(o.Server, g.Server) && slices.Equal(o.Tools, g.Tools)
		})
		if !reads && (len(g.Tools) == 0 || slices.ContainsFunc(g.Tools, isPattern)) {
			return refuse(guess, "%s allows tools that write, by a guess from their names", name)
		}
	default:
		return refuse(`write read, write or "*"`, "%s has the access %q", name, g.Access)
	}
	// Resources and prompts are only read: a grant for writing has none of them.
	items := g.Access != "write"
	all := len(g.Tools)+len(g.Resources)+len(g.Prompts) == 0 && items
	if all && slices.Equal(g.Server, []string{"*"}) {
		out.to = []string{"*"}
		t.rules = append(t.rules, out)
		return nil
	}
	servers, err := t.matching(name, g.Server)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if all {
			out.to = append(out.to, s)
			continue
		}
		out.to = append(out.to, targetsOf("tool", s, g.Tools, g.Deny)...)
		if items {
			out.to = append(out.to, targetsOf("resource", s, g.Resources, true)...)
			out.to = append(out.to, targetsOf("prompt", s, g.Prompts, g.Deny)...)
		}
	}
	t.rules = append(t.rules, out)
	return nil
}

func isPattern(text string) bool { return strings.Contains(text, "*") }

// targetsOf are the targets of patterns, none of which stand for all. Deep has the star at
// the end of one match slashes, too.
func targetsOf(kind, server string, patterns []string, deep bool) (all []string) {
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	for _, p := range patterns {
		if deep && strings.HasSuffix(p, "*") && !strings.HasSuffix(p, "**") {
			p += "*"
		}
		all = append(all, kind+":"+server+"/"+p)
	}
	return all
}

// matching returns the servers that patterns name.
func (t *translation) matching(name string, patterns []string) (all []string, err error) {
	for _, p := range patterns {
		if !isPattern(p) {
			all = append(all, p)
			continue
		}
		n := len(all)
		for _, s := range t.servers {
			if overlap(p, s) {
				all = append(all, s)
			}
		}
		if len(all) == n {
			return nil, refuse("name the servers, or import the servers.json that has them", "%s is about the servers %q, and the file has none of them", name, p)
		}
		t.notes = append(t.notes, fmt.Sprintf("%s is for the servers of today: %s", name, strings.Join(all[n:], ", ")))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// firstMatch translates rules of which the first that matches counts. Here, deny wins: that
// is the same unless a rule allows what a later one denies.
func (t *translation) firstMatch(list []foreignRule) error {
	const separator = "__"
	last := len(list) - 1
	if last >= 0 && everyone(list[last]) && slices.Contains(list[last].Tools, "*") && list[last].Policy == rules.Deny {
		// The end of the list is the default of tools.
		list = list[:last]
		if t.deflt == rules.Allow {
			servers, err := t.matching("default", []string{"*"})
			if err != nil {
				return err
			}
			r := translated{effect: "allow", principals: []string{"*"}}
			for _, s := range servers {
				r.to = append(r.to, "resource:"+s+"/**", "prompt:"+s+"/*")
			}
			t.rules, t.deflt = append(t.rules, r), rules.Deny
		}
	}
	for i, r := range list {
		name := fmt.Sprintf("rule %d", i+1)
		if r.Policy != rules.Allow && r.Policy != rules.Deny {
			return refuse("write allow or deny", "%s has the policy %q", name, r.Policy)
		}
		for j, earlier := range list[:i] {
			if earlier.Policy == rules.Allow && r.Policy == rules.Deny && meet(earlier, r) {
				return refuse("here deny wins: let the later rule name only what the earlier one does not allow",
					"the order of rules matters: rule %d allows what rule %d denies", j+1, i+1)
			}
		}
		out := translated{effect: r.Policy}
		switch named, inRole := names(r.Subjects), names(r.Roles); {
		case named && inRole:
			return refuse("write a role that has only these subjects", "%s is about subjects who also have a role", name)
		case named:
			for _, s := range r.Subjects {
				out.principals = append(out.principals, t.ids(s)...)
			}
		case inRole:
			for _, role := range r.Roles {
				if err := t.group(role); err != nil {
					return err
				}
			}
			out.principals = r.Roles
		default:
			out.principals = []string{"*"}
		}
		for _, pattern := range r.Tools {
			server, tool, found := strings.Cut(pattern, separator)
			if !found {
				if !strings.HasSuffix(pattern, "*") {
					return refuse("write SERVER__TOOL", "%s names the tool %q, which has no server", name, pattern)
				}
				server, tool = pattern, "*"
			}
			servers, err := t.matching(name, []string{server})
			if err != nil {
				return err
			}
			for _, s := range servers {
				out.to = append(out.to, targetsOf("tool", s, []string{tool}, r.Policy == rules.Deny)...)
			}
		}
		if len(out.to) > 0 {
			t.rules = append(t.rules, out)
		}
	}
	return nil
}

// names reports whether a list confines who is meant.
func names(list []string) bool { return len(list) > 0 && !slices.Contains(list, "*") }

func everyone(r foreignRule) bool { return !names(r.Subjects) && !names(r.Roles) }

// meet reports whether two rules can be about the same call.
func meet(a, b foreignRule) bool {
	if names(a.Subjects) && names(b.Subjects) && !slices.ContainsFunc(a.Subjects, func(s string) bool { return slices.Contains(b.Subjects, s) }) {
		return false
	}
	for _, p := range a.Tools {
		for _, q := range b.Tools {
			if overlap(p, q) {
				return true
			}
		}
	}
	return false
}

// overlap reports whether two patterns, in which a star stands for any characters, match
// one text.
func overlap(p, q string) bool {
	// meets[j] says whether p from here on and q[j:] match one text.
	meets := make([]bool, len(q)+1)
	for i := len(p); i >= 0; i-- {
		above := slices.Clone(meets)
		for j := len(q); j >= 0; j-- {
			switch {
			case i == len(p) && j == len(q):
				meets[j] = true
			case i < len(p) && p[i] == '*':
				meets[j] = above[j] || j < len(q) && meets[j+1]
			case j < len(q) && q[j] == '*':
				meets[j] = meets[j+1] || i < len(p) && above[j]
			default:
				meets[j] = i < len(p) && j < len(q) && p[i] == q[j] && above[j+1]
			}
		}
	}
	return meets[0]
}

// yaml returns the section.
func (t *translation) yaml() string {
	var b strings.Builder
	b.WriteString("access:\n  default: " + t.deflt + "\n")
	if len(t.groups) > 0 {
		b.WriteString("  groups:\n")
		for _, name := range slices.Sorted(maps.Keys(t.groups)) {
			fmt.Fprintf(&b, "    %s: [%s]\n", quoted(name), joined(t.groups[name]))
		}
	}
	if len(t.rules) > 0 {
		b.WriteString("  rules:\n")
	}
	for _, r := range t.rules {
		fmt.Fprintf(&b, "    - {%s: %s, to: %s%s}\n", r.effect, some(r.principals), some(r.to), map[bool]string{true: ", only: read-only"}[r.readOnly])
	}
	return b.String()
}

func some(list []string) string {
	if len(list) == 1 {
		return quoted(list[0])
	}
	return "[" + joined(list) + "]"
}

func joined(list []string) string {
	all := make([]string, len(list))
	for i, l := range list {
		all[i] = quoted(l)
	}
	return strings.Join(all, ", ")
}

// quoted returns a text as YAML has it, in quotes unless it is a plain name.
func quoted(text string) string {
	var back any
	if rules.IsName(strings.ReplaceAll(text, "/", "")) && yaml.Unmarshal([]byte(text), &back) == nil && back == text {
		return text
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(raw)
}
