package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/rules"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const accessName = "access"

// maxPolicyFile is the greatest size of a file of policies, in bytes; maxPolicyFiles bounds
// how many there are.
const (
	maxPolicyFile  = 1 << 20
	maxPolicyFiles = 256
)

// Policies are the section access of config.yaml and the files that it names. They are
// immutable.
type Policies struct {
	// Section is nil where config.yaml has none: all is allowed then.
	Section *rules.Section
	// Config has all policies: of the section, and of files.
	Config policy.Config
	// Watch are the files that the policies are read from, there or not, and the folders
	// of those that a pattern names: where one of them changes, the policies may.
	Watch []string
	// Text is config.yaml as it was read, nil where there is none.
	Text []byte

	path string
}

// ReadPolicies reads the section access of a config.yaml, which need not exist, and the
// files of policies that it names. Auth says that serve asks who comes. Errors in the
// section and in files are *config.Problems; the Policies have Watch then, as far as that is
// known. What is read is yet to be compiled.
func ReadPolicies(path string, auth bool) (*Policies, error) {
	src := source{}
	if err := src.readFile(path); err != nil {
		return &Policies{path: path, Watch: []string{path}}, err
	}
	return src.policies(path, auth)
}

// ParsePolicies is ReadPolicies of a text that the file could have.
func ParsePolicies(path string, text []byte, auth bool) (*Policies, error) {
	src := source{raw: text}
	var err error
	if src.file, err = parseFile(path, text); err != nil {
		return nil, err
	}
	return src.policies(path, auth)
}

func (src *source) policies(path string, auth bool) (*Policies, error) {
	p := &Policies{path: path, Watch: []string{path}, Text: src.raw}
	n := src.file.node(accessName)
	if n == nil {
		return p, nil
	}
	var err error
	if p.Section, err = src.file.rules(n); err != nil {
		return p, err
	}
	p.Config = p.Section.Config(auth)
	for _, pattern := range p.Section.Policies {
		p.Watch = append(p.Watch, filepath.Dir(src.file.absolute(pattern.Text)))
		files, err := p.matches(pattern)
		if err == nil && len(files) == 0 {
			// Where policies forbid, none of them would mean that all is allowed.
			err = p.problemIn(pattern, fmt.Sprintf("no file is %q", pattern.Text), "the path is relative to "+FileName)
		}
		if err != nil {
			return p, err
		}
		for _, file := range files {
			if slices.Contains(p.Watch, file) {
				continue // of another pattern
			}
			if len(p.Watch) > maxPolicyFiles {
				return p, p.problemIn(pattern, fmt.Sprintf("there are more than %d files of policies", maxPolicyFiles), "put several policies into one file")
			}
			p.Watch = append(p.Watch, file)
			text, err := atomicfile.Read(file, maxPolicyFile)
			if err != nil {
				return p, config.FileProblem(file, err)
			}
			p.Config.Sources = append(p.Config.Sources, policy.Source{Name: file, Text: text})
		}
	}
	return p, nil
}

// Compile compiles the policies; nil is for no section, which allows all. Its error is a
// *config.Problem.
func (p *Policies) Compile() (*policy.Set, error) {
	if p.Section == nil {
		return nil, nil
	}
	set, err := policy.Compile(p.Config)
	if err != nil {
		return nil, p.problem(err)
	}
	return set, nil
}

// problem is an error of a policy in the form of those of config.yaml.
func (p *Policies) problem(err error) error {
	err = problemOf(err)
	at, ok := errors.AsType[*config.Problem](err)
	if ok && at.File == p.path { // the column is one of the Cedar that a rule has become
		at.Column = p.column(at.Line)
	}
	return err
}

// column returns where the rule of a line of config.yaml begins.
func (p *Policies) column(line int) int {
	for _, r := range p.Section.List(true) {
		if r.Line == line && r.Column > 0 {
			return r.Column
		}
	}
	return 1
}

// problemOf returns an error, a *config.Problem in place of a *policy.Problem.
func problemOf(err error) error {
	if p, ok := errors.AsType[*policy.Problem](err); ok {
		return &config.Problem{File: p.File, Line: p.Line, Column: p.Column, Message: p.Text, Remedy: p.Remedy}
	}
	return err
}

// TestFiles returns the files of tests, absolute. Its error is a *config.Problem.
func (p *Policies) TestFiles() (all []string, err error) {
	if p.Section == nil {
		return nil, nil
	}
	for _, pattern := range p.Section.Tests {
		files, err := p.matches(pattern)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, p.problemIn(pattern, fmt.Sprintf("no file is %q", pattern.Text), "the path is relative to "+FileName)
		}
		all = append(all, files...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// matches returns the files that a pattern names, absolute and sorted.
func (p *Policies) matches(pattern rules.Pattern) ([]string, error) {
	files, err := filepath.Glob((&file{path: p.path}).absolute(pattern.Text))
	if err != nil {
		return nil, p.problemIn(pattern, fmt.Sprintf("the pattern %q cannot be read", pattern.Text), "as in policy/*.cedar")
	}
	return files, nil
}

func (p *Policies) problemIn(pattern rules.Pattern, message, remedy string) error {
	return &config.Problem{File: p.path, Line: pattern.Line, Column: pattern.Column, Message: message, Remedy: remedy}
}

// rules reads the section access.
func (f *file) rules(n *yaml.Node) (*rules.Section, error) {
	s, err := rules.Parse(f.path, n)
	return s, problemOf(err)
}

// checkRules reads the section for what is wrong with it. The files that it names are read
// by those who decide.
func (f *file) checkRules(n *yaml.Node, a *Access) error {
	a.Rules = true
	_, err := f.rules(n)
	return err
}

// noteMembers notes where each setting of a section is.
func (f *file) noteMembers(section string, n *yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		v := n.Content[i+1]
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		f.at[section+"."+n.Content[i].Value] = v
	}
}

// accessTable are the settings of the section.
func accessTable() []Setting {
	return []Setting{
		{Name: "access.default", Values: "deny, allow, read-only", Default: "deny with `serve.auth`, else allow", About: "what counts for what no rule is about"},
		{Name: "access.groups", Values: "names, each with principals", Default: "none", About: "[groups](policy.md) of principals: IDs, mail addresses, groups of an issuer"},
		{Name: "access.labels", Values: "names, each with servers and items; `fromAnnotations`", Default: "none", About: "labels of servers and items"},
		{Name: "access.rules", Values: "list of rules", Default: "none", About: "[who may do what](policy.md)"},
		{Name: "access.policies", Values: "list of files, with `*`", Default: "none", About: "more policies, written in Cedar"},
		{Name: "access.tests", Values: "list of files, with `*`", Default: "none", About: "what `mcpctl policy test` runs"},
		{Name: "access.tell", Values: "reason, nothing", Default: "reason", About: "whether who is denied learns the policy and its reason"},
		{Name: "access.forget", Values: aDuration, Default: "1h", About: "how long the labels of a conversation last without a call"},
		{Name: "access.guards", Values: "`secrets`, `hidden`: off, label, redact; `size`; `canaries`", Default: "none", About: "what [guards](flows.md#look-into-results) look for in results"},
	}
}

// Path returns the path of config.yaml, which sources of rules have as their name.
func (p *Policies) Path() string { return p.path }
