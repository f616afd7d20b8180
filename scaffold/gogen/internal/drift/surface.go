package drift

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// Surface is a state of a server. Entries without Raw are taken from their
// fields.
type Surface struct {
	Implementation runtime.Implementation
	Protocol       string
	Tools          []runtime.Tool
	Prompts        []runtime.Prompt
	Resources      []runtime.Resource
	Templates      []runtime.ResourceTemplate
}

// Compare returns what changed, the worst first. It does not look at whether Go
// code still compiles: no change has Source. The error is an entry that is not
// JSON.
func Compare(old, now Surface) ([]Change, error) {
	var changes []Change
	server := comparer{kind: KindServer}
	server.version("name", old.Implementation.Name, now.Implementation.Name)
	server.version("version", old.Implementation.Version, now.Implementation.Version)
	server.version("protocol", old.Protocol, now.Protocol)
	changes = append(changes, server.changes...)
	for _, list := range []struct {
		kind     string
		old, now []Entry
		compare  func(c *comparer, old, now map[string]any)
	}{
		{KindTool, Entries(old.Tools), Entries(now.Tools), (*comparer).tool},
		{KindPrompt, Entries(old.Prompts), Entries(now.Prompts), (*comparer).prompt},
		{KindResource, Entries(old.Resources), Entries(now.Resources), (*comparer).resource},
		{KindTemplate, Entries(old.Templates), Entries(now.Templates), (*comparer).resource},
	} {
		more, err := compareLists(list.kind, list.old, list.now, list.compare)
		if err != nil {
			return nil, err
		}
		changes = append(changes, more...)
	}
	for i := range changes {
		changes[i].setClass()
	}
	sortChanges(changes)
	return changes, nil
}

func (c *comparer) version(what, old, now string) {
	if old != now && old != "" && now != "" {
		c.add(false, ruleServer, "", "%s was %s, is %s", what, old, now)
	}
}

// Entry is the key of a tool, prompt, resource or template, and its JSON.
type Entry struct {
	Key string
	Raw json.RawMessage
}

// EntryOf returns the entry of a *runtime.Tool, *runtime.Prompt,
// *runtime.Resource or *runtime.ResourceTemplate, with Raw made of its fields if
// it is missing.
func EntryOf(v any) (e Entry, err error) {
	var raw *json.RawMessage
	switch v := v.(type) {
	case *runtime.Tool:
		e.Key, raw = v.Name, &v.Raw
	case *runtime.Prompt:
		e.Key, raw = v.Name, &v.Raw
	case *runtime.Resource:
		e.Key, raw = v.URI, &v.Raw
	case *runtime.ResourceTemplate:
		e.Key, raw = v.URITemplate, &v.Raw
	}
	if *raw == nil {
		*raw, err = json.Marshal(v)
	}
	e.Raw = *raw
	return e, err
}

// Entries returns those of a list. Their reader finds what is not JSON.
func Entries[T any](list []T) []Entry {
	out := make([]Entry, len(list))
	for i, v := range list {
		out[i], _ = EntryOf(&v)
	}
	return out
}

func compareLists(kind string, old, now []Entry, compare func(c *comparer, old, now map[string]any)) ([]Change, error) {
	old, now = withoutEqual(old, now), withoutEqual(now, old)
	was, err := byKey(kind, old)
	if err != nil {
		return nil, err
	}
	current, err := byKey(kind, now)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, key := range keys(was, current) {
		c := comparer{kind: kind, name: key}
		a, had := was[key].(map[string]any)
		b, ok := current[key].(map[string]any)
		switch {
		case !had:
			c.add(true, ruleAdded, "", "added")
		case !ok:
			c.add(true, ruleRemoved, "", "removed")
		default:
			compare(&c, a, b)
		}
		changes = append(changes, c.changes...)
	}
	return changes, nil
}

// withoutEqual leaves out the entries that are byte for byte in the other list,
// which need not be read.
func withoutEqual(list, other []Entry) []Entry {
	have := make(map[string]json.RawMessage, len(other))
	for _, e := range other {
		have[e.Key] = e.Raw
	}
	return slices.DeleteFunc(slices.Clone(list), func(e Entry) bool {
		raw, ok := have[e.Key]
		return ok && bytes.Equal(raw, e.Raw)
	})
}

func byKey(kind string, list []Entry) (map[string]any, error) {
	out := make(map[string]any, len(list))
	for _, e := range list {
		v, err := jsonschema.Decode(e.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", kind, e.Key, err)
		}
		if m, ok := v.(map[string]any); ok {
			out[e.Key] = m
		} else {
			return nil, fmt.Errorf("%s %q is not an object", kind, e.Key)
		}
	}
	return out, nil
}

