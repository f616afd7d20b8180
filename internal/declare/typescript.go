package declare

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// clientTS is the part of a module that calls tools, and before it what a result is.
//
//go:embed client.ts
var clientTS string

// endTypesTS is the line in clientTS that follows what modules without calls have, too.
const endTypesTS = "declare const process"

// keywordsTS are words that no function of a module may be called by.
const keywordsTS = "abstract any arguments as async await boolean break case catch class const constructor continue debugger declare default delete do else enum eval export extends false finally for from function get if implements import in infer instanceof interface is keyof let module namespace never new null number object of package private protected public readonly require return set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield"

// reservedTS returns the names that are taken: keywords, and what the module uses.
func reservedTS() []string {
	return append(strings.Fields(keywordsTS), "Array", "Error", "Infinity", "JSON", "NaN", "Promise", "Record", "String", "TextEncoder", "ToolResult", "btoa", "call", "fetch", "globalThis", "headerText", "messageOf", "process", "structured")
}

// tsName returns the name of a function; $ is not used, which some templates expand.
func tsName(tool string) string {
	name := identifier(tool)
	if slices.Contains(reservedTS(), name) {
		name += "_"
	}
	return name
}

// typeScript returns the module; typesOnly leaves out what calls tools.
func (m *module) typeScript(typesOnly bool) []byte {
	var out strings.Builder
	for _, line := range m.head {
		out.WriteString("// " + line + "\n")
	}
	for _, t := range m.tools {
		params := t.params.tsType()
		result, call := "ToolResult", "call("
		if t.result != nil {
			result = t.result.tsType()
			call = "structured<" + result + ">("
		}
		out.WriteString("\n" + commentTS(t.doc, ""))
		if params = ": " + params; t.optional {
			params = "?" + params
		}
		if typesOnly {
			fmt.Fprintf(&out, "export declare function %s(args%s): Promise<%s>;\n", t.function, params, result)
		} else {
			fmt.Fprintf(&out, "export function %s(args%s): Promise<%s> {\n  return %s%s, args%s);\n}\n", t.function, params, result, call, quoteTS(t.name), t.repeatedTS())
		}
		for _, d := range t.decls {
			out.WriteString("\n")
			d.typeScript(&out)
		}
	}
	types, _, _ := strings.Cut(clientTS, endTypesTS)
	if typesOnly {
		out.WriteString("\n" + strings.TrimSpace(types) + "\n")
	} else {
		out.WriteString("\n" + clientTS)
	}
	return []byte(out.String())
}

// repeatedTS returns the arguments that are repeated in headers.
func (t *tool) repeatedTS() string {
	if len(t.repeated) == 0 {
		return ""
	}
	all := make([]string, len(t.repeated))
	for i, m := range t.repeated {
		all[i] = "[" + quoteTS(m.Header)
		for _, name := range m.Path() {
			all[i] += ", " + quoteTS(name)
		}
		all[i] += "]"
	}
	return ", [" + strings.Join(all, ", ") + "]"
}

func (d *decl) typeScript(out *strings.Builder) {
	if d.same != nil {
		fmt.Fprintf(out, "export type %s = %s;\n", d.name, d.same.tsType())
		return
	}
	fmt.Fprintf(out, "export interface %s {\n", d.name)
	for _, f := range d.fields {
		out.WriteString(commentTS(f.doc, "  "))
		name := f.name
		if !isIdentifier(name) {
			name = quoteTS(name)
		}
		if !f.required {
			name += "?"
		}
		fmt.Fprintf(out, "  %s: %s;\n", name, f.typ.tsType())
	}
	if d.open {
		out.WriteString("  [member: string]: unknown;\n")
	}
	out.WriteString("}\n")
}

func (t *typ) tsType() string {
	switch t.kind {
	case null:
		return "null"
	case boolean:
		return "boolean"
	case number, integer:
		return "number"
	case text:
		return "string"
	case listOf:
		elem := t.elem.tsType()
		if t.elem.kind == union && strings.Contains(elem, " | ") {
			elem = "(" + elem + ")"
		}
		return elem + "[]"
	case mapOf:
		return "{ [name: string]: " + t.elem.tsType() + " }"
	case union:
		parts := make([]string, len(t.of))
		for i, of := range t.of {
			parts[i] = of.tsType()
		}
		return distinct(parts, " | ")
	case literal:
		switch v := t.value.(type) {
		case string:
			return quoteTS(v)
		case json.Number:
			return string(v)
		}
		return fmt.Sprint(t.value)
	case named:
		return t.decl.name
	case unknown:
	}
	return "unknown"
}

// commentTS returns a text as a comment, "" for none.
func commentTS(text, indent string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(text, "*/", `*\/`)
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return indent + "/** " + escapeTag(text) + " */\n"
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(indent+" * "+escapeTag(line), " \t") + "\n"
	}
	return indent + "/**\n" + strings.Join(lines, "") + indent + " */\n"
}

// escapeTag keeps a line from beginning with a tag, which tools obey.
func escapeTag(line string) string {
	if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, "@") {
		return `\` + trimmed
	}
	return line
}
