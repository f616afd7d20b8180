package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	publicast "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// This file alone imports what cedar-go makes no promises for: the syntax tree, checks and
// partial evaluation.

type (
	syntax = ast.Policy
	node   = ast.IsNode
	scope  = ast.IsScopeNode
	env    = eval.Env
)

// syntaxOf returns the tree of a policy that was parsed. It is not changed.
func syntaxOf(p *cedar.Policy) *syntax { return (*syntax)(p.AST()) }

// reads is what a policy reads of a request and of the principal.
type reads struct {
	// args are the members of arguments.
	args []ReadArguments
	// context are the other members.
	context contextKeys
	// resource is what the conditions read of the resource.
	resource resourceReads
	// items are those that are named.
	items []types.EntityUID
	// principal is what of the principal.
	principal principalReads
	// labels are those that are looked for in seen; allLabels says that they are not
	// known before.
	labels    []string
	allLabels bool
	// globs are labels that are globs.
	globs []string
}

// resourceReads is how much is read of a resource.
type resourceReads uint8

const (
	readsNothing resourceReads = iota
	// readsClass is what all items of a class have alike: their server and labels, what is
	// believed of their annotations, and whether they are one that a policy names.
	readsClass
	readsItem
)

// ofItem reports whether items of a class have an attribute each for themselves.
func ofItem(attribute string) bool {
	return attribute == "name" || attribute == "uri" || attribute == "scheme" || attribute == "mime"
}

// principalReads is what policies read of principals. Principals that do not differ in it
// have one view.
type principalReads struct {
	// whole says that it is not known what: everything.
	whole bool
	// attrs, tags, ids and groups are the names that are read.
	attrs, tags, ids, groups map[string]bool
}

func (p *principalReads) add(to *map[string]bool, name string) {
	if *to == nil {
		*to = make(map[string]bool)
	}
	(*to)[name] = true
}

// contextKeys is a set of members of the context.
type contextKeys uint8

const (
	readsSeen contextKeys = 1 << iota
	readsFound
	readsNow
	readsIP
	readsTransport
	readsTask
	readsCall // args, clean or host, if only for whether they are there
)

// contextKey returns what a member of the context is, 0 for none that there is, and of
// arguments their form.
func contextKey(name string) (contextKeys, Form) {
	switch name {
	case "seen":
		return readsSeen, 0
	case "found":
		return readsFound, 0
	case "now":
		return readsNow, 0
	case "ip":
		return readsIP, 0
	case "front":
		return readsTransport, 0
	case "task":
		return readsTask, 0
	case "args":
		return readsCall, Raw
	case "clean":
		return readsCall, Clean
	case "host":
		return readsCall, Host
	}
	return 0, 0
}

// entityTypes returns those there are.
func entityTypes() []string {
	return []string{"User", "Group", "Label", "Server", "Tool", "Prompt", "Resource", "Action"}
}

// reader finds what a policy reads.
type reader struct {
	reads
	problem string
}

func (r *reader) fail(format string, a ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, a...)
	}
}

// readsOf returns what a policy reads, or what is wrong with it.
func readsOf(p *syntax) (reads, string) {
	var r reader
	for _, s := range []scope{p.Principal, p.Action, p.Resource} {
		for _, e := range scopeEntities(s) {
			r.entity(e)
		}
		if typ, ok := scopeType(s); ok {
			r.entityType(typ)
		}
	}
	for _, c := range p.Conditions {
		r.node(c.Body)
	}
	return r.reads, r.problem
}

// scopeEntities returns the entities that a scope names.
func scopeEntities(s scope) []types.EntityUID {
	switch s := s.(type) {
	case ast.ScopeTypeEq:
		return []types.EntityUID{s.Entity}
	case ast.ScopeTypeIn:
		return []types.EntityUID{s.Entity}
	case ast.ScopeTypeInSet:
		return s.Entities
	case ast.ScopeTypeIsIn:
		return []types.EntityUID{s.Entity}
	}
	return nil
}

func scopeType(s scope) (types.EntityType, bool) {
	switch s := s.(type) {
	case ast.ScopeTypeIs:
		return s.Type, true
	case ast.ScopeTypeIsIn:
		return s.Type, true
	}
	return "", false
}

func (r *reader) entityType(t types.EntityType) {
	if all := entityTypes(); !slices.Contains(all, string(t)) {
		r.fail("there are no entities of type %s: there are %s", t, strings.Join(all, ", "))
	}
}

