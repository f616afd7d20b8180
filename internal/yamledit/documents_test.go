package yamledit_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/yamledit"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestDocuments: documents are JSON with their members in order; aliases stand for what they
// name, and cannot grow without end.
func TestDocuments(t *testing.T) {
	t.Parallel()
	docs, err := yamledit.Documents([]byte("z: 1\na: [x, {c: null, b: true}]\n---\n# nothing\n---\nbase: &b {k: v}\nof: {<<: *b, l: *b}\n"))
	require.NoError(t, err)
	var got []string
	for _, d := range docs {
		got = append(got, string(d))
	}
	if want := `{"z":1,"a":["x",{"c":null,"b":true}]}` + "\n" + `{"base":{"k":"v"},"of":{"k":"v","l":{"k":"v"}}}`; strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	if _, err := yamledit.Documents([]byte(bomb)); err == nil {
		t.Error("aliases grow without end")
	}
	if _, err := yamledit.Documents([]byte("a: [")); err == nil || !strings.HasPrefix(err.Error(), "line ") {
		t.Errorf("the error is %v", err)
	}
}
