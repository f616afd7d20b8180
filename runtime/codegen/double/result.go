package double

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime"
)

// Text is a result that consists of texts, a block each.
func Text(texts ...string) *runtime.ToolResult {
	r := &runtime.ToolResult{Content: make([]runtime.Content, 0, len(texts))}
	for _, text := range texts {
		r.Content = append(r.Content, runtime.Content{Type: "text", Text: text})
	}
	return r
}

// Failure is a tool's own failure, for an answer to return.
func Failure(text string) error { return &runtime.ToolError{Result: Text(text)} }

// encodeResult gives a result as a server sends it; one that came from a server
// keeps its bytes.
func encodeResult(r *runtime.ToolResult) (json.RawMessage, error) {
	if r.Raw != nil {
		return r.Raw, nil
	}
	out := *r
	if out.Content == nil {
		out.Content = []runtime.Content{}
	}
	return encode(out)
}

func encodeFailure(e *runtime.ToolError) (json.RawMessage, error) {
	r := runtime.ToolResult{IsError: true}
	if e.Result != nil {
		r.Content, r.Structured = e.Result.Content, e.Result.Structured
	}
	return encodeResult(&r)
}

func encodePrompt(r *runtime.PromptResult) (json.RawMessage, error) {
	if r.Raw != nil {
		return r.Raw, nil
	}
	out := *r
	if out.Messages == nil {
		out.Messages = []runtime.PromptMessage{}
	}
	return encode(out)
}

func encodeResource(r *runtime.ResourceResult) (json.RawMessage, error) {
	if r.Raw != nil {
		return r.Raw, nil
	}
	out := *r
	if out.Contents == nil {
		out.Contents = []runtime.ResourceContents{}
	}
	return encode(out)
}

func encode(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, &answerError{err}
	}
	return raw, nil
}

// decoded reads a prompt or resource result and keeps its bytes.
func decoded[T runtime.PromptResult | runtime.ResourceResult](raw json.RawMessage, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	r := new(T)
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, &runtime.ProtocolError{Reason: "the result is not one: " + err.Error()}
	}
	switch r := any(r).(type) {
	case *runtime.PromptResult:
		r.Raw = raw
	case *runtime.ResourceResult:
		r.Raw = raw
	}
	return r, nil
}