// texts compares what is for readers only.
func (c *comparer) texts(pointer string, old, now map[string]any, keys ...string) {
	var changed []string
	for _, key := range keys {
		if !jsonschema.Equal(old[key], now[key]) {
			changed = append(changed, strings.TrimPrefix(key, "$"))
		}
	}
	if len(changed) > 0 {
		c.add(true, ruleProse, pointer, "%s changed", strings.Join(changed, ", "))
	}
}

// tool compares two definitions of one tool.
func (c *comparer) tool(old, now map[string]any) {
	c.texts("", old, now, "title", "description")
	c.hints(old, now)
	if was, current := taskSupport(old), taskSupport(now); was != current {
		if current == "required" {
			c.add(true, ruleTask, "/execution/taskSupport", "can only be called as a task from now on")
		} else {
			c.add(true, ruleNote, "/execution/taskSupport", "was %s, is %s", was, current)
		}
	}
	c.schemas("/inputSchema", true, orTrue(old["inputSchema"]), orTrue(now["inputSchema"]))
	was, current := old["outputSchema"], now["outputSchema"]
	switch {
	case was == nil && current == nil:
	case was == nil:
		c.add(false, ruleOutputAdded, "/outputSchema", "output schema added")
	case current == nil:
		c.add(false, ruleOutputRemoved, "/outputSchema", "output schema removed")
	default:
		c.schemas("/outputSchema", false, was, current)
	}
}

func taskSupport(tool map[string]any) string {
	execution, _ := tool["execution"].(map[string]any)
	if s, ok := execution["taskSupport"].(string); ok {
		return s
	}
	return "forbidden" // the specification's default, revision 2025-11-25
}

// hints compares annotations by what they mean, absent ones included
// (specification 2025-11-25, ToolAnnotations).
func (c *comparer) hints(old, now map[string]any) {
	was, current := claims(old), claims(now)
	for i, hint := range []struct {
		name, dropped, made string
		worse               bool // the value that is worse
	}{
		{"readOnlyHint", "no longer claims to be read-only", "claims to be read-only now", false},
		{"destructiveHint", "claims to destroy nothing now", "may destroy something from now on", true},
		{"idempotentHint", "no longer claims that a second call changes nothing more", "claims that a second call changes nothing more", false},
		{"openWorldHint", "claims to reach no open world now", "may reach an open world from now on", true},
	} {
		if was[i] == current[i] {
			continue
		}
		text := hint.dropped
		if current[i] {
			text = hint.made
		}
		c.add(true, ruleHints, "/annotations/"+hint.name, "%s", text).Notable = current[i] == hint.worse
	}
	a, _ := old["annotations"].(map[string]any)
	b, _ := now["annotations"].(map[string]any)
	if !jsonschema.Equal(a["title"], b["title"]) {
		c.add(true, ruleProse, "/annotations/title", "title changed")
	}
}

// claims returns whether a tool is read-only, destructive, idempotent and open
// to the world. A read-only tool destroys nothing, and a second call changes
// nothing more.
func claims(tool map[string]any) [4]bool {
	a, _ := tool["annotations"].(map[string]any)
	hint := func(name string, absent bool) bool {
		if v, ok := a[name].(bool); ok {
			return v
		}
		return absent
	}
	readOnly := hint("readOnlyHint", false)
	return [4]bool{readOnly, !readOnly && hint("destructiveHint", true), readOnly || hint("idempotentHint", false), hint("openWorldHint", true)}
}

// prompt compares arguments: required or optional texts.
func (c *comparer) prompt(old, now map[string]any) {
	c.texts("", old, now, "title", "description")
	was, current := arguments(old), arguments(now)
	for _, name := range keys(was, current) {
		pointer := runtimeschema.Pointer("/arguments", name)
		a, had := was[name].(map[string]any)
		b, ok := current[name].(map[string]any)
		switch {
		case !had && b["required"] == true:
			c.add(true, ruleRequiredAdded, pointer, "required argument added")
		case !had:
			c.add(true, ruleOptionalAdded, pointer, "optional argument added")
		case !ok:
			c.add(true, ruleMemberRefused, pointer, "argument removed")
		default:
			if needed, needs := a["required"] == true, b["required"] == true; needs && !needed {
				c.add(true, ruleNowRequired, pointer, "required from now on")
			} else if needed && !needs {
				c.add(true, ruleNowOptional, pointer, "optional from now on")
			}
			c.texts(pointer, a, b, "title", "description")
		}
	}
}

func arguments(prompt map[string]any) map[string]any {
	list, _ := prompt["arguments"].([]any)
	out := make(map[string]any, len(list))
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				out[name] = m
			}
		}
	}
	return out
}

// resource compares two entries of one URI or URI template. The name is for
// readers: the lock file has the Go name by URI.
func (c *comparer) resource(old, now map[string]any) {
	c.texts("", old, now, "name", "title", "description")
	if a, b := old["mimeType"], now["mimeType"]; !jsonschema.Equal(a, b) {
		c.add(false, ruleNote, "/mimeType", "was %s, is %s", show(a), show(b))
	}
}
