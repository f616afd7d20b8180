package codegen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/mcpctl/mcpctl/runtime"
)

// Surface is what a package was generated from.
type Surface struct {
	// Server is the server's name in the code.
	Server string
	// Tools has the [ToolDigests.Structure] of each tool by its name.
	Tools map[string]string
}

// GetPrompt fills in a prompt. Params encode as an object of strings, or are nil.
func (c *Client) GetPrompt(ctx context.Context, prompt string, params any, opts []runtime.CallOption) (*runtime.PromptResult, error) {
	s, params, err := c.mergeOptions(params, opts)
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", prompt, err)
	}
	var args map[string]string
	if params != nil {
		raw, err := encode(s, params)
		if err == nil {
			err = json.Unmarshal(raw, &args)
		}
		if err != nil {
			return nil, fmt.Errorf("prompt %s: arguments: %w", prompt, err)
		}
	}
	g, ok := c.caller.(runtime.PromptGetter)
	if !ok {
		return nil, c.unable("prompt "+prompt, "GetPrompt")
	}
	r, err := g.GetPrompt(ctx, prompt, args, &s.CallOptions)
	if err == nil && r == nil {
		err = fmt.Errorf("prompt %s: %T returned neither a result nor an error", prompt, c.caller)
	}
	return r, err
}

// ReadResource reads the resource at a URI.
func (c *Client) ReadResource(ctx context.Context, uri string, opts []runtime.CallOption) (*runtime.ResourceResult, error) {
	s, _, err := c.mergeOptions(nil, opts)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", uri, err)
	}
	return c.read(ctx, uri, s)
}

// ReadTemplate reads the resource of an expanded URI template (RFC 6570). Params
// encode as an object whose members are its variables: strings, lists or maps of
// strings; missing ones are undefined.
func (c *Client) ReadTemplate(ctx context.Context, template string, params any, opts []runtime.CallOption) (*runtime.ResourceResult, error) {
	s, params, err := c.mergeOptions(params, opts)
	if err != nil {
		return nil, fmt.Errorf("resource template %s: %w", template, err)
	}
	raw, err := encode(s, params)
	if err != nil {
		return nil, fmt.Errorf("resource template %s: %w", template, err)
	}
	uri, err := expandJSON(template, raw)
	if err != nil {
		return nil, fmt.Errorf("resource template %s: %w", template, err)
	}
	return c.read(ctx, uri, s)
}

func (c *Client) read(ctx context.Context, uri string, s *runtime.CallSettings) (*runtime.ResourceResult, error) {
	reader, ok := c.caller.(runtime.ResourceReader)
	if !ok {
		return nil, c.unable("resource "+uri, "ReadResource")
	}
	r, err := reader.ReadResource(ctx, uri, &s.CallOptions)
	if err == nil && r == nil {
		err = fmt.Errorf("resource %s: %T returned neither a result nor an error", uri, c.caller)
	}
	return r, err
}

// Complete requests values, beginning with value, of an argument of a prompt or a
// variable of a resource template. Others are the arguments that are known already.
func (c *Client) Complete(ctx context.Context, ref runtime.CompletionRef, argument, value string, others map[string]string, opts []runtime.CallOption) (*runtime.Completion, error) {
	s, _, err := c.mergeOptions(nil, opts)
	if err != nil {
		return nil, fmt.Errorf("complete %s: %w", argument, err)
	}
	completer, ok := c.caller.(runtime.Completer)
	if !ok {
		return nil, c.unable("complete "+argument, "Complete")
	}
	return completer.Complete(ctx, ref, argument, value, others, &s.CallOptions)
}

// Tools lists the server's tools; see [runtime.ToolLister].
func (c *Client) Tools(ctx context.Context) iter.Seq2[runtime.Tool, error] {
	return listed(ctx, c, "list tools", "Tools", runtime.ToolLister.Tools)
}

// Prompts lists the server's prompts.
func (c *Client) Prompts(ctx context.Context) iter.Seq2[runtime.Prompt, error] {
	return listed(ctx, c, "list prompts", "Prompts", runtime.PromptLister.Prompts)
}

// Resources lists the server's resources.
func (c *Client) Resources(ctx context.Context) iter.Seq2[runtime.Resource, error] {
	return listed(ctx, c, "list resources", "Resources", runtime.ResourceLister.Resources)
}

// ResourceTemplates lists the server's resource templates.
func (c *Client) ResourceTemplates(ctx context.Context) iter.Seq2[runtime.ResourceTemplate, error] {
	return listed(ctx, c, "list resource templates", "ResourceTemplates", runtime.ResourceTemplateLister.ResourceTemplates)
}

// unable returns the error of a caller that lacks a method. It wraps
// [errors.ErrUnsupported].
func (c *Client) unable(what, method string) error {
	if c.err != nil {
		return fmt.Errorf("%s: %w", what, c.err)
	}
	return fmt.Errorf("%s: %w: the caller (%T) has no method %s", what, errors.ErrUnsupported, c.caller, method)
}

// listed calls a list method of the caller, if it is an L.
func listed[L, T any](ctx context.Context, c *Client, what, method string, list func(L, context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	if l, ok := c.caller.(L); ok {
		return list(l, ctx)
	}
	return func(yield func(T, error) bool) {
		var none T
		yield(none, c.unable(what, method))
	}
}
