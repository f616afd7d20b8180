package runtime

import (
	"context"
	"encoding/json"
	"iter"
)

// Caller calls tools. [Client] is one; generated clients take any, so a test
// can pass a fake.
//
// Whatever else a generated client does needs the other interfaces in this file;
// [Client] implements them all.
type Caller interface {
	// CallTool calls a tool with a raw arguments object and returns the server's
	// answer. A result with isError set is returned as a result, not as an error;
	// see [ToolResult.IsError] and [ToolError]. Nil or empty args send an empty
	// object, a nil opts is the zero value. Args that are not JSON are an error, and
	// nothing is sent. Opts may belong to several calls and must not be changed.
	CallTool(ctx context.Context, name string, args json.RawMessage, opts *CallOptions) (*ToolResult, error)
}

// PromptGetter fills in prompts; see [Client.GetPrompt].
type PromptGetter interface {
	GetPrompt(ctx context.Context, name string, args map[string]string, opts *CallOptions) (*PromptResult, error)
}

// ResourceReader reads resources; see [Client.ReadResource].
type ResourceReader interface {
	ReadResource(ctx context.Context, uri string, opts *CallOptions) (*ResourceResult, error)
}

// Completer completes an argument of a prompt or resource template; see
// [Client.Complete].
type Completer interface {
	Complete(ctx context.Context, ref CompletionRef, argument, value string, others map[string]string, opts *CallOptions) (*Completion, error)
}

// ToolLister lists tools, in the server's order, and requests each page when it is
// reached. An error is the last item. Breaking the loop requests no more pages. A
// lister with a method like [Client.ToolsVersion] lets [WithDrift] see changes.
type ToolLister interface {
	Tools(ctx context.Context) iter.Seq2[Tool, error]
}

// PromptLister lists prompts as [ToolLister] does tools.
type PromptLister interface {
	Prompts(ctx context.Context) iter.Seq2[Prompt, error]
}

// ResourceLister lists resources as [ToolLister] does tools.
type ResourceLister interface {
	Resources(ctx context.Context) iter.Seq2[Resource, error]
}

// ResourceTemplateLister lists resource templates as [ToolLister] does tools.
type ResourceTemplateLister interface {
	ResourceTemplates(ctx context.Context) iter.Seq2[ResourceTemplate, error]
}

// CompletionRef names the owner of an argument to complete: a prompt by its name,
// or a resource template by its text. One of them is set.
type CompletionRef struct {
	Prompt   string
	Template string
}

// Completion holds values that an argument may have.
type Completion struct {
	// Values are 100 at most (2025-11-25, Completion).
	Values []string `json:"values"`
	// Total is how many there are, nil where the server does not say.
	Total   *int64 `json:"total,omitempty"`
	HasMore bool   `json:"hasMore,omitempty"`
}
