package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/rules"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/plain"
)

const (
	// maxLearned bounds how many pairs of a principal and an item are remembered; with more,
	// learn fails, and says how to ask for fewer.
	maxLearned = 100_000
	// manyResources of one server are proposed as a pattern.
	manyResources = 3
)

// learner is what a log says of who has used what.
type learner struct {
	l *loaded
	// used are the requests of each principal, by what rules call the item.
	used  map[string]map[string]int
	names map[string]string
	pairs int
	// found are the items whose messages guards have found something in, by what.
	found map[string]map[string]bool
	// gone are items that are no longer there.
	gone        map[string]bool
	requests    int
	first, last time.Time
}

// Learn prints rules that allow what a log says was used, and labels that it suggests.
// Nothing is written.
func (p *Command) Learn(ctx context.Context, from string, q auditing.Query) error {
	l, err := p.load(ctx)
	if err != nil {
		return err
	}
	of := &learner{l: l, used: map[string]map[string]int{}, names: map[string]string{}, found: map[string]map[string]bool{}, gone: map[string]bool{}}
	if err := p.Audit.Each(ctx, from, q, of.add); err != nil {
		return err
	}
	if of.requests == 0 {
		return ui.Usage("the log has no request that was let through").WithHint("mcpctl audit shows what it has")
	}
	text := of.yaml()
	// What is printed is read back: it must be accepted as it is.
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	if _, err := rules.Parse("config.yaml", doc.Content[0].Content[1]); err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	if p.UI.JSON {
		return encodeAccess(p.UI, text)
	}
	_, err = p.UI.Out.Write([]byte(text))
	return err
}

// encodeAccess prints the section access of a YAML text as JSON.
func encodeAccess(u *ui.UI, text string) error {
	var of struct {
		Access map[string]any `yaml:"access" json:"access"`
	}
	if err := yaml.Unmarshal([]byte(text), &of); err != nil {
		return err
	}
	return u.EncodeJSON(of)
}

// add takes a record into account.
func (of *learner) add(e *auditing.Entry) error {
	r := &e.Record
	kind, ok := actionKinds()[policy.Action(r.Kind)]
	switch {
	case r.Target.Item == "" || was(r) != allow:
		return nil
	case ok:
	case r.Kind == audit.KindDeliver:
		kind = of.l.kindOf(&request{server: r.Target.Server, name: r.Target.Item})
	default:
		return nil
	}
	item := targetOf(kind, r.Target.Server, r.Target.Item)
	if !of.offered(kind, r.Target.Server, r.Target.Item) {
		if len(of.gone) < maxLearned {
			of.gone[item] = true
		}
		return nil
	}
	for _, what := range r.Decision.Found {
		if kind == policy.Resource {
			break // labels are for tools
		}
		if of.found[what] == nil {
			of.found[what] = map[string]bool{}
		}
		of.found[what][item] = true
	}
	if !ok {
		return nil
	}
	of.requests++
	if of.first.IsZero() {
		of.first = r.Time
	}
	of.last = r.Time
	principal := cmp.Or(r.Principal.ID, access.Local)
	if of.used[principal] == nil {
		of.used[principal] = map[string]int{}
		of.names[principal] = r.Principal.Name
	}
	if of.used[principal][item] == 0 {
		if of.pairs++; of.pairs > maxLearned {
			return ui.Usage("the log has more than %d pairs of a principal and an item", maxLearned).WithHint("learn from less of it, as with --since 7d or --server NAME")
		}
	}
	of.used[principal][item]++
	return nil
}

// offered reports whether an item can be in a rule: it is offered, as far as that is known,
// and its name is no pattern.
func (of *learner) offered(kind policy.Kind, server, name string) bool {
	if !slices.Contains(of.l.configured, server) || isPattern(name) || strings.HasSuffix(name, cut) {
		return false
	}
	return kind == policy.Resource || !of.l.listed[server] || of.l.item(kind, server, name).Definition != nil
}

// targetOf is how rules name an item.
func targetOf(kind policy.Kind, server, name string) string {
	return map[policy.Kind]string{policy.Prompt: "prompt:", policy.Resource: "resource:"}[kind] + server + "/" + name
}

