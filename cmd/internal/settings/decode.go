package settings

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// decode reads a mapping into the struct that to points to, whose members have yaml
// tags: texts, booleans, numbers, lists and maps of texts, pointers to such structs, and nodes.
// Null is an empty mapping. A member that the struct does not have, one that is there
// twice, and a value of another type is a [*config.Problem] where it is.
func (f *file) decode(name string, n *yaml.Node, to any, example string) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return f.problemAt(n, name+" has no plain value", example)
	}
	members := map[string]reflect.Value{}
	names := membersOf(reflect.ValueOf(to).Elem(), members)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		member, ok := members[k.Value]
		switch {
		case !ok:
			return f.problemAt(k, fmt.Sprintf("unknown setting %q of %s", k.Value, name), memberRemedy(k.Value, names))
		case seen[k.Value]:
			return f.problemAt(k, name+" has "+k.Value+" twice", "remove one of the two")
		}
		seen[k.Value] = true
		if err := f.member(name+"."+k.Value, v, member, example); err != nil {
			return err
		}
	}
	return nil
}

// membersOf adds the members of a struct by their tags, also those of structs in it
// without a tag, and returns the tags in their order.
func membersOf(into reflect.Value, members map[string]reflect.Value) (names []string) {
	for i := range into.NumField() {
		tag, field := into.Type().Field(i).Tag.Get("yaml"), into.Field(i)
		switch tag {
		case "":
			names = append(names, membersOf(field, members)...)
			continue
		case "-": // it follows from the others
			continue
		}
		members[tag], names = field, append(names, tag)
	}
	return names
}

// member reads one member's value.
func (f *file) member(name string, v *yaml.Node, to reflect.Value, example string) error {
	if to.Type() == reflect.TypeFor[*yaml.Node]() { // any value, null as well
		to.Set(reflect.ValueOf(v))
		return nil
	}
	if to.Kind() == reflect.Pointer && to.Type().Elem().Kind() == reflect.Struct {
		to.Set(reflect.New(to.Type().Elem()))
		return f.decode(name, v, to.Interface(), example)
	}
	if v.Kind == yaml.ScalarNode && (v.Tag == "!!null" || v.Value == "") {
		return f.problemAt(v, name+" has no value", example)
	}
	if err := v.Decode(to.Addr().Interface()); err != nil {
		return f.problemAt(v, name+" is not "+kindName(to.Type()), example)
	}
	return nil
}

func kindName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of texts"
	case reflect.Map:
		return "a mapping"
	case reflect.String:
		return "a text"
	default:
		return "a number"
	}
}

func memberRemedy(name string, names []string) string {
	if len(names) == 0 {
		return "it has no settings"
	}
	return plain.NearestHint(name, names, "settings are "+strings.Join(names, ", "))
}

// absolute returns a path that is relative to config.yaml.
func (f *file) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}
