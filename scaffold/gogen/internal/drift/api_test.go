package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/test/require"
)

const before = `package p

import "encoding/json"

type Client struct{ core *int }

func New(c int) *Client { return nil }

func (c *Client) Echo(ctx int, p EchoParams) (*EchoResult, error) { return nil, nil }
func (c *Client) Gone() {}

type EchoParams struct {
	A, B string
	C    *float64
	_    struct{}
}

func (p EchoParams) Validate() error { return nil }

type EchoResult struct{ Extra map[string]json.RawMessage }

type Level string

const LevelInfo Level = "info"

const DefaultA = "x"

const DefaultB = 1

type Label struct{ codegen.OneOf[LabelArm] }

type Gone struct{ X int }

func NewLabel[T LabelA | LabelB](v T) Label { return Label{} }

func NewOther[T A | B](v T) Label { return Label{} }

var ModeAuto = Mode{1}
`

const after = `package p

import "encoding/json"

type Client struct{ other *int }

func New(x int) *Client { return nil }

func (c *Client) Echo(c2 int, p EchoParams) (*ToolResult, error) { return nil, nil }
func (c *Client) Added() {}

type EchoParams struct {
	A string
	C float64
	D []int
}

func (p *EchoParams) Validate() error { return nil }

type EchoResult struct{ New string }

type Level int64

const LevelInfo Level = 2

const DefaultA = "y"

const DefaultB = 1.5

type Label struct{ codegen.OneOf[OtherArm] }

var ModeAuto = Other{1}

func NewLabel[T LabelA | LabelC | LabelB](v T) Label { return Label{} }

func NewOther[T A | C](v T) Label { return Label{} }
`

func TestBreaks(t *testing.T) {
	old, err := drift.APIOf([][]byte{[]byte(before)})
	require.NoError(t, err)
	now, err := drift.APIOf([][]byte{[]byte(after)})
	require.NoError(t, err)
	var got []string
	for _, b := range drift.Breaks(old, now) {
		got = append(got, b.String())
	}
	want := []string{
		"Client.Echo: was func(int, EchoParams) (*EchoResult, error), is func(int, EchoParams) (*ToolResult, error)",
		"Client.Gone is gone",
		"DefaultB: was const int, is const float",
		"EchoParams can no longer be compared with ==",
		"EchoParams.B is gone",
		"EchoParams.C: was *float64, is float64",
		"EchoParams.Validate: was func() error, is func() error of the pointer",
		"EchoResult.Extra is gone",
		"Gone is gone",
		"Label.OneOf: was embedded codegen.OneOf[LabelArm], is embedded codegen.OneOf[OtherArm]",
		"Level: was type string, is type int64",
		"ModeAuto: was var Mode, is var Other",
		"NewOther: was func[A | B](T) Label, is func[A | C](T) Label",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if same := drift.Breaks(old, old); len(same) > 0 {
		t.Errorf("compared with itself: %v", same)
	}
	if _, err := drift.APIOf([][]byte{[]byte("no Go")}); err == nil {
		t.Error("no error for what is no Go")
	}
}
