package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Source is where the value of a setting comes from.
type Source struct {
	Name string `json:"name"`
	// Value is the value as it is written; that of a setting which may hold answers or
	// credentials is hidden.
	Value string `json:"value"`
	// Source is "flag", "environment", "config.yaml" or "default"; From the flag, the
	// variable, or the place in the file.
	Source string `json:"source"`
	From   string `json:"from,omitempty"`
}

// Sources returns where the value of each setting of config.yaml comes from. The error is
// that of a file which cannot be read.
func Sources(o Options) ([]Source, error) {
	src := source{o: o}
	path, err := src.configPath()
	if err != nil {
		return nil, err
	}
	if err := src.readFile(Settings{ConfigPath: path}.File()); err != nil {
		return nil, err
	}
	var out []Source
	table := Table()
	for i, k := range keys() {
		s := Source{Name: k.name, Value: table[i].Default, Source: "default"}
		value, from, forced := src.override(k)
		if k.name == "serve.roots" && !forced {
			from, value = src.text("roots")
			forced = value != ""
		}
		switch {
		case forced:
			s.Value, s.From, s.Source = value, from, "environment"
			if strings.HasPrefix(from, "--") {
				s.Source = "flag"
			}
			if b, err := Boolean(value); err == nil && k.not != "" {
				s.Value = strconv.FormatBool(!b)
			}
		case src.file.has(k.name):
			n := src.file.at[k.name]
			s.Value, s.Source, s.From = src.file.text(k.name), "config.yaml", fmt.Sprintf("%s:%d", src.file.path, n.Line)
		}
		s.Value = k.shown(s.Value)
		out = append(out, s)
	}
	for _, row := range sectionTable() {
		s := Source{Name: row.Name, Value: row.Default, Source: "default"}
		if n := src.file.node(row.Name); n != nil {
			s.Value, s.Source, s.From = key{name: row.Name}.shown(src.file.text(row.Name)), "config.yaml", fmt.Sprintf("%s:%d", src.file.path, n.Line)
		}
		out = append(out, s)
	}
	return out, nil
}

// shown returns a value for display.
func (k key) shown(value string) string {
	switch {
	case k.name == "registry":
		return shownRegistries(value)
	case k.name == "elicit" && strings.HasPrefix(value, "{"):
		return "{…}" // answers, which may be secret
	case k.name == viewsName && strings.HasPrefix(value, "{"):
		return "{…}" // fixed values of arguments may be, too
	}
	return strings.ReplaceAll(value, "\n", ", ")
}

// Check returns what is wrong with the text of a config.yaml, nil for nothing: a
// [*config.Problem] with its place.
func Check(path string, text []byte) error {
	f, err := parseFile(path, text)
	if err != nil {
		return err
	}
	if _, err := f.access(); err != nil {
		return err
	}
	if _, err := f.readViews(); err != nil {
		return err
	}
	if _, err := f.readAudit(); err != nil {
		return err
	}
	for _, k := range keys() {
		if !f.has(k.name) {
			continue
		}
		if _, err := k.parse(f.text(k.name)); err != nil {
			return f.problem(k.name, k.name+" is "+quote(k.shown(f.text(k.name)))+", "+err.Error())
		}
	}
	return nil
}

// Value returns a text as the value of a setting, in Go's type for it. The error completes
// a sentence that begins with the setting's name; it is nil, too, for a setting that is
// not known, whose value is nil.
func Value(name, text string) (any, error) {
	for _, k := range keys() {
		if k.name != name {
			continue
		}
		parsed, err := k.parse(text)
		if err != nil {
			return nil, err
		}
		switch k.def.(type) {
		case bool, int:
			return parsed, nil
		}
		if k.list {
			return strings.Split(text, "\n"), nil
		}
		return text, nil
	}
	return nil, nil
}
