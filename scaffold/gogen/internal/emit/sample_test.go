package emit_test

import "github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"

func str() *model.Type { return &model.Type{Kind: model.String} }

func named(d *model.Decl) *model.Type { return &model.Type{Kind: model.Named, Decl: d} }

// sample returns a package with one of everything.
func sample() *model.Package {
	p := &model.Package{
		Name: "sample", Server: "everything", Implementation: "mcp-servers/everything 2.0.0", Protocol: "2025-11-25", Digest: "sha256:00",
	}
	decl := func(d *model.Decl) *model.Decl {
		p.Decls = append(p.Decls, d)
		if d.Tool == "" && !d.Top {
			d.Tool = "echo"
		}
		if d.Tool != "" {
			d.Key = "tools/" + d.Tool + "#" + d.Name
		}
		if d.Doc == nil {
			d.Doc = []string{"is a type of the tool."}
		}
		return d
	}
	kind := decl(&model.Decl{Form: model.StringEnum, Name: "EchoKind", Values: []*model.Value{
		{Text: "error", Name: "EchoKindError"}, {Text: "de\"bug", Name: "EchoKindDebug", Doc: "Much."},
	}})
	level := decl(&model.Decl{Form: model.IntEnum, Name: "EchoLevel", Values: []*model.Value{{Text: "1", Name: "EchoLevel1"}, {Text: "-2", Name: "EchoLevelMinus2"}}})
	mode := decl(&model.Decl{Form: model.MixedEnum, Name: "EchoMode", Values: []*model.Value{{Text: `"auto"`, Name: "EchoModeAuto"}, {Text: "3", Name: "EchoMode3"}}})
	point := decl(&model.Decl{Form: model.Tuple, Name: "EchoPoint", Fields: []*model.Field{
		{JSON: "0", Name: "V0", Type: &model.Type{Kind: model.Float, Rules: &model.Rules{Minimum: "0"}}},
		{JSON: "1", Name: "V1", Type: str(), Presence: model.OrAbsent},
	}, Additional: model.Additional{Rest: &model.Type{Kind: model.String, Rules: &model.Rules{MinLength: new(int64(1))}}}})
	labelName := decl(&model.Decl{Form: model.Defined, Name: "EchoLabelName", Under: &model.Type{Kind: model.String, Rules: &model.Rules{MaxLength: new(int64(5))}}})
	labelObject := decl(&model.Decl{Form: model.Struct, Name: "EchoLabelObject", Fields: []*model.Field{
		{JSON: "type", Literal: `"label"`, Presence: model.Constant, Type: str()}, {JSON: "name", Name: "Name", Type: str()},
	}})
	label := decl(&model.Decl{Form: model.Union, Name: "EchoLabel", Choice: model.Choice{Arms: []*model.Arm{
		{Decl: labelName, Kinds: []string{"string"}}, {Decl: labelObject, Kinds: []string{"object"}},
	}}})
	tree := decl(&model.Decl{Form: model.Struct, Name: "EchoTree"})
	tree.Fields = []*model.Field{
		{JSON: "left", Name: "Left", Type: named(tree), Presence: model.OrAbsent},
		{JSON: "next", Name: "Next", Type: named(tree), Indirect: true},
		{JSON: "weird`\nname", Name: "WeirdName", Type: named(level), Presence: model.OrAbsentOrNull},
	}
	list := decl(&model.Decl{Form: model.Defined, Name: "EchoForest", Under: &model.Type{Kind: model.List, Elem: named(tree), Rules: &model.Rules{MinItems: new(int64(1))}}})
	loose := decl(&model.Decl{Form: model.Struct, Name: "EchoLoose", Additional: model.Additional{Loose: true, Rest: &model.Type{}}, Checks: model.Checks{Rules: &model.Rules{MinProperties: new(int64(1)), MaxProperties: new(int64(3))}}, Fields: []*model.Field{
		{JSON: "a", Name: "A", Type: str(), Presence: model.OrAbsent}, {JSON: "b", Name: "B", Type: &model.Type{Kind: model.Int}, Presence: model.OrAbsentOrNull},
	}})
	params := decl(&model.Decl{Form: model.Struct, Name: "EchoParams", Top: true, Tool: "echo", Additional: model.Additional{Rest: &model.Type{Kind: model.Raw}}, Fields: []*model.Field{
		{JSON: "message", Name: "Message", Doc: []string{"What to say. /* */ \u202e [x]: http://example.com"}, Type: &model.Type{Kind: model.String, Rules: &model.Rules{MinLength: new(int64(1)), MaxLength: new(int64(10)), Patterns: []string{"^`\"a", `\d+`}}}},
		{JSON: "count", Name: "Count", Type: &model.Type{Kind: model.Float, Rules: &model.Rules{Minimum: "1", Maximum: "10", MultipleOf: "0.5"}}, Presence: model.OrAbsent, Default: "3.5", DefaultName: "DefaultEchoCount"},
		{JSON: "big", Name: "Big", Type: &model.Type{Kind: model.Int, Rules: &model.Rules{Maximum: "1e30", ExclusiveMinimum: "1.5"}}, Presence: model.OrAbsentOrNull, Default: "3", DefaultName: "DefaultEchoBig"},
		{JSON: "huge", Name: "Huge", Type: &model.Type{Kind: model.Decimal, Rules: &model.Rules{MultipleOf: "3"}}, Presence: model.OrNull},
		{JSON: "kind", Name: "Kind", Type: named(kind), Presence: model.OrAbsent, Default: `"error"`, DefaultName: "DefaultEchoKind"},
		{JSON: "level", Name: "Level", Type: named(level)},
		{JSON: "mode", Name: "Mode", Type: named(mode), Presence: model.OrAbsent, Default: `"auto"`, DefaultName: "DefaultEchoMode"},
		{JSON: "points", Name: "Points", Type: &model.Type{Kind: model.List, Elem: named(point), Rules: &model.Rules{UniqueItems: true, MaxItems: new(int64(2))}}, Presence: model.OrAbsent, Default: "[]"},
		{JSON: "labels", Name: "Labels", Type: &model.Type{Kind: model.Map, Elem: named(label), ElemNull: true, Rules: &model.Rules{MinProperties: new(int64(1))}}, Presence: model.OrAbsent},
		{JSON: "forest", Name: "Forest", Type: named(list), Presence: model.OrAbsent},
		{JSON: "loose", Name: "Loose", Type: named(loose), Presence: model.OrNull},
		{JSON: "when", Name: "When", Type: &model.Type{Kind: model.Format, Format: "DateTime"}, Presence: model.OrAbsent},
		{JSON: "flag", Name: "Flag", Type: &model.Type{Kind: model.Bool, Rules: &model.Rules{Values: []string{"true"}}}, Presence: model.OrAbsent, Default: "true", DefaultName: "DefaultEchoFlag"},
		{JSON: "ratio", Name: "Ratio", Type: &model.Type{Kind: model.Float, Rules: &model.Rules{Values: []string{"0.5", "1"}}}, Presence: model.OrAbsent},
		{JSON: "grid", Name: "Grid", Type: &model.Type{Kind: model.List, Elem: &model.Type{Kind: model.List, ElemNull: true, Elem: &model.Type{Kind: model.String, Rules: &model.Rules{MinLength: new(int64(2))}}}}, Presence: model.OrAbsent},
	}})
	result := decl(&model.Decl{Form: model.Struct, Name: "EchoResult", Top: true, Tool: "echo", Side: model.Output, Additional: model.Additional{Result: true}, Fields: []*model.Field{
		{JSON: "kind", Name: "Kind", Type: named(kind)},
	}})
	p.Tools = append(p.Tools, &model.Tool{Name: "echo", GoName: "Echo", Doc: []string{`calls the tool "echo".`, "It echoes."}, Digest: "sha256:01", Params: params, Result: result})
	optional := decl(&model.Decl{Form: model.Struct, Name: "GetEnvParams", Top: true, Tool: "get-env", Checks: model.Checks{Schema: `{"type":"object","not":{"required":["x` + "`" + `"]}}`}, Fields: []*model.Field{
		{JSON: "n", Name: "N", Type: str(), Presence: model.OrAbsent},
	}})
	wrapper := decl(&model.Decl{Form: model.Wrapper, Name: "GetEnvResult", Top: true, Tool: "get-env", Side: model.Output, Additional: model.Additional{Result: true}, UnderNull: true, Under: &model.Type{Kind: model.List, Elem: named(kind)}})
	p.Tools = append(p.Tools, &model.Tool{Name: "get-env", GoName: "GetEnv", Doc: []string{`calls the tool "get-env".`}, Digest: "sha256:02", Params: optional, Optional: true, Result: wrapper},
		&model.Tool{Name: "raw", GoName: "Raw", Doc: []string{`calls the tool "raw".`}, Digest: "sha256:03"})
	args := decl(&model.Decl{Form: model.Struct, Name: "ComplexPromptParams", Top: true, Fields: []*model.Field{{JSON: "style", Name: "Style", Type: str(), Presence: model.OrAbsent}}})
	p.Prompts = []*model.Prompt{{Name: "complex", GoName: "ComplexPrompt", Doc: []string{"gets the prompt."}, Params: args, Optional: true}, {Name: "simple", GoName: "SimplePrompt", Doc: []string{"gets the prompt."}}}
	p.Resources = []*model.Resource{{URI: "demo://a", GoName: "ReadA", Doc: []string{"reads it."}}}
	uri := decl(&model.Decl{Form: model.Struct, Name: "DynamicTextURI", Top: true, Fields: []*model.Field{{JSON: "id", Name: "ID", Type: str()}}})
	p.Templates = []*model.Template{{URITemplate: "demo://{id}", GoName: "ReadDynamicText", Doc: []string{"reads it."}, Params: uri}}
	return p
}
