package declare

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"unicode"
)

// clientGo is the part of a package that calls tools.
//
//go:embed client.go.txt
var clientGo string

// reservedGo returns the names that are taken; all others of the package are in lower case.
func reservedGo() []string { return []string{"ToolResult"} }

// golang returns the package.
func (m *module) golang() []byte {
	var out strings.Builder
	for _, line := range m.head {
		out.WriteString("// " + line + "\n")
	}
	head, client, _ := strings.Cut(clientGo, "\n\n\n")
	out.WriteString("\n" + head + "\n")
	for _, t := range m.tools {
		result, call := "*ToolResult", "call("
		if t.result != nil {
			result = t.result.goType()
			call = "structured[" + result + "]("
		}
		out.WriteString("\n" + commentGo(t.function+" calls "+quoteWide(t.name)+".\n\n"+t.doc))
		fmt.Fprintf(&out, "func %s(ctx context.Context, arguments %s) (%s, error) {\n\treturn %sctx, %s, arguments%s)\n}\n", t.function, t.params.goType(), result, call, quoteWide(t.name), t.repeatedGo())
		for _, d := range t.decls {
			out.WriteString("\n")
			d.golang(&out)
		}
	}
	out.WriteString("\n" + client)
	code, err := format.Source([]byte(out.String()))
	if err != nil {
		return []byte(out.String()) // impossible; a compiler says what is wrong
	}
	return code
}

func (t *tool) repeatedGo() string {
	var all strings.Builder
	for _, m := range t.repeated {
		all.WriteString(", []string{" + quoteWide(m.Header))
		for _, name := range m.Path() {
			all.WriteString(", " + quoteWide(name))
		}
		all.WriteString("}")
	}
	return all.String()
}

func (d *decl) golang(out *strings.Builder) {
	switch {
	case d.same != nil && d.same.kind == named: // which may be this one again
		fmt.Fprintf(out, "type %s any\n", d.name)
		return
	case d.same != nil:
		fmt.Fprintf(out, "type %s %s\n", d.name, d.same.goType())
		return
	case slices.ContainsFunc(d.fields, func(f field) bool { return !inTag(f.name) }):
		fmt.Fprintf(out, "// %s has members that no field can have.\ntype %s map[string]any\n", d.name, d.name)
		return
	}
	names := newScope(nil)
	fmt.Fprintf(out, "type %s struct {\n", d.name)
	for _, f := range d.fields {
		if values := f.typ.goValues(); values != "" {
			f.doc = strings.TrimSpace(f.doc + " " + values)
		}
		out.WriteString(commentGo(f.doc))
		option, goType := "", f.typ.goType()
		if !f.required {
			option = ",omitzero"
		}
		if goType != "any" && (!f.required && f.typ.isValue() || f.typ.kind == named && f.typ.decl.same == nil && !strings.HasPrefix(goType, "*")) {
			goType = "*" + goType // absent is nil; and a struct may be inside itself
		}
		fmt.Fprintf(out, "%s %s `json:%s`\n", names.unique(pascal(f.name)), goType, quoteWide(f.name+option))
	}
	out.WriteString("}\n")
}

// isValue reports whether the zero value of a type is a value of JSON.
func (t *typ) isValue() bool {
	written := t.goType()
	return t.kind != listOf && t.kind != mapOf && t.kind != named && written != "any" && !strings.HasPrefix(written, "*")
}

// inTag reports whether a field can have a name: encoding/json takes these characters.
func inTag(name string) bool {
	return name != "" && name != "-" && strings.IndexFunc(name, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// goValues says which values there are of an enumeration, "" for others.
func (t *typ) goValues() string {
	of := []*typ{t}
	if t.kind == union {
		of = t.of
	}
	var values []string
	for _, t := range of {
		switch {
		case t.kind == literal:
			raw, _ := json.Marshal(t.value)
			values = append(values, string(raw))
		case t.kind != null:
			return ""
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "One of " + strings.Join(values, ", ") + "."
}

func (t *typ) goType() string {
	switch t.kind {
	case boolean:
		return "bool"
	case number:
		return "float64"
	case integer:
		return "int64"
	case text:
		return "string"
	case listOf:
		return "[]" + t.elem.goType()
	case mapOf:
		return "map[string]" + t.elem.goType()
	case union:
		var parts []string
		nullable := false
		for _, of := range t.of {
			if of.kind == null {
				nullable = true
			} else if part := of.goType(); !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
		switch {
		case len(parts) != 1:
			return "any"
		case nullable && !strings.HasPrefix(parts[0], "[]") && !strings.HasPrefix(parts[0], "map[") && parts[0] != "any":
			return "*" + parts[0]
		}
		return parts[0]
	case literal:
		switch t.value.(type) {
		case string:
			return "string"
		case bool:
			return "bool"
		}
		return "int64"
	case named:
		return t.decl.name
	case unknown, null:
	}
	return "any"
}

// commentGo returns a text as a comment, "" for none.
func commentGo(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "+build") { // which go/format takes for a constraint
			line = `\` + strings.TrimSpace(line)
		}
		out.WriteString(strings.TrimRight("// "+line, " \t") + "\n")
	}
	return out.String()
}
