package double

import (
	"encoding/json"
	"errors"

	"github.com/mcpctl/mcpctl/runtime"
)

// Text returns a result of texts, a block each.
func Text(texts ...string) *runtime.ToolResult {
	r := &runtime.ToolResult{Content: make([]runtime.Content, 0, len(texts))}
	for _, text := range texts {
		r.Content = append(r.Content, runtime.Content{Type: "text", Text: text})
	}
	return r
}

// Failure returns a tool's own failure, for an answer to return.
func Failure(text string) error { return &runtime.ToolError{Result: Text(text)} }

// encodeResult encodes a result; one from a server keeps its bytes.
func encodeResult(r *runtime.ToolResult) (json.RawMessage, error) {
	out := *r
	if out.Content == nil {
		out.Content = []runtime.Content{}
	}
	return encode(r.Raw, out)
}

func encodeFailure(e *runtime.ToolError) (json.RawMessage, error) {
	r := runtime.ToolResult{IsError: true}
	if e.Result != nil {
		r.Content, r.Structured = e.Result.Content, e.Result.Structured
	}
	return encodeResult(&r)
}

func encodePrompt(r *runtime.PromptResult) (json.RawMessage, error) {
	out := *r
	if out.Messages == nil {
		out.Messages = []runtime.PromptMessage{}
	}
	return encode(r.Raw, out)
}

func encodeResource(r *runtime.ResourceResult) (json.RawMessage, error) {
	out := *r
	if out.Contents == nil {
		out.Contents = []runtime.ResourceContents{}
	}
	return encode(r.Raw, out)
}

// encodeStructured encodes the structured result of a tool. Its text is for clients
// before 2025-06-18.
func encodeStructured[R any](r *R) (json.RawMessage, error) {
	if err := validate(r); err != nil {
		return nil, &answerError{err}
	}
	raw, err := encode(nil, r)
	if err != nil {
		return nil, err
	}
	return encodeResult(&runtime.ToolResult{Content: []runtime.Content{{Type: "text", Text: string(raw)}}, Structured: raw})
}

// encodeAnswer encodes what the function of a test returned.
func encodeAnswer[R any](r *R, err error, encode func(*R) (json.RawMessage, error)) (json.RawMessage, error) {
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, &answerError{errors.New("neither a result nor an error")}
	}
	return encode(r)
}

// encode returns raw, or the JSON of v without one.
func encode(raw json.RawMessage, v any) (json.RawMessage, error) {
	if raw != nil {
		return raw, nil
	}
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
