package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const rootKey = "mcpServers"

// place is what a path of config get, set and unset means.
type place struct {
	// setting is the name of a setting of config.yaml, "" for a value of servers.json.
	setting string
	// path is that of a value of servers.json, from the file's root on; alias its server.
	path  configedit.Path
	alias string
}

// parsePlace reads a path: the name of a setting of config.yaml; else an alias and what is
// below it, with or without mcpServers in front. The error is one of usage.
func parsePlace(text string) (place, error) {
	p, err := configedit.ParsePath(text)
	if err != nil {
		return place{}, ui.Usage("%w", err).WithHint("as in gh.env.TOKEN, gh.args[0] or serve.listGrace; a name with a dot is written [\"my.server\"]")
	}
	if p[0].Name == rootKey {
		out := place{path: p}
		if len(p) > 1 {
			out.alias = p[1].Name
		}
		return out, nil
	}
	known := settings.Keys()
	group := slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, p[0].Name+".") })
	switch name := p.String(); {
	case slices.Contains(known, name):
		return place{setting: name}, nil
	case group && len(p) > 1:
		hint := plain.NearestHint(name, known, fmt.Sprintf("for a server named %s, write mcpServers.%s", p[0].Name, name))
		return place{}, ui.Usage("unknown setting %s", name).WithHint("%s", hint)
	}
	return place{path: append(configedit.Names(rootKey), p...), alias: p[0].Name}, nil
}

// ValueOptions are the flags of config get, set and unset.
type ValueOptions struct {
	Project, Reveal bool
}

// Get prints one value: of the servers of all layers, or a setting as it counts now.
func (p *ConfigCommand) Get(path string, o ValueOptions) error {
	at, err := parsePlace(path)
	if keys := strayKey(path); err != nil && len(keys) > 1 && keys[0] == "serve" && slices.Contains([]string{"views", "hooks"}, keys[1]) {
		return p.getSection(keys, o)
	}
	if err != nil {
		return err
	}
	if at.setting != "" {
		if o.Project {
			return ui.Usage("--project: %s is a setting of config.yaml, which a project does not have", at.setting)
		}
		return p.getSetting(at.setting)
	}
	raw, err := p.servers(at, o)
	if err != nil {
		return err
	}
	value := configedit.Get(raw, at.path)
	if value == nil {
		if _, bad := configedit.SchemaAt(at.path); bad != nil {
			return bad
		}
		return notSet(at.path)
	}
	return p.printValue(at.path, value)
}

// getSection prints what config.yaml has below serve.views or serve.hooks, which hold no secrets.
func (p *ConfigCommand) getSection(keys []string, o ValueOptions) error {
	name := strings.Join(keys, ".")
	if o.Project {
		return ui.Usage("--project: %s is a setting of config.yaml, which a project does not have", name)
	}
	text, err := os.ReadFile(p.Settings.File())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.FileProblem(p.Settings.File(), err)
	}
	value, err := configedit.GetYAML(text, keys...)
	switch {
	case err != nil:
		return &config.Problem{File: p.Settings.File(), Message: err.Error(), Remedy: "edit the file by hand"}
	case value == nil:
		return notSet(configedit.Names("", name))
	}
	return p.printValue(configedit.Names("", name), value)
}

// notSet is the error for a value that is not there.
func notSet(path configedit.Path) error {
	return &ui.Error{Kind: "other", Err: fmt.Errorf("%s is not set", userPath(path))}
}

// userPath returns a path as users write it.
func userPath(path configedit.Path) string {
	if len(path) > 1 {
		path = path[1:]
	}
	return path.String()
}

// servers returns a JSON object with the mcpServers that a path leads into, masked unless
// they are to be revealed.
func (p *ConfigCommand) servers(at place, o ValueOptions) ([]byte, error) {
	f, err := p.file(o.Project)
	if err != nil {
		return nil, err
	}
	entries := map[string]json.RawMessage{}
	for _, e := range f.Entries() {
		entries[e.Name] = e.Raw
		if !o.Reveal {
			entries[e.Name] = config.MaskEntry(e.Raw)
		}
	}
	if at.alias != "" && (entries[at.alias] == nil || f.Withheld(at.alias) != nil) {
		return nil, unknown(f, at)
	}
	return json.Marshal(map[string]any{rootKey: entries})
}

// file returns the servers of all layers, or those of the project.
func (p *ConfigCommand) file(project bool) (*config.File, error) {
	if project {
		target, err := NewTarget(p.UI, p.Getenv, p.Settings, true)
		if err != nil {
			return nil, err
		}
		return target.Load()
	}
	set, err := p.Layers()
	if err != nil {
		return nil, err
	}
	return set.File(), nil
}

