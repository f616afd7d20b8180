package emit

import (
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// The packages that generated code imports, besides the standard library.
const (
	runtimePath = "github.com/mcpctl/mcpctl/runtime"
	codegenPath = runtimePath + "/codegen"
	schemaPath  = runtimePath + "/schema"
)

func importNames() map[string]string {
	return map[string]string{
		runtimePath: "runtime", codegenPath: "codegen", schemaPath: "schema",
		"encoding/json": "json", "context": "context", "iter": "iter", "slices": "slices",
	}
}

// support refers to what generated code calls: in packages of its own or, where
// local is set, in the generated package itself. Only this type names them.
type support struct {
	local func(path, name string) string
}

func (s support) qual(path, name string) *jen.Statement {
	if s.local != nil {
		return jen.Id(s.local(path, name))
	}
	return jen.Qual(path, name)
}

func (s support) runtime(name string) *jen.Statement { return s.qual(runtimePath, name) }
func (s support) codegen(name string) *jen.Statement { return s.qual(codegenPath, name) }
func (s support) schema(name string) *jen.Statement  { return s.qual(schemaPath, name) }

// link returns a doc link to a name of package runtime; star is "*" for a
// pointer.
func (s support) link(star, name string) string {
	if s.local != nil {
		return "[" + star + s.local(runtimePath, name) + "]"
	}
	return "[" + star + "runtime." + name + "]"
}

func raw() *jen.Statement { return jen.Qual("encoding/json", "RawMessage") }

func ctx() *jen.Statement { return jen.Id("ctx").Qual("context", "Context") }

// line returns a block of one statement on the line of its function.
func line(code ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ";"}, code...)
}

// lower returns an exported name as an unexported one, different for different
// names.
func lower(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[n:]
}