// yaml returns the section, with why each part of it is proposed.
func (of *learner) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Guesses from %s of %s, %s to %s.\n", plain.Count(of.requests, "request"), plain.Count(len(of.used), "principal"), of.first.Format(time.DateTime), of.last.Format(time.DateTime))
	b.WriteString("# What was used is allowed, all else is denied. Read each rule before you use it.\n")
	for _, item := range slices.Sorted(maps.Keys(of.gone)) {
		b.WriteString("# No longer there: " + ui.CleanLine(item) + "\n")
	}
	b.WriteString("access:\n  default: deny\n")
	labels := of.labels()
	for i, l := range labels {
		if i == 0 {
			b.WriteString("  labels:\n")
		}
		fmt.Fprintf(&b, "    # guess: %s\n    %s: [%s]\n", l.why, l.name, joined(l.items))
	}
	for i, r := range of.rules() {
		if i == 0 {
			b.WriteString("  rules:\n")
		}
		fmt.Fprintf(&b, "    # guess: %s\n    - {allow: %s, to: %s}\n", ui.CleanLine(r.why), some(r.principals), some(r.to))
	}
	if len(labels) == 3 { //nolint:mnd // all that there are
		b.WriteString("    # guess: a person is asked before what is private can leave\n    - {ask: \"*\", to: outbound, after: [untrusted, private]}\n")
	}
	return b.String()
}

// learnedRule is one rule, with why.
type learnedRule struct {
	principals, to []string
	why            string
}

// rules returns a rule for each set of items, with all who have used exactly these.
func (of *learner) rules() []learnedRule {
	byItems := map[string]*learnedRule{}
	counts := map[string]int{}
	for _, principal := range slices.Sorted(maps.Keys(of.used)) {
		to := narrowed(slices.Sorted(maps.Keys(of.used[principal])))
		key := strings.Join(to, "\n")
		if byItems[key] == nil {
			byItems[key] = &learnedRule{to: to}
		}
		byItems[key].principals = append(byItems[key].principals, principal)
		for _, n := range of.used[principal] {
			counts[key] += n
		}
	}
	all := make([]learnedRule, 0, len(byItems))
	for key, r := range byItems {
		var people []string
		for _, principal := range r.principals {
			people = append(people, cmp.Or(of.names[principal], principal))
		}
		r.why = plain.Count(counts[key], "request") + " of " + strings.Join(people, ", ")
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b learnedRule) int { return slices.Compare(a.principals, b.principals) })
	return all
}

// narrowed returns items, in which many resources of a server have become one pattern: what
// they begin with, up to a slash.
func narrowed(items []string) (all []string) {
	resources := map[string][]string{}
	for _, item := range items {
		if rest, ok := strings.CutPrefix(item, "resource:"); ok {
			server, uri, _ := strings.Cut(rest, "/")
			resources[server] = append(resources[server], uri)
			continue
		}
		all = append(all, item)
	}
	for _, server := range slices.Sorted(maps.Keys(resources)) {
		uris := resources[server]
		if len(uris) > manyResources {
			if begin := common(uris); begin != "" {
				uris = []string{begin + "**"}
			}
		}
		for _, uri := range uris {
			all = append(all, "resource:"+server+"/"+uri)
		}
	}
	return all
}

// common returns what URIs have in common, up to a slash behind their scheme, "" for nothing.
func common(uris []string) string {
	begin := uris[0]
	for _, uri := range uris {
		for !strings.HasPrefix(uri, begin) {
			begin = begin[:len(begin)-1]
		}
	}
	begin = begin[:strings.LastIndexByte(begin, '/')+1]
	if scheme, rest, ok := strings.Cut(begin, "://"); !ok || scheme == "" || rest == "" {
		return ""
	}
	return begin
}

// learnedLabel is one label, with why.
type learnedLabel struct {
	name, why string
	items     []string
}

// labels returns labels by what guards have found, and by what annotations say. Names of tools
// say nothing.
func (of *learner) labels() (all []learnedLabel) {
	open, outbound := map[string]bool{}, map[string]bool{}
	for _, items := range of.used {
		for item := range items {
			server, name, _ := strings.Cut(item, "/")
			if isOpen, readOnly := annotated(of.l.item(policy.Tool, server, name).Definition); isOpen {
				open[item] = true
				if !readOnly {
					outbound[item] = true
				}
			}
		}
	}
	for _, l := range []struct {
		name, why string
		items     map[string]bool
	}{
		{"outbound", "their annotations say that they reach an open world, and change it", outbound},
		{"private", "guards have found secrets", of.found["secret"]},
		{"untrusted", "their annotations say that they reach an open world", open},
	} {
		if len(l.items) > 0 {
			all = append(all, learnedLabel{l.name, l.why, slices.Sorted(maps.Keys(l.items))})
		}
	}
	return all
}

// annotated returns what the annotations of a tool say, false without any.
func annotated(definition []byte) (open, readOnly bool) {
	var of struct {
		Annotations struct {
			OpenWorld bool `json:"openWorldHint"`
			ReadOnly  bool `json:"readOnlyHint"`
		} `json:"annotations"`
	}
	return json.Unmarshal(definition, &of) == nil && of.Annotations.OpenWorld, of.Annotations.ReadOnly
}
