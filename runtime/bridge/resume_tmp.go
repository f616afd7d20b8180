package bridge

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime"
)

func Resume(ctx context.Context, t runtime.Transport, req *runtime.Request, result json.RawMessage, err error) (json.RawMessage, error) {
	ctx, _ = Answered(ctx, t, result, err)
	return t.Call(ctx, req)
}

func CanResume(t runtime.Transport) bool {
	_, ok := Answered(context.Background(), t, nil, nil)
	return ok
}