// entity notes an entity that the policy names.
func (r *reader) entity(e types.EntityUID) {
	r.entityType(e.Type)
	switch e.Type {
	case "User":
		r.principal.add(&r.principal.ids, string(e.ID))
	case "Group":
		r.principal.add(&r.principal.groups, string(e.ID))
	case "Label":
		if strings.Contains(string(e.ID), "/") {
			r.globs = append(r.globs, string(e.ID))
		}
	case "Action":
		if !slices.Contains(actions(), Action(e.ID)) {
			r.fail("there is no action %s", e)
		}
	case "Tool", "Prompt", "Resource":
		r.items = append(r.items, e)
	}
	if e.Type == "Resource" {
		if server, uri, ok := strings.Cut(string(e.ID), "/"); ok {
			if u, ok := ParseURI(uri); ok && u.Normal != uri {
				r.fail("%s is written as Resource::%q", e, server+"/"+u.Normal)
			}
		}
	}
}

// chain returns what a chain of attributes begins with, and their names.
func chain(n node) (root string, path []string) {
	switch n := n.(type) {
	case ast.NodeTypeVariable:
		return string(n.Name), nil
	case ast.NodeTypeAccess:
		root, path = chain(n.Arg)
		if root == "" {
			return "", nil
		}
		return root, append(path, string(n.Value))
	}
	return "", nil
}

// node notes what a node and those below it read.
func (r *reader) node(n node) {
	ast.Inspect(ast.NewNode(n), func(n node) bool {
		if r.problem != "" {
			return false
		}
		switch n := n.(type) {
		case ast.NodeValue:
			r.value(n.Value)
		case ast.NodeTypeVariable:
			r.variable(string(n.Name), nil, false)
		case ast.NodeTypeAccess:
			if root, path := chain(n); root != "" {
				r.variable(root, path, false)
				return false
			}
			// An attribute of something that is not known before: it may be the principal.
			r.principal.add(&r.principal.attrs, string(n.Value))
		case ast.NodeTypeHas:
			if root, path := chain(n.Arg); root != "" {
				r.variable(root, append(path, string(n.Value)), true)
				return false
			}
			r.principal.add(&r.principal.attrs, string(n.Value))
		case ast.NodeTypeIs:
			r.entityType(n.EntityType)
			return r.operands(n.Left, nil)
		case ast.NodeTypeIsIn:
			r.entityType(n.EntityType)
			return r.operands(n.Left, n.Entity)
		case ast.NodeTypeIn:
			return r.operands(n.Left, n.Right)
		case ast.NodeTypeEquals:
			return r.operands(n.Left, n.Right)
		case ast.NodeTypeNotEquals:
			return r.operands(n.Left, n.Right)
		case ast.NodeTypeGetTag:
			return r.tag(n.Left, n.Right)
		case ast.NodeTypeHasTag:
			return r.tag(n.Left, n.Right)
		case ast.NodeTypeContains:
			return !r.seen(n.Left, n.Right)
		case ast.NodeTypeContainsAll:
			return !r.seen(n.Left, n.Right)
		case ast.NodeTypeContainsAny:
			return !r.seen(n.Left, n.Right)
		}
		return true
	})
}

func isVariable(n node, name types.String) bool {
	v, ok := n.(ast.NodeTypeVariable)
	return ok && v.Name == name
}

// operands notes a principal or a resource compared with what the policy names: that reads no
// more than whether it is one of those, or in them. It reports whether the node is to be
// looked into.
func (r *reader) operands(left, right node) bool {
	principal, resource := isVariable(left, "principal"), isVariable(left, "resource")
	if !principal && !resource || right != nil && !constant(right) {
		return true
	}
	if resource {
		r.resource = max(r.resource, readsClass)
	}
	if right != nil {
		r.node(right)
	}
	return false
}

// constant reports whether a node has no variable in it.
func constant(n node) bool {
	fixed := true
	ast.Inspect(ast.NewNode(n), func(n node) bool {
		_, variable := n.(ast.NodeTypeVariable)
		fixed = fixed && !variable
		return fixed
	})
	return fixed
}

