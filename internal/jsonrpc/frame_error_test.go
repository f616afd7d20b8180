package jsonrpc

import "testing"

// TestErrorObject: each error of mcpctl says its kind, and keeps data as it is.
func TestErrorObject(t *testing.T) {
	for _, tt := range []struct {
		code       int64
		data, want string
	}{
		{-32602, "", `{"kind":"usage"}`},
		{-32601, "", `{"kind":"protocol"}`},
		{-32603, "", `{"kind":"other"}`},
		{-32022, `{"supported":["2026-07-28"]}`, `{"kind":"protocol","supported":["2026-07-28"]}`},
		{-32002, ` {} `, `{"kind":"usage"}`},
		{-32603, `{"a":1,"kind":"timeout"}`, `{"a":1,"kind":"timeout"}`},
		{-32000, `[1]`, `[1]`},
	} {
		var data []byte
		if tt.data != "" {
			data = []byte(tt.data)
		}
		want := `{"code":` + map[int64]string{-32602: "-32602", -32601: "-32601", -32603: "-32603", -32022: "-32022", -32002: "-32002", -32000: "-32000"}[tt.code] + `,"message":"m","data":` + tt.want + `}`
		if got := string(ErrorObject(tt.code, "m", data)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