// unknown returns the error for the alias of a path.
func unknown(f *config.File, at place) error {
	_, err := f.Use(at.alias)
	for _, e := range f.Entries() {
		rest, ok := strings.CutPrefix(userPath(at.path), e.Name+".")
		if strings.Contains(e.Name, ".") && ok {
			path := append(configedit.Names(e.Name), configedit.Names(strings.Split(rest, ".")...)...)
			return ui.Usage("%w", err).WithHint("did you mean '%s'? A name with a dot is quoted", path)
		}
	}
	return err
}

func (p *ConfigCommand) getSetting(name string) error {
	all, err := settings.Sources(p.Sources)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s settings.Source) bool { return s.Name == name })
	raw, err := json.Marshal(all[i].Value)
	if err != nil {
		return err
	}
	return p.printValue(configedit.Names("", name), raw)
}

// printValue prints a value: a text bare, also into pipes, anything else as JSON.
func (p *ConfigCommand) printValue(path configedit.Path, value json.RawMessage) error {
	if p.UI.JSON {
		return p.UI.EncodeJSON(struct {
			Path  string          `json:"path"`
			Value json.RawMessage `json:"value"`
		}{pathText(path), value})
	}
	text := ""
	if json.Unmarshal(value, &text) != nil {
		text = config.Format(value)
	}
	if p.UI.OutTTY {
		text = ui.Clean(text)
	}
	_, err := fmt.Fprintln(p.UI.Out, text)
	return err
}

// pathText is shown for the path of a value of servers.json, and the name of a setting.
func pathText(path configedit.Path) string {
	if path[0].Name == "" {
		return path[1].Name
	}
	return userPath(path)
}

// Set writes one value: PATH VALUE, or PATH:=JSON.
func (p *ConfigCommand) Set(words []string, o ValueOptions) error {
	path, raw, isJSON := strings.Cut(words[0], ":=")
	switch {
	case isJSON && len(words) > 1:
		return ui.Usage("config set PATH:=JSON takes no VALUE")
	case isJSON && !json.Valid([]byte(raw)):
		return ui.Usage("%s: the text behind := is no JSON", path).WithHint("a text is written without the colon: mcpctl config set %s VALUE", path)
	case !isJSON && len(words) < 2:
		return ui.Usage("config set needs PATH and VALUE").WithHint("mcpctl config set %s VALUE", path)
	}
	at, err := parsePlace(path)
	if err != nil {
		return err
	}
	if at.setting != "" {
		if isJSON {
			raw, err = settingText(at.setting, raw)
		} else {
			raw = words[1]
		}
		if err != nil {
			return err
		}
		return p.setSetting(at.setting, raw, o)
	}
	schema, err := configedit.SchemaAt(at.path)
	if err != nil {
		return err
	}
	if at.alias == "" {
		return ui.Usage("%s: name a server, as in mcpServers.gh.url", path).WithHint("mcpctl config edit opens the whole file")
	}
	value := json.RawMessage(raw)
	if !isJSON {
		if value, err = schema.Value(words[1]); err != nil {
			return ui.Usage("%s %w", path, err).WithHint("%s", elementHint(schema, path))
		}
	}
	return p.change(at, o, "set", func(f *config.File) error { return configedit.Set(f, at.path, value) })
}

// elementHint says how one element of an array is set.
func elementHint(schema *configedit.Schema, path string) string {
	if schema == nil || schema.Type != "array" {
		return "mcpctl config set PATH:=JSON"
	}
	return fmt.Sprintf("mcpctl config set '%s[]' VALUE adds one", path)
}

// change edits a servers.json, and says so.
func (p *ConfigCommand) change(at place, o ValueOptions, verb string, edit func(*config.File) error) error {
	target, err := NewTarget(p.UI, p.Getenv, p.Settings, o.Project)
	if err != nil {
		return err
	}
	err = target.Update(func(f *config.File) error {
		if _, ok := f.Entry(at.alias); !ok && len(at.path) > 2 {
			return unknown(f, at)
		}
		return edit(f)
	})
	if err != nil {
		return err
	}
	target.NoteCovered(at.alias)
	return p.said(verb, userPath(at.path), target.Path)
}

// said reports a change on standard output.
func (p *ConfigCommand) said(verb, path, file string) error {
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]string{"path": path, "action": verb, "file": file})
	}
	_, err := fmt.Fprintf(p.UI.Out, "%s %s in %s\n", verb, ui.CleanLine(path), ui.CleanLine(file))
	return err
}