// tag notes the tag of a principal.
func (r *reader) tag(of, name node) bool {
	v, ok := name.(ast.NodeValue)
	text, isText := types.String(""), false
	if ok {
		text, isText = v.Value.(types.String)
	}
	if !isVariable(of, "principal") || !isText {
		r.principal.whole = true
		return true
	}
	r.principal.add(&r.principal.tags, string(text))
	return false
}

// seen notes which labels a policy looks for in a conversation, and reports whether it
// does.
func (r *reader) seen(set, of node) bool {
	root, path := chain(set)
	if root != "context" || len(path) != 1 || path[0] != "seen" {
		return false
	}
	r.context |= readsSeen
	r.node(of)
	ast.Inspect(ast.NewNode(of), func(n node) bool {
		switch n := n.(type) {
		case ast.NodeTypeSet:
		case ast.NodeValue:
			texts, ok := stringsOf(n.Value)
			r.labels = append(r.labels, texts...)
			r.allLabels = r.allLabels || !ok
		default:
			r.allLabels = true
		}
		return true
	})
	return true
}

func stringsOf(v types.Value) ([]string, bool) {
	switch v := v.(type) {
	case types.String:
		return []string{string(v)}, true
	case types.Set:
		var out []string
		for e := range v.All() {
			texts, ok := stringsOf(e)
			if !ok {
				return nil, false
			}
			out = append(out, texts...)
		}
		return out, true
	}
	return nil, false
}

func (r *reader) value(v types.Value) {
	switch v := v.(type) {
	case types.EntityUID:
		r.entity(v)
	case types.Set:
		for e := range v.All() {
			r.value(e)
		}
	case types.Record:
		for e := range v.Values() {
			r.value(e)
		}
	}
}

// variable notes that a variable is read, or members of it; presence says that only whether the
// last of them is there.
func (r *reader) variable(name string, path []string, presence bool) {
	if len(path) > MaxDepth {
		r.fail("%s is read deeper than %d members", name, MaxDepth)
	}
	switch name {
	case "principal":
		if len(path) == 0 {
			r.principal.whole = true
			return
		}
		r.principal.add(&r.principal.attrs, path[0])
	case "resource":
		if len(path) == 0 || ofItem(path[0]) {
			r.resource = readsItem
		} else {
			r.resource = max(r.resource, readsClass)
		}
	case "context":
		r.member(path, presence)
	}
}

func (r *reader) member(path []string, presence bool) {
	if len(path) == 0 {
		r.fail("context cannot be read as a whole: name its members")
		return
	}
	key, form := contextKey(path[0])
	r.context |= key
	switch {
	case key == 0:
		r.fail("context has no %s", path[0])
	case key != readsCall:
		// What is looked for in seen is found by the method seen.
		r.allLabels = r.allLabels || key == readsSeen && !presence
	case len(path) > 1:
		r.args = append(r.args, ReadArguments{Form: form, Path: slices.Clone(path[1:]), Has: presence})
	case !presence:
		r.fail("context.%s cannot be read as a whole: name its members", path[0])
	}
}

// joined returns the policy with one condition instead of several: partial evaluation
// drops a policy for a condition that is false although one before it may fail.
func joined(p *syntax) *syntax {
	var all ast.Node
	for i, c := range p.Conditions {
		n := ast.NewNode(c.Body)
		if c.Condition == ast.ConditionUnless {
			n = ast.Not(n)
		}
		if i == 0 {
			all = n
		} else {
			all = all.And(n)
		}
	}
	out := *p
	if len(p.Conditions) > 0 {
		out.Conditions = []ast.ConditionType{{Condition: ast.ConditionWhen, Body: all.AsIsNode()}}
	}
	return &out
}

// residue is what is left of a policy for one item: nothing, or a condition that the
// request decides.
type residue struct {
	// always says that it holds for every request, never that it holds for none.
	always, never bool
	// failed is why it fails for every request, "" otherwise.
	failed string
	// left is the policy without what is decided.
	left *syntax
}

// conditional reports whether a request decides.
func (r *residue) conditional() bool { return !r.always && !r.never && r.failed == "" }

// partially evaluates a policy as far as it does not depend on the context.
func partially(e env, p *syntax) residue {
	left, keep := eval.PartialPolicy(e, p)
	switch {
	case !keep:
		return residue{never: true}
	case len(left.Conditions) == 0:
		return residue{always: true, left: left}
	}
	if err, failed := eval.ToPartialError(left.Conditions[0].Body); failed {
		return residue{failed: err.Error(), left: left}
	}
	return residue{left: left}
}

