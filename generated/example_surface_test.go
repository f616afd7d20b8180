package generated_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/mcpctl/mcpctl/generated/everything"
	"github.com/mcpctl/mcpctl/runtime"
)

// whole is a fake server with a prompt, resources and tools to list.
type whole struct {
	fake
	tools []runtime.Tool
}

func (whole) GetPrompt(_ context.Context, name string, args map[string]string, _ *runtime.CallOptions) (*runtime.PromptResult, error) {
	text := fmt.Sprintf("%s %v", name, args)
	return &runtime.PromptResult{Messages: []runtime.PromptMessage{{Role: "user", Content: runtime.Content{Type: "text", Text: text}}}}, nil
}

func (whole) ReadResource(_ context.Context, uri string, _ *runtime.CallOptions) (*runtime.ResourceResult, error) {
	return &runtime.ResourceResult{Contents: []runtime.ResourceContents{{URI: uri, Text: "text"}}}, nil
}

func (w whole) Tools(context.Context) iter.Seq2[runtime.Tool, error] {
	return func(yield func(runtime.Tool, error) bool) {
		for _, t := range w.tools {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func echo(_ string, args json.RawMessage) string {
	fmt.Println("sent", string(args))
	return `{"content":[]}`
}

// Where no argument is required, parameters are one more option.
func Example_noneRequired() {
	ctx := context.Background()
	client := everything.New(fake(echo))

	_, _ = client.GetResourceLinks(ctx)
	_, _ = client.GetResourceLinks(ctx, everything.GetResourceLinksParams{Count: new(2.0)})
	// Output:
	// sent {}
	// sent {"count":2}
}

// What the input schema does not allow is not sent.
func Example_validation() {
	ctx := context.Background()
	client := everything.New(fake(echo))

	_, err := client.GetAnnotatedMessage(ctx, everything.GetAnnotatedMessageParams{MessageType: "loud"})
	if field, ok := errors.AsType[*runtime.FieldError](err); ok {
		fmt.Println(field.Pointer, field.Reason)
	}

	_, err = client.GetAnnotatedMessage(ctx, everything.GetAnnotatedMessageParams{MessageType: "loud"},
		runtime.WithValidation(false)) // the server decides
	fmt.Println(err)
	// Output:
	// /messageType "loud" is not one of the values that the schema allows: "error", "success", "debug"
	// sent {"messageType":"loud"}
	// <nil>
}

// Prompts, resources and URI templates are methods, lists are iterators.
func Example_surface() {
	ctx := context.Background()
	client := everything.New(whole{tools: []runtime.Tool{{Name: "echo"}}})

	prompt, _ := client.ArgsPrompt(ctx, everything.ArgsPromptParams{City: "Oslo"})
	fmt.Println(prompt.Messages[0].Content.Text)

	page, _ := client.ReadArchitecture(ctx)
	fmt.Println(page.Contents[0].URI)

	page, _ = client.ReadDynamicText(ctx, everything.DynamicTextURI{ResourceID: "a/7"})
	fmt.Println(page.Contents[0].URI)

	for tool, err := range client.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(tool.Name)
	}
	// Output:
	// args-prompt map[city:Oslo]
	// demo://resource/static/document/architecture.md
	// demo://resource/dynamic/text/a%2F7
	// echo
}

// A server whose tool has changed since the client was generated.
func Example_drift() {
	ctx := context.Background()
	server := whole{fake: echo, tools: []runtime.Tool{{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}}}

	client := everything.New(server, runtime.WithDrift(runtime.DriftWarn, func(e *runtime.DriftError) {
		fmt.Println("warning:", e)
	}))
	_, err := client.Echo(ctx, everything.EchoParams{Message: "hi"})
	fmt.Println(err)

	_, err = client.Echo(ctx, everything.EchoParams{Message: "hi"}, runtime.WithDrift(runtime.DriftFail, nil))
	var drift *runtime.DriftError
	fmt.Println(errors.As(err, &drift))
	// Output:
	// warning: tool echo of everything has changed since the client was generated: the server's definition is another one
	// sent {"message":"hi"}
	// <nil>
	// true
}