// settingText returns the text of a setting that is given as JSON.
func settingText(name, raw string) (string, error) {
	var value any
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return "", err
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case []any:
		var lines []string
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				return "", ui.Usage("%s is a list of texts", name)
			}
			lines = append(lines, text)
		}
		return strings.Join(lines, "\n"), nil
	case nil, map[string]any:
		return "", ui.Usage("%s has a plain value", name).WithHint("mcpctl config unset %s removes it", name)
	}
	return fmt.Sprint(value), nil
}

// setSetting writes a setting to config.yaml.
func (p *ConfigCommand) setSetting(name, text string, o ValueOptions) error {
	value, err := settings.Value(name, text)
	if err != nil {
		return ui.Usage("%s is %q, %w", name, text, err)
	}
	return p.changeSettings(name, "set", o, func(before []byte) ([]byte, error) {
		return configedit.SetYAML(before, value, strings.Split(name, ".")...)
	})
}

// changeSettings edits config.yaml, and refuses what would make a valid file invalid. What
// is wrong with it besides is a warning: faults are fixed one after another.
func (p *ConfigCommand) changeSettings(name, verb string, o ValueOptions, edit func([]byte) ([]byte, error)) error {
	if o.Project {
		return ui.Usage("--project: %s is a setting of config.yaml, which a project does not have", name)
	}
	if err := p.editSettings(edit); err != nil {
		return err
	}
	return p.said(verb, name, p.Settings.File())
}

// editSettings edits config.yaml.
func (p *ConfigCommand) editSettings(edit func([]byte) ([]byte, error)) error {
	file := p.Settings.File()
	var left error
	err := configedit.UpdateText(file, func(before []byte) ([]byte, error) {
		after, err := edit(before)
		if err != nil {
			if own := (*ui.Error)(nil); errors.As(err, &own) {
				return nil, err
			}
			return nil, &config.Problem{File: file, Message: err.Error(), Remedy: "edit the file by hand"}
		}
		if left = settings.Check(file, after); left != nil && settings.Check(file, before) == nil {
			return nil, left
		}
		return after, nil
	})
	if err != nil {
		return err
	}
	if left != nil {
		p.UI.Info("warning: %s", left)
	}
	return nil
}

// Unset removes one value.
func (p *ConfigCommand) Unset(path string, o ValueOptions) error {
	at, err := parsePlace(path)
	if at.setting == "" && len(at.path) < 3 { // no part of a server, and nothing known after an error
		if keys := strayKey(path); p.inSettings(keys) {
			return p.unsetSetting(keys, o)
		}
	}
	if err != nil {
		return err
	}
	if at.setting != "" {
		return p.unsetSetting(strings.Split(at.setting, "."), o)
	}
	if len(at.path) < 3 {
		return ui.Usage("%s: config unset removes a part of a server", path).WithHint("mcpctl remove %s", userPath(at.path))
	}
	return p.change(at, o, "unset", func(f *config.File) error {
		found, err := configedit.Unset(f, at.path)
		if err == nil && !found {
			if _, err := configedit.SchemaAt(at.path); err != nil {
				return err
			}
			return notSet(at.path)
		}
		return err
	})
}

// strayKey returns a path as the keys of config.yaml, whether or not they are a setting; nil
// for a path that cannot be one there.
func strayKey(path string) (keys []string) {
	steps, err := configedit.ParsePath(path)
	if err != nil || steps[0].Name == rootKey {
		return nil
	}
	for _, s := range steps {
		if s.Name == "" {
			return nil
		}
		keys = append(keys, s.Name)
	}
	return keys
}

// inSettings reports whether config.yaml has a key.
func (p *ConfigCommand) inSettings(keys []string) bool {
	text, err := os.ReadFile(p.Settings.File())
	if err != nil || keys == nil {
		return false
	}
	_, found, err := configedit.UnsetYAML(text, keys...)
	return err == nil && found
}

// unsetSetting removes a key of config.yaml.
func (p *ConfigCommand) unsetSetting(keys []string, o ValueOptions) error {
	name := strings.Join(keys, ".")
	return p.changeSettings(name, "unset", o, func(before []byte) ([]byte, error) {
		after, found, err := configedit.UnsetYAML(before, keys...)
		if err == nil && !found {
			err = &ui.Error{Kind: "other", Err: fmt.Errorf("%s is not set in config.yaml", name)}
		}
		return after, err
	})
}
