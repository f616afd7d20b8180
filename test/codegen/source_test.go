package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
)

func TestReadSource(t *testing.T) {
	const text = `// Package p is one.
package p

import "encoding/json"

// T is documented.
type T struct {
	// A is, too.
	A string ` + "`json:\"a\"`" + `
	B []json.RawMessage ` + "`json:\"b\"`" + ` // B as well.
	C, D map[string]any ` + "`json:\"-\" name:\"c\"`" + `
	Extra map[string]json.RawMessage ` + "`json:\"-\" mcp:\"rest\"`" + `
	_ struct{} ` + "`name:\"k\" const:\"1\"`" + `
	e int
	F []Elem ` + "`json:\"f\"`" + ` // F too.
}

// Elem is any JSON.
type Elem interface{}

// Of a group.
const (
	K = 1
	L = 2
)

var M, n = 1, 2

type hidden struct{ X int }

func (hidden) Y() {}

func (t *T) Z() {}

// I is documented.
type I interface{ Do() }

func F() {}
`
	got, err := readSource("p.go", []byte(text))
	require.NoError(t, err)
	want := source{
		Unformatted:  true,
		Package:      true,
		Undocumented: []string{"T.C", "T.D", "T.Extra", "M", "T.Z", "I.Do", "F"},
		Exported:     15,
		Fields:       5,
		Untyped:      []string{"T.B", "T.C", "T.D", "T.F"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := readSource("p.go", []byte("package")); err == nil {
		t.Error("got no error for what is no Go")
	}
}
