package declare

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// clientPython is the part of a module that calls tools.
//
//go:embed client.py
var clientPython string

// keywordsPython are words that nothing may be called by, or that types are called by.
const keywordsPython = "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case type bool dict float int list str object print isinstance ValueError Exception"

func reservedPython() []string {
	return append(strings.Fields(keywordsPython), "Any", "Literal", "Mapping", "NotRequired", "ToolError", "ToolResult", "TypeAlias", "TypedDict", "annotations", "_HTTPError", "_NoRedirect", "_base64", "_call", "_header", "_json", "_os", "_request", "_structured")
}

func pythonName(tool string) string {
	name := identifier(tool)
	if slices.Contains(reservedPython(), name) || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") {
		name += "_"
	}
	return name
}

// python returns the module.
func (m *module) python() []byte {
	var out strings.Builder
	for _, line := range m.head {
		out.WriteString("# " + line + "\n")
	}
	head, client, _ := strings.Cut(clientPython, "\n\n\n")
	out.WriteString(head + "\n")
	for _, t := range m.tools {
		params, result, call := t.params.pythonType(), "ToolResult", "return _call("
		if t.optional {
			params += " = {}"
		}
		if t.result != nil {
			result = t.result.pythonType()
			call = "result: " + result + " = _structured("
		}
		fmt.Fprintf(&out, "\n\ndef %s(arguments: %s) -> %s:\n%s    %s%s, arguments%s)\n", t.function, params, result, docPython(t.doc), call, quoteWide(t.name), t.repeatedPython())
		if t.result != nil {
			out.WriteString("    return result\n")
		}
		for _, d := range t.decls {
			out.WriteString("\n\n")
			d.python(&out)
		}
	}
	out.WriteString("\n\n" + client)
	return []byte(out.String())
}

func (t *tool) repeatedPython() string {
	if len(t.repeated) == 0 {
		return ""
	}
	var all strings.Builder
	for _, m := range t.repeated {
		all.WriteString("[" + quoteWide(m.Header))
		for _, name := range m.Path() {
			all.WriteString(", " + quoteWide(name))
		}
		all.WriteString("], ")
	}
	return ", [" + strings.TrimSuffix(all.String(), ", ") + "]"
}

func (d *decl) python(out *strings.Builder) {
	if d.same != nil {
		fmt.Fprintf(out, "%s: TypeAlias = %s\n", d.name, quoteWide(d.same.pythonType()))
		return
	}
	reserved := reservedPython()
	// In a class, a name with __ before it is another.
	if !slices.ContainsFunc(d.fields, func(f field) bool {
		return !isIdentifier(f.name) || strings.HasPrefix(f.name, "__") || slices.Contains(reserved, f.name)
	}) {
		fmt.Fprintf(out, "class %s(TypedDict):\n", d.name)
		for _, f := range d.fields {
			fmt.Fprintf(out, "%s    %s: %s\n", commentPython(f.doc), f.name, f.python())
		}
		return
	}
	fmt.Fprintf(out, "%s = TypedDict(%s, {\n", d.name, quoteWide(d.name))
	for _, f := range d.fields {
		fmt.Fprintf(out, "%s    %s: %s,\n", commentPython(f.doc), quoteWide(f.name), quoteWide(f.python()))
	}
	out.WriteString("})\n")
}

func (f *field) python() string {
	if f.required {
		return f.typ.pythonType()
	}
	return "NotRequired[" + f.typ.pythonType() + "]"
}

func (t *typ) pythonType() string {
	switch t.kind {
	case null:
		return "None"
	case boolean:
		return "bool"
	case number:
		return "float"
	case integer:
		return "int"
	case text:
		return "str"
	case listOf:
		return "list[" + t.elem.pythonType() + "]"
	case mapOf:
		return "dict[str, " + t.elem.pythonType() + "]"
	case union:
		return unionPython(t.of)
	case literal:
		return "Literal[" + valuePython(t.value) + "]"
	case named:
		return t.decl.name
	case unknown:
	}
	return "Any"
}

// unionPython returns a union, in which values that follow each other are one Literal.
func unionPython(of []*typ) string {
	var parts, values []string
	for i, t := range of {
		if t.kind != literal {
			parts = append(parts, t.pythonType())
			continue
		}
		values = append(values, valuePython(t.value))
		if i+1 == len(of) || of[i+1].kind != literal {
			parts = append(parts, "Literal["+distinct(values, ", ")+"]")
			values = nil
		}
	}
	return distinct(parts, " | ")
}

// valuePython returns a text, a boolean or an integer.
func valuePython(value any) string {
	switch v := value.(type) {
	case string:
		return quoteWide(v)
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	}
	return fmt.Sprint(value)
}

// docPython returns a text as the docstring of a function, "" for none.
func docPython(text string) string {
	if text == "" {
		return ""
	}
	text = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("    "+line, " \t")
	}
	end := `"""`
	if len(lines) > 1 || strings.HasSuffix(text, `"`) {
		end = "\n    " + end
	}
	return `    """` + strings.TrimPrefix(strings.Join(lines, "\n"), "    ") + end + "\n"
}

// commentPython returns a line as a comment of documentation, "" for none. Checkers of types
// obey some comments, but none of these.
func commentPython(line string) string {
	if line == "" {
		return ""
	}
	return "    #: " + line + "\n"
}
