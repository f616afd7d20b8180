package codegen_test

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime"
)

// fake is a caller that keeps what it was called with.
type fake struct {
	name   string
	args   string
	opts   *runtime.CallOptions
	calls  int
	result *runtime.ToolResult
	err    error
}

func (f *fake) CallTool(_ context.Context, name string, args json.RawMessage, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
	f.calls++
	f.name, f.args, f.opts = name, string(args), opts
	return f.result, f.err
}

func options(o ...runtime.CallOption) []runtime.CallOption { return o }

func errOf[T any](_ T, err error) error { return err }