// unknownContext is the context before there is a request.
func unknownContext() types.Value { return eval.Variable("context") }

// compiled returns the rest of a policy, ready to be evaluated.
func compiled(p *syntax) *cedar.Policy { return cedar.NewPolicyFromAST((*publicast.Policy)(p)) }

// unknownAction is an action before it is known which.
func unknownAction() types.Value { return eval.Variable("action") }

// unknownResource is a resource of which nothing is known.
func unknownResource() types.Value { return eval.Variable("resource") }

// covers returns whether a scope of resources might hold for a subject, and whether it
// must.
func (s *Set) covers(of scope, sub *subject) (might, must bool) {
	switch of := of.(type) {
	case ast.ScopeTypeAll:
		return true, true
	case ast.ScopeTypeIs:
		covered := of.Type == sub.kind.entityType()
		return covered, covered
	case ast.ScopeTypeIsIn:
		if of.Type != sub.kind.entityType() {
			return false, false
		}
		return s.could(of.Entity, sub)
	case ast.ScopeTypeEq:
		might, _ = s.could(of.Entity, sub)
		return might && of.Entity.Type == sub.kind.entityType(), false
	case ast.ScopeTypeIn:
		return s.could(of.Entity, sub)
	}
	return false, false
}

// inScope reports whether a policy is about a principal, an action and a resource.
func inScope(at env, p *syntax) bool {
	bare := *p
	bare.Conditions = nil
	_, ok := eval.PartialPolicy(at, &bare)
	return ok
}

// inResource reports whether a policy is about a resource, whoever does what with it.
func inResource(at env, p *syntax) bool {
	at.Principal, at.Action = eval.Variable("principal"), eval.Variable("action")
	return inScope(at, p)
}

// readsOfLeft returns what the conditions of what is left of a policy read.
func readsOfLeft(p *syntax) reads {
	var r reader
	for _, c := range p.Conditions {
		r.node(c.Body)
	}
	return r.reads
}

// condition is a part of the conditions of a policy.
type condition struct{ node }

// conditionsOf returns what stands between the ands of a policy's conditions.
func conditionsOf(p *syntax) []condition {
	var out []condition
	var split func(n node)
	split = func(n node) {
		if and, ok := n.(ast.NodeTypeAnd); ok {
			split(and.Left)
			split(and.Right)
			return
		}
		out = append(out, condition{n})
	}
	for _, c := range p.Conditions {
		split(c.Body)
	}
	return out
}

// evaluate evaluates a condition and what it reads.
func (c condition) evaluate(at env) Condition {
	out := Condition{Text: c.text()}
	v, err := eval.Eval(c.node, at)
	result, ok := v.(types.Boolean)
	switch {
	case err != nil:
		out.Failed = err.Error()
	case !ok:
		out.Failed = "it is neither true nor false"
	default:
		out.Holds = bool(result)
	}
	seen := make(map[string]bool)
	ast.Inspect(ast.NewNode(c.node), func(n node) bool {
		root, path := chain(n)
		if root == "" || len(path) == 0 {
			return true
		}
		name := root + "." + strings.Join(path, ".")
		if v, err := eval.Eval(n, at); err == nil && !seen[name] {
			seen[name] = true
			out.Values = append(out.Values, Value{Name: name, Text: string(v.MarshalCedar())})
		}
		return false
	})
	return out
}

// text returns the condition in Cedar.
func (c condition) text() string {
	p := ast.Permit()
	p.Conditions = []ast.ConditionType{{Condition: ast.ConditionWhen, Body: c.node}}
	text := string(compiled(p).MarshalCedar())
	if _, when, ok := strings.Cut(text, "when"); ok {
		text = when
	}
	return strings.Trim(text, "{}; \n\t")
}

// Checker returns what checks the text of one policy strictly against a schema, both in
// Cedar's own language. The errors of what it returns are joined.
func Checker(schemaText []byte) (func(policyText []byte) error, error) {
	var s schema.Schema
	if err := s.UnmarshalCedar(schemaText); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	v := validate.New(resolved, validate.WithStrict())
	return func(text []byte) error {
		var p cedar.Policy
		if err := p.UnmarshalCedar(text); err != nil {
			return err
		}
		return v.Policy("", syntaxOf(&p))
	}, nil
}
