package gogen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime"
)

// List is what a server offers: the whole lists, as sent.
type List struct {
	// Implementation and Protocol are known of a live server and from a lock file,
	// not from a tools/list result.
	Implementation runtime.Implementation
	Protocol       string
	Tools          []runtime.Tool
	Prompts        []runtime.Prompt
	Resources      []runtime.Resource
	Templates      []runtime.ResourceTemplate
	// Names are those of a lock file, otherwise nil.
	Names *Names
	// Kind is that of a lock file.
	Kind Kind
	// More is set where the file is one page of several (nextCursor).
	More bool
}

// ParseTools reads a file that holds a list of tools: a lock file, a tools/list
// result, or a bare array of tools. It reads prompts, resources and resource
// templates too if there are any.
func ParseTools(data []byte) (*List, error) {
	list, _, err := parseList(data)
	return list, err
}

// listFile is the form of these files.
type listFile struct {
	Meta       map[string]json.RawMessage `json:"_meta"`
	Tools      *[]json.RawMessage         `json:"tools"`
	Prompts    []json.RawMessage          `json:"prompts"`
	Resources  []json.RawMessage          `json:"resources"`
	Templates  []json.RawMessage          `json:"resourceTemplates"`
	NextCursor *string                    `json:"nextCursor"`
	Result     json.RawMessage            `json:"result"` // of a message that holds the list
}

// parseList also reports whether the file is a lock file.
func parseList(data []byte) (list *List, locked bool, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if line := conflictLine(data); line > 0 {
		return nil, false, conflictError(line)
	}
	var file listFile
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		err = json.Unmarshal(data, &file.Tools)
	} else {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read tools: %w", describeJSONError(data, err))
	}
	if file.Tools == nil {
		if _, ok := member(file.Result, "tools"); ok {
			return nil, false, errors.New("it is a whole JSON-RPC message; give only its member result")
		}
		return nil, false, errors.New("it is not a tools/list result: it has no member tools")
	}
	list = &List{More: file.NextCursor != nil}
	if list.Tools, err = decodeEntries("tool", *file.Tools, func(t *runtime.Tool, raw json.RawMessage) { t.Raw = raw }); err != nil {
		return nil, false, err
	}
	if list.Prompts, err = decodeEntries("prompt", file.Prompts, func(p *runtime.Prompt, raw json.RawMessage) { p.Raw = raw }); err != nil {
		return nil, false, err
	}
	if list.Resources, err = decodeEntries("resource", file.Resources, func(r *runtime.Resource, raw json.RawMessage) { r.Raw = raw }); err != nil {
		return nil, false, err
	}
	if list.Templates, err = decodeEntries("resource template", file.Templates, func(r *runtime.ResourceTemplate, raw json.RawMessage) { r.Raw = raw }); err != nil {
		return nil, false, err
	}
	raw, locked := file.Meta[metaLock]
	if !locked {
		return list, false, nil
	}
	return list, true, list.readMeta(raw)
}

func decodeEntries[T any](what string, raws []json.RawMessage, keep func(*T, json.RawMessage)) ([]T, error) {
	var out []T
	for i, raw := range raws {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("read %s %d: %w", what, i, describeJSONError(raw, err))
		}
		keep(&v, raw)
		out = append(out, v)
	}
	return out, nil
}

// member returns a member of an object, and whether there is one.
func member(object json.RawMessage, name string) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil, false
	}
	raw, ok := members[name]
	return raw, ok
}

// describeJSONError returns what is wrong with a file in terms of JSON, and with
// the line of a syntax error.
func describeJSONError(data []byte, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s cannot be of type %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return errors.New("line 1: it is empty")
	case trimmed[0] == '<':
		return errors.New("line 1: it is HTML or XML, not JSON")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("line 1: it is UTF-16, and JSON is UTF-8")
	}
	at := min(max(int(syntax.Offset), 0), len(data))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
}
