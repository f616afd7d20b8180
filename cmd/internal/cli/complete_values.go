package cli

import (
	"encoding/json"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Word is one completion.
type Word struct {
	Text  string
	About string
	// Open words are not finished: no space follows.
	Open bool
}

// Offered returns those words that continue begun and can stand on a command line as they
// are. The others are left out: a shell may insert them without quotes, and a name of a
// server's must not become a command or a flag.
func Offered(words []Word, begun string) []Word {
	var out []Word
	for _, w := range words {
		if !strings.HasPrefix(w.Text, begun) || strings.HasPrefix(w.Text, "-") || w.Text == "" || clitool.Line([]string{w.Text}) != w.Text {
			continue
		}
		w.About = about(w.About)
		out = append(out, w)
	}
	return out
}

// about returns the beginning of a text, in one line that a terminal can show.
func about(text string) string {
	const most = 100 // characters
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	short := []rune(strings.TrimSpace(plain.Line(strings.ToValidUTF8(line[:min(len(line), 8*most)], ""))))
	return string(short[:min(len(short), most)])
}

// entry is what all lists have in their entries, and templates.
type entry struct {
	Name        string `json:"name"`
	URI         string `json:"uri"`
	URITemplate string `json:"uriTemplate"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// decode reads one entry. Of a long list every entry is read at a key press, which
// encoding/json takes three times as long for.
func decode(raw json.RawMessage) (entry, bool) {
	var e entry
	err := jsonv2.Unmarshal(raw, &e)
	return e, err == nil
}

func each(items []json.RawMessage, word func(e entry) Word) (out []Word) {
	for _, raw := range items {
		if e, ok := decode(raw); ok {
			w := word(e)
			if w.About = e.Description; w.About == "" {
				w.About = e.Title
			}
			out = append(out, w)
		}
	}
	return out
}

// Names returns the names of tools or prompts.
func Names(items []json.RawMessage) []Word {
	return each(items, func(e entry) Word { return Word{Text: e.Name} })
}

// URIs returns the URIs of resources, and of templates what is before the first variable.
func URIs(resources, templates []json.RawMessage) []Word {
	return append(each(resources, func(e entry) Word { return Word{Text: e.URI} }), each(templates, func(e entry) Word {
		before, _, open := strings.Cut(e.URITemplate, "{")
		return Word{Text: before, Open: open}
	})...)
}

// Variable returns the template whose last part is one variable that the text has begun,
// the variable, and what is before it.
func Variable(templates []json.RawMessage, text string) (template, name, before string, ok bool) {
	for _, raw := range templates {
		e, ok := decode(raw)
		if !ok {
			continue
		}
		before, rest, _ := strings.Cut(e.URITemplate, "{")
		name, last := strings.CutSuffix(rest, "}")
		if last && name != "" && !strings.ContainsAny(name, "{}+#./;?&*:,") && before != "" && strings.HasPrefix(text, before) {
			return e.URITemplate, name, before, true
		}
	}
	return "", "", "", false
}

// Entry returns the entry of a list with a name.
func Entry(items []json.RawMessage, name string) (json.RawMessage, bool) {
	for _, raw := range items {
		if e, ok := decode(raw); ok && e.Name == name {
			return raw, true
		}
	}
	return nil, false
}

// Arguments returns the arguments of a tool that are not given yet, required ones first,
// or for a word with = the values of one.
func Arguments(tool json.RawMessage, given []string, begun string) []Word {
	var t runtime.Tool
	if json.Unmarshal(tool, &t) != nil {
		return nil
	}
	s, err := schema.Parse(t.InputSchema)
	if err != nil {
		return nil
	}
	key, _, isValue := strings.Cut(begun, "=")
	inside := s.Root()
	path := ""
	for {
		name, rest, deeper := strings.Cut(key[len(path):], ".")
		next, known := inside.Property(name)
		if !deeper || !known {
			break
		}
		inside, path = next, key[:len(key)-len(rest)]
	}
	if isValue {
		return values(inside, key, strings.TrimPrefix(key, path))
	}
	return properties(inside, path, given)
}

func values(n schema.Node, key, name string) (out []Word) {
	p, ok := n.Property(name)
	if !ok {
		return nil
	}
	listed := p.Enum()
	if p.Kinds()&schema.Array != 0 && p.Kinds() != schema.Any && listed == nil {
		listed = p.Item(0).Enum()
	}
	if listed == nil && p.Kinds()&^schema.Null == schema.Boolean {
		listed = []any{true, false}
	}
	for _, v := range listed {
		text, ok := v.(string)
		if !ok {
			text = schema.Text(v)
		}
		out = append(out, Word{Text: key + "=" + text})
	}
	return out
}

func properties(n schema.Node, path string, given []string) []Word {
	var required, optional []Word
	for _, p := range n.Properties() {
		kinds := p.Node.Kinds()
		text := path + p.Name
		taken := func(w string) bool {
			return strings.HasPrefix(w, text+"=") || strings.HasPrefix(w, text+":=")
		}
		if slices.ContainsFunc(given, taken) && kinds&schema.Array == 0 {
			continue
		}
		w := Word{Text: text + "=", About: p.Node.Type() + " " + p.Node.Description(), Open: true}
		switch {
		case kinds&^schema.Null == schema.Object && len(p.Node.Properties()) > 0:
			w.Text = text + "."
		case kinds&^schema.Null == schema.Object, kinds&^schema.Null == schema.Array && p.Node.Item(0).Kinds()&schema.Object != 0:
			w.Text = text + ":="
		}
		if p.Required {
			w.About = "required " + w.About
			required = append(required, w)
		} else {
			optional = append(optional, w)
		}
	}
	return append(required, optional...)
}

// PromptArguments returns the arguments of a prompt that are not given yet.
func PromptArguments(prompt json.RawMessage, given []string) []Word {
	var p runtime.Prompt
	if json.Unmarshal(prompt, &p) != nil {
		return nil
	}
	var required, optional []Word
	for _, arg := range p.Arguments {
		text := arg.Name + "="
		switch w := (Word{Text: text, About: arg.Description, Open: true}); {
		case slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, text) }):
		case arg.Required:
			w.About = "required " + w.About
			required = append(required, w)
		default:
			optional = append(optional, w)
		}
	}
	return append(required, optional...)
}
