package names_test

import (
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
	"github.com/mcpctl/mcpctl/test/require"
)

// resolve names a sketch and checks what always holds.
func resolve(t *testing.T, s sketch, o names.Options) (map[string]string, *names.Result) {
	t.Helper()
	p := s.build()
	r, err := names.Resolve(p, o)
	require.NoError(t, err)
	ids := identifiers(p)
	seen := map[string]string{"package Client": "", "package New": "", "method Tools": "", "method Prompts": ""}
	for _, n := range o.Reserved {
		seen["package "+n] = ""
	}
	for what, name := range ids {
		first, _ := utf8.DecodeRuneInString(name)
		if !token.IsIdentifier(name) || !unicode.IsUpper(first) {
			t.Errorf("%s is called %q", what, name)
		}
		scope := scopeOf(what)
		if other, ok := seen[scope+" "+name]; ok {
			t.Errorf("%s and %s are both called %s", what, other, name)
		}
		seen[scope+" "+name] = what
	}
	return ids, r
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name   string
		sketch sketch
		o      names.Options
		want   []string // some of the lines of sorted
	}{
		{
			"tools that differ in style",
			sketch{tools: []tool{{name: "get_user"}, {name: "get-user"}, {name: "getUser"}, {name: "other"}}},
			names.Options{},
			[]string{
				"method tool get_user = GetUserSnake", "method tool get-user = GetUserKebab", "method tool getUser = GetUser", "method tool other = Other",
				"package type tools/get_user#/inputSchema = GetUserSnakeParams", "package type tools/getUser#/inputSchema = GetUserParams",
			},
		},
		{
			"tools that style does not tell apart",
			sketch{tools: []tool{{name: "get_user"}, {name: "Get_user"}, {name: "getuser"}, {name: "find"}, {name: "FIND"}, {name: "Find"}}},
			names.Options{},
			[]string{"method tool get_user = GetUserXd33ed187", "method tool Get_user = GetUserXa3c4c9e6", "method tool getuser = Getuser", "method tool find = Find", "method tool FIND = FindUpper", "method tool Find = FindPascal"},
		},
		{
			"members that differ in style",
			sketch{tools: []tool{{name: "a", in: plain("user-id", "user_id", "userId", "user.id", "user id")}}},
			names.Options{},
			[]string{
				`in:"tools/a#/inputSchema" field user-id = UserIDKebab`, `in:"tools/a#/inputSchema" field user_id = UserIDSnake`,
				`in:"tools/a#/inputSchema" field userId = UserID`, `in:"tools/a#/inputSchema" field user.id = UserIDDotted`,
				`in:"tools/a#/inputSchema" field user id = UserIDSpaced`,
			},
		},
		{
			"texts that differ in symbols",
			sketch{tools: []tool{{name: "a", in: []member{
				{name: "language", values: []string{"C", "C++", "C#", "c"}}, {name: "$ref"}, {name: "ref"},
			}}}},
			names.Options{},
			[]string{
				`package value tools/a#/inputSchema/properties/language "C++" = ALanguageCPlusPlus`, `package value tools/a#/inputSchema/properties/language "C#" = ALanguageCHash`,
				`in:"tools/a#/inputSchema" field $ref = DollarRef`, `in:"tools/a#/inputSchema" field ref = Ref`,
			},
		},
		{
			"members that structs have of their own",
			sketch{tools: []tool{{name: "a", in: plain("extra", "raw", "validate", "marshalJSON", "with_defaults", "applyTo", "other", "rest")}}},
			names.Options{},
			[]string{
				`in:"tools/a#/inputSchema" field extra = ExtraMember`, `in:"tools/a#/inputSchema" field validate = ValidateMember`,
				`in:"tools/a#/inputSchema" field marshalJSON = MarshalJSONMember`, `in:"tools/a#/inputSchema" field with_defaults = WithDefaultsMember`,
				`in:"tools/a#/inputSchema" field applyTo = ApplyToMember`,
			},
		},
		{
			"methods that clients have of their own",
			sketch{tools: []tool{{name: "tools"}, {name: "resource_templates"}, {name: "new"}, {name: "client"}}},
			names.Options{},
			[]string{"method tool tools = ToolsTool", "method tool resource_templates = ResourceTemplatesTool", "method tool new = New", "package type tools/new#/inputSchema = NewParams"},
		},
		{
			"words written once",
			sketch{tools: []tool{{name: "get-annotated-message", in: []member{{name: "messageType", values: []string{"error", "", "1"}, def: `"error"`}}}}},
			names.Options{},
			[]string{
				"package type tools/get-annotated-message#/inputSchema/properties/messageType = GetAnnotatedMessageType",
				`package value tools/get-annotated-message#/inputSchema/properties/messageType "error" = GetAnnotatedMessageTypeError`,
				`package value tools/get-annotated-message#/inputSchema/properties/messageType "" = GetAnnotatedMessageTypeEmpty`,
				`package value tools/get-annotated-message#/inputSchema/properties/messageType "1" = GetAnnotatedMessageType1`,
				"package default tools/get-annotated-message#/inputSchema messageType = DefaultGetAnnotatedMessageMessageType",
			},
		},
		{
			"unless they collide",
			sketch{tools: []tool{
				{name: "get-message", in: []member{{name: "messageType", values: []string{"a"}}}},
				{name: "get", in: []member{{name: "messageType", values: []string{"a"}}}},
			}},
			names.Options{},
			[]string{
				"package type tools/get#/inputSchema/properties/messageType = GetMessageType",
				"package type tools/get-message#/inputSchema/properties/messageType = GetMessageMessageType",
			},
		},
		{
			"a member of parameters and of the result",
			sketch{tools: []tool{{name: "a", in: []member{{name: "b", members: plain("x")}}, out: []member{{name: "b", members: plain("y")}, {name: "params", members: plain("z")}}}}},
			names.Options{},
			[]string{
				"package type tools/a#/inputSchema/properties/b = AB", "package type tools/a#/outputSchema/properties/b = AOutputB",
				"package type tools/a#/outputSchema/properties/params = AOutputParams",
			},
		},
		{
			"unions and what comes with them",
			sketch{tools: []tool{{name: "a", in: []member{
				{name: "label", arms: []string{"string", "unknown"}}, {name: "labelArm", members: plain("x")},
			}}, {name: "new", in: []member{{name: "aLabel", members: plain("x")}}}}},
			names.Options{},
			[]string{
				"package type tools/a#/inputSchema/properties/label/oneOf/string = ALabelString",
			},
		},
		{
			"prompts, resources and templates beside tools",
			sketch{
				tools:   []tool{{name: "complex-prompt"}, {name: "read_architecture"}},
				prompts: []string{"complex", "args-prompt", "args", "tools"},
				resources: [][2]string{
					{"demo://doc/architecture.md", "architecture.md"},
					{"demo://doc/a.txt", "same"},
					{"demo://doc/b.txt", "same"},
					{"demo://doc/features.md", ""},
					{"demo://only", "Resource"},
				},
				templates: [][2]string{{"demo://text/{id}", "Dynamic Text Resource"}, {"demo://x/{id}", "v1.2"}},
			},
			names.Options{},
			[]string{
				"method tool complex-prompt = ComplexPrompt", "method prompt complex = PromptComplex", "method prompt args = ArgsPrompt",
				"method prompt args-prompt = ArgsPromptPrompt", "method prompt tools = ToolsPrompt",
				"method tool read_architecture = ReadArchitecture", "method resource demo://doc/architecture.md = ReadArchitectureMd",
				"method resource demo://doc/a.txt = ReadDocATxt", "method resource demo://doc/b.txt = ReadDocBTxt", "method resource demo://doc/features.md = ReadFeatures",
				"method resource demo://only = ReadResource",
				"method template demo://text/{id} = ReadDynamicText", "method template demo://x/{id} = ReadV1_2",
				"package type resourceTemplates/demo://text/{id}#/uriTemplate = DynamicTextURI", "package type prompts/args#/arguments = ArgsPromptParams",
			},
		},
		{
			"names that the package has of its own",
			sketch{tools: []tool{{name: "opt", in: []member{{name: "al", members: plain("x")}}}}},
			names.Options{Reserved: []string{"OptParams", "OptAl"}},
			[]string{"package type tools/opt#/inputSchema/properties/al = OptInputAl"},
		},
		{
			"odd names",
			sketch{tools: []tool{{name: ""}, {name: "日本"}, {name: "$"}, {name: "1"}, {name: "type"}}},
			names.Options{},
			[]string{"method tool  = Empty", "method tool 日本 = X日本", "method tool $ = Dollar", "method tool 1 = X1", "method tool type = Type"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids, _ := resolve(t, c.sketch, c.o)
			lines := sorted(ids)
			for _, want := range c.want {
				if !slices.Contains(lines, want) {
					t.Errorf("no line %q", want)
				}
			}
			if t.Failed() {
				t.Logf("all:\n%s", strings.Join(lines, "\n"))
			}
		})
	}
}
