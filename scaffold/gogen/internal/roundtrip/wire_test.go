package roundtrip_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/bakeoff"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/collisions"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/constant"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/defaults"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/emptyarraylost"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/extra"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/falsedropped"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/fieldlost"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/idscorrupted"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/intenum"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/kindunion"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/nullable"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/nullforrequired"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/nullimpossible"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/nullinjected"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/objectunion"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/opt"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/optional"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/refs"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/required"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/spuriouskey"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/tuples"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/unionlost"
	"github.com/mcpctl/mcpctl/test/require"
)

// fake is a server in memory: it records what was sent and answers a result.
type fake struct {
	calls  int
	name   string
	args   string
	opts   *runtime.CallOptions
	result string
}

func (f *fake) CallTool(_ context.Context, name string, args json.RawMessage, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
	f.calls++
	f.name, f.args, f.opts = name, string(args), opts
	if f.result == "" {
		f.result = `{"content":[]}`
	}
	return runtime.ParseToolResult(json.RawMessage(f.result))
}

// TestWire checks what a call sends for values written in Go: absent, null, zero
// and empty are four different things.
func TestWire(t *testing.T) {
	ctx, f := t.Context(), &fake{}
	tests := []struct {
		name string
		call func() error
		want string
	}{
		{"required zero values", func() error {
			_, err := required.New(f).Set(ctx, required.SetParams{Any: []byte("null")})
			return err
		}, `{"any":null,"child":{"id":0},"count":0,"list":[],"map":{},"on":false,"ratio":0,"text":""}`},
		{"nothing optional", func() error { _, err := optional.New(f).Find(ctx); return err }, `{}`},
		{"optional, at a call", func() error {
			_, err := optional.New(f).Find(ctx, optional.FindParams{Text: new(""), List: []string{}, Count: new(int64(0))})
			return err
		}, `{"count":0,"list":[],"text":""}`},
		{"no arguments at all", func() error { _, err := optional.New(f).None(ctx); return err }, `{}`},
		{"required or null", func() error {
			_, err := nullable.New(f).Kinds(ctx, nullable.KindsParams{})
			return err
		}, `{"child":null,"count":null,"list":null,"map":null,"on":null,"only":null}`},
		{"required, or null, and there", func() error {
			_, err := nullable.New(f).Kinds(ctx, nullable.KindsParams{
				Child: &nullable.KindsChild{ID: 1}, Count: new(int64(0)), List: []*int64{nil, new(int64(2))}, Map: map[string]*string{"b": nil, "a": new("")}, On: new(false),
			})
			return err
		}, `{"child":{"id":1},"count":0,"list":[null,2],"map":{"a":"","b":null},"on":false,"only":null}`},
		{"absent of three states", func() error { _, err := opt.New(f).Edit(ctx); return ignore(err) }, `{}`},
		{"null of three states", func() error {
			_, err := opt.New(f).Edit(ctx, opt.EditParams{Text: runtime.Null[string](), Child: runtime.Null[opt.EditChild](), List: runtime.Null[[]string]()})
			return ignore(err)
		}, `{"child":null,"list":null,"text":null}`},
		{"values of three states", func() error {
			_, err := opt.New(f).Edit(ctx, opt.EditParams{Text: runtime.Some(""), List: runtime.Some([]string{}), Child: runtime.Some(opt.EditChild{Next: runtime.Null[opt.EditChild]()})})
			return ignore(err)
		}, `{"child":{"next":null},"list":[],"text":""}`},
		{"mixed enum", func() error {
			_, err := intenum.New(f).Pick(ctx, intenum.PickParams{Port: intenum.PickPort443, Mixed: new(intenum.PickMixedA1), MixedNull: runtime.Null[intenum.PickMixedNull]()})
			return ignore(err)
		}, `{"port":443,"mixed":{"a":[1]},"mixedNull":null}`},
		{"constants are filled in", func() error {
			_, err := constant.New(f).Draw(ctx, constant.DrawParams{Radius: 1})
			return ignore(err)
		}, `{"deep":{"a":[1,true],"b":null},"kind":"circle","nothing":null,"on":true,"radius":1,"version":2}`},
		{"union of kinds", func() error {
			_, err := kindunion.New(f).Label(ctx, kindunion.LabelParams{
				Label:       kindunion.NewLabel(kindunion.LabelString("bug")),
				Labels:      []kindunion.LabelLabelsItem{kindunion.NewLabelLabelsItem(kindunion.LabelLabelsItemObject{Name: "x"})},
				Environment: new(kindunion.NewLabelEnvironment(kindunion.LabelEnvironmentArray{})),
				Maybe:       runtime.Null[kindunion.LabelMaybe](),
			})
			return ignore(err)
		}, `{"label":"bug","environment":[],"labels":[{"name":"x"}],"maybe":null}`},
		{"union of objects", func() error {
			_, err := objectunion.New(f).Discriminator(ctx, objectunion.DiscriminatorParams{Shape: objectunion.NewDiscriminatorShape(objectunion.DiscriminatorSquare{Side: 2})})
			return ignore(err)
		}, `{"shape":{"kind":"square","side":2}}`},
		{"members the schema does not name", func() error {
			_, err := extra.New(f).Open(ctx, extra.OpenParams{Name: "n", Extra: map[string]json.RawMessage{"z": []byte("1.0"), "a": []byte(" [ ] ")}})
			return ignore(err)
		}, `{"name":"n","a": [ ] ,"z":1.0}`},
		{"and of a type", func() error {
			_, err := extra.New(f).Typed(ctx, extra.TypedParams{Name: "n", Extra: map[string]int64{"k": 3}})
			return ignore(err)
		}, `{"name":"n","k":3}`},
		{"a tuple", func() error {
			_, err := tuples.New(f).Modern(ctx, tuples.ModernParams{
				Point: &tuples.ModernPoint{V0: 1, V1: 2.5}, RestMember: &tuples.ModernRest{V0: new("a"), Rest: []int64{1, 2}}, Row: &tuples.ModernRow{},
				Nulls: &tuples.ModernNulls{V1: runtime.Null[int64]()},
			})
			return err
		}, `{"nulls":[null,null],"point":[1,2.5],"rest":["a",1,2],"row":[]}`},
		{"recursion", func() error {
			_, err := refs.New(f).Tree(ctx, refs.TreeParams{Root: refs.TreeNode{
				Value: "a", Children: []refs.TreeNode{{Value: "b", Parent: runtime.Null[refs.TreeNode]()}}, Next: &refs.TreeNode{Value: "c", Parent: runtime.Some(refs.TreeNode{Value: "d"})},
			}})
			return err
		}, `{"root":{"value":"a","children":[{"value":"b","parent":null}],"next":{"value":"c","parent":{"value":"d"}}}}`},
		{"defaults are not sent", func() error {
			_, err := defaults.New(f).Render(ctx, defaults.RenderParams{Required: "x"})
			return err
		}, `{"required":"x"}`},
		{"but where they are asked for", func() error {
			_, err := defaults.New(f).Render(ctx, defaults.RenderParams{Required: "x", Count: new(int64(0)), Tags: []string{}}.WithDefaults())
			return err
		}, `{"required":"x","count":0,"empty":"","list":[],"maybe":null,"mode":"fast","name":"none","off":false,"on":true,"opts":{},"ratio":0.5,"tags":[],"when":"2024-01-01"}`},

		// What other generators get wrong.
		{"null injected", func() error {
			_, err := nullinjected.New(f).IssueWrite(ctx, nullinjected.IssueWriteParams{Method: nullinjected.IssueWriteMethodUpdate})
			return err
		}, `{"method":"update"}`},
		{"null impossible", func() error {
			_, err := nullimpossible.New(f).Search(ctx, nullimpossible.SearchParams{Next: runtime.Null[string]()})
			return err
		}, `{"fields":null,"next":null}`},
		{"false dropped", func() error {
			_, err := falsedropped.New(f).Annotate(ctx, falsedropped.AnnotateParams{IncludeImage: new(false), Note: new(""), Count: new(int64(0)), Zero: new(0.0), List: []string{}})
			return err
		}, `{"count":0,"includeImage":false,"list":[],"note":"","zero":0}`},
		{"union lost", func() error {
			_, err := unionlost.New(f).Tag(ctx, unionlost.TagParams{Mode: new(unionlost.TagMode3), Parent: new(unionlost.NewTagParent(unionlost.TagParentWorkspace{}))})
			return err
		}, `{"mode":3,"parent":{"type":"workspace","workspace":true}}`},
		{"identifiers corrupted", func() error {
			_, err := idscorrupted.New(f).GetIssue(ctx, idscorrupted.GetIssueParams{IssueNumber: 3012345679, ID: new(int64(9007199254740993))})
			return ignore(err)
		}, `{"issue_number":3012345679,"id":9007199254740993}`},
		{"spurious key", func() error {
			_, err := spuriouskey.New(f).Log(ctx, spuriouskey.LogParams{Labels: &spuriouskey.LogLabels{App: new("a"), Extra: map[string]string{"x": "y"}}})
			return err
		}, `{"labels":{"app":"a","x":"y"}}`},
		{"empty list lost", func() error {
			_, err := emptyarraylost.New(f).Update(ctx, emptyarraylost.UpdateParams{Labels: []string{}, Clear: runtime.Some([]string{}), Map: map[string]string{}})
			return err
		}, `{"ids":[],"clear":[],"labels":[],"map":{}}`},
		{"field lost", func() error {
			_, err := fieldlost.New(f).Register(ctx, fieldlost.RegisterParams{X日本: "x", Empty: new("e"), AB: new("c"), LineBreak: new("l")})
			return err
		}, `{"日本":"x","":"e","a,b":"c","line\nbreak":"l"}`},
		{"collisions", func() error {
			_, err := collisions.New(f).GetUserSnake(ctx, collisions.GetUserSnakeParams{UserIDKebab: "a", UserIDSnake: new(int64(1)), UserIDX84af6748: new(true)})
			return err
		}, `{"user-id":"a","userId":true,"user_id":1}`},
		{"bake-off", func() error {
			_, err := bakeoff.New(f).IssueWrite(ctx, bakeoff.IssueWriteParams{
				Method: bakeoff.IssueWriteMethodUpdate, Owner: "o", Repo: "r", IssueNumber: new(3012345679.0), Labels: []string{},
				Type: runtime.Null[string](), Milestone: new(bakeoff.NewIssueWriteMilestone(bakeoff.IssueWriteMilestoneString("next"))),
			})
			return err
		}, `{"method":"update","owner":"o","repo":"r","issue_number":3012345679,"labels":[],"milestone":"next","type":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f.args = ""
			require.NoError(t, tt.call())
			if f.args != tt.want {
				t.Errorf("got  %s\nwant %s", f.args, tt.want)
			}
		})
	}
}

// ignore ignores that the fake's result fits no output schema.
func ignore(err error) error {
	if _, ok := errors.AsType[*runtime.ResultError](err); ok {
		return nil
	}
	return err
}

// TestNotSent: values that the schema does not allow are not sent, with the
// place of the error, unless validation is switched off.
func TestNotSent(t *testing.T) {
	ctx, f := t.Context(), &fake{}
	tests := []struct {
		name, pointer string
		call          func(opts ...runtime.CallOption) error
	}{
		{"enum", "/method", func(o ...runtime.CallOption) error {
			_, err := nullinjected.New(f).IssueWrite(ctx, nullinjected.IssueWriteParams{Method: "close"}, o...)
			return err
		}},
		{"bounds", "/limit", func(o ...runtime.CallOption) error {
			_, err := bakeoff.New(f).SearchEvents(ctx, bakeoff.SearchEventsParams{OrganizationSlug: "o", Limit: new(int64(101))}, o...)
			return err
		}},
		{"inside a list", "/root/children/1/value", func(o ...runtime.CallOption) error {
			_, err := refs.New(f).Tree(ctx, refs.TreeParams{Root: refs.TreeNode{Value: "a", Children: []refs.TreeNode{{Value: "b"}, {}}}}, o...)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := f.calls
			err := tt.call()
			refused, ok := errors.AsType[*runtime.FieldError](err)
			if !ok || refused.Pointer != tt.pointer || f.calls != before {
				t.Errorf("got %v and %d calls, want it refused at %s", err, f.calls-before, tt.pointer)
			}
			if err := tt.call(runtime.WithValidation(false)); err != nil || f.calls != before+1 {
				t.Errorf("unchecked: got %v and %d calls, want one", err, f.calls-before)
			}
		})
	}
}

// TestResults checks how results are read.
func TestResults(t *testing.T) {
	structured := func(s string) *fake { return &fake{result: `{"content":[],"structuredContent":` + s + `}`} }
	ctx := t.Context()
	list, err := nullforrequired.New(structured(`{"entities":[{"name":"Ada","since":2}],"more":[1]}`)).CreateEntities(ctx, nullforrequired.CreateEntitiesParams{})
	if err != nil || list.Entities[0].Name != "Ada" || string(list.Entities[0].Extra["since"]) != "2" || string(list.Extra["more"]) != "[1]" || list.Raw == nil {
		t.Errorf("what a newer server adds to a closed object: got %+v, %v", list, err)
	}
	_, err = nullforrequired.New(structured(`{"entities":null}`)).CreateEntities(ctx, nullforrequired.CreateEntitiesParams{})
	unfit, ok := errors.AsType[*runtime.ResultError](err)
	if !ok || unfit.Result == nil {
		t.Errorf("null for a required list: got %v", err)
	}
	if at, ok := errors.AsType[*runtime.FieldError](err); !ok || at.Pointer != "/entities" {
		t.Errorf("null for a required list: got %v", err)
	}
	edit, err := opt.New(structured(`{"text":null}`)).Edit(ctx)
	if err != nil || !edit.Text.IsNull() || !edit.Count.IsZero() {
		t.Errorf("null and absent: got %+v, %v", edit, err)
	}
	_, err = nullforrequired.New(&fake{result: `{"content":[{"type":"text","text":"disk full"}],"isError":true}`}).CreateEntities(ctx, nullforrequired.CreateEntitiesParams{})
	if e, ok := errors.AsType[*runtime.ToolError](err); !ok || e.Error() != "tool create_entities: disk full" {
		t.Errorf("a tool's own failure: got %v", err)
	}
}

// TestOptions: options of a client and of a call add up, and those of a call are
// its own.
func TestOptions(t *testing.T) {
	f := &fake{}
	c := optional.New(f, runtime.WithTimeout(1), runtime.WithMeta("a", []byte("1")))
	if _, err := c.None(t.Context(), runtime.WithTimeout(2), runtime.WithMeta("b", []byte("2"))); err != nil {
		t.Fatal(err)
	}
	if f.name != "none" || f.opts.Timeout != 2 || len(f.opts.Meta) != 2 {
		t.Errorf("got %s %+v", f.name, f.opts)
	}
	if _, err := c.None(t.Context(), nil); err != nil || f.opts.Timeout != 1 || len(f.opts.Meta) != 1 {
		t.Errorf("a call's options stay its own: got %+v, %v", f.opts, err)
	}
	if _, err := c.None(t.Context(), optional.FindParams{}); err == nil {
		t.Error("parameters of another tool were taken")
	}
}
