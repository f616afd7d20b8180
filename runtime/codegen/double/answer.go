package double

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// Tool sets the answer of a tool without an output schema. P is the type of its
// parameters, json.RawMessage for any. A [*runtime.ToolError] becomes the tool's own
// failure, any other error that of the call.
func Tool[P any](s *Server, name string, h func(context.Context, P) (*runtime.ToolResult, error)) {
	set(s, MethodTool, name, func(ctx context.Context, p P) (json.RawMessage, error) {
		r, err := h(ctx, p)
		return encodeAnswer(r, err, encodeResult)
	})
}

// TypedTool sets the answer of a tool with an output schema. R is the type of its
// result, which is encoded as its structured content.
func TypedTool[P, R any](s *Server, name string, h func(context.Context, P) (*R, error)) {
	set(s, MethodTool, name, func(ctx context.Context, p P) (json.RawMessage, error) {
		r, err := h(ctx, p)
		return encodeAnswer(r, err, encodeStructured)
	})
}

// PlainTool sets the answer of a tool without arguments and output schema.
func PlainTool(s *Server, name string, h func(context.Context) (*runtime.ToolResult, error)) {
	Tool(s, name, func(ctx context.Context, _ json.RawMessage) (*runtime.ToolResult, error) { return h(ctx) })
}

// PlainTypedTool is to [PlainTool] as [TypedTool] is to [Tool].
func PlainTypedTool[R any](s *Server, name string, h func(context.Context) (*R, error)) {
	TypedTool(s, name, func(ctx context.Context, _ json.RawMessage) (*R, error) { return h(ctx) })
}

// Prompt sets the answer of a prompt.
func Prompt[P any](s *Server, name string, h func(context.Context, P) (*runtime.PromptResult, error)) {
	set(s, MethodPrompt, name, func(ctx context.Context, p P) (json.RawMessage, error) {
		r, err := h(ctx, p)
		return encodeAnswer(r, err, encodePrompt)
	})
}

// PlainPrompt sets the answer of a prompt without arguments.
func PlainPrompt(s *Server, name string, h func(context.Context) (*runtime.PromptResult, error)) {
	Prompt(s, name, func(ctx context.Context, _ struct{}) (*runtime.PromptResult, error) { return h(ctx) })
}

// Resource sets the contents of the resource at a URI.
func Resource(s *Server, uri string, h func(context.Context) (*runtime.ResourceResult, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[MethodResource+" "+uri] = resource(uri, func(ctx context.Context, _ string) (*runtime.ResourceResult, error) { return h(ctx) })
}

// template answers for the URIs of a URI template.
type template struct {
	text   string
	re     *regexp.Regexp
	answer func(uri string) answer
}

// Template sets the contents of the resources of a URI template; h gets the URI.
// A [Resource] goes before templates, and of several that match the first one set
// answers.
func Template(s *Server, uriTemplate string, h func(ctx context.Context, uri string) (*runtime.ResourceResult, error)) {
	t := template{uriTemplate, templateRE(uriTemplate), func(uri string) answer { return resource(uri, h) }}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.templates {
		if s.templates[i].text == uriTemplate {
			s.templates[i] = t
			return
		}
	}
	s.templates = append(s.templates, t)
}

// templateRE matches the expansions of a template (RFC 6570), and more: any text
// matches an expression.
func templateRE(text string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for text != "" {
		i := strings.IndexByte(text, '{')
		j := strings.IndexByte(text, '}')
		if i < 0 || j < i {
			break
		}
		b.WriteString(regexp.QuoteMeta(text[:i]) + `.*`)
		text = text[j+1:]
	}
	b.WriteString(regexp.QuoteMeta(text) + `\z`)
	return regexp.MustCompile(b.String())
}

func resource(uri string, h func(context.Context, string) (*runtime.ResourceResult, error)) answer {
	return func(ctx context.Context, _ json.RawMessage, _ func(any)) (json.RawMessage, error) {
		r, err := h(ctx, uri)
		return encodeAnswer(r, err, encodeResource)
	}
}

// set sets an answer and replaces an earlier one.
func set[P any](s *Server, method, name string, h func(context.Context, P) (json.RawMessage, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[method+" "+name] = func(ctx context.Context, args json.RawMessage, params func(any)) (json.RawMessage, error) {
		var p P
		if err := decode(args, &p); err != nil {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf("%s %s: invalid arguments: %v", method, name, err)}
		}
		params(p)
		return h(ctx, p)
	}
}

// decode reads and validates arguments as strictly as a server would.
func decode(args json.RawMessage, p any) error {
	if raw, ok := p.(*json.RawMessage); ok {
		*raw = bytes.Clone(args)
		return nil
	}
	if u, ok := p.(json.Unmarshaler); ok {
		if err := u.UnmarshalJSON(args); err != nil {
			return err
		}
	} else if err := json.Unmarshal(args, p); err != nil {
		return err
	}
	return validate(p)
}

func validate(v any) error {
	if v, ok := v.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// ParamsOf returns the parameters of the calls of one tool or prompt that reached
// an answer, in their order.
func ParamsOf[P any](calls []Call, method, name string) []P {
	var out []P
	for _, c := range calls {
		if p, ok := c.Params.(P); ok && c.Method == method && c.Name == name {
			out = append(out, p)
		}
	}
	return out
}
