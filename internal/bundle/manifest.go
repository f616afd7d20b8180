package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// maxManifest is far above any that is published.
const maxManifest = 4 << 20

// manifest is manifest.json of a bundle, as MANIFEST.md of modelcontextprotocol/mcpb has it.
type manifest struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Server      struct {
		Type       string   `json:"type"`
		EntryPoint string   `json:"entry_point"`
		Config     *command `json:"mcp_config"`
	} `json:"server"`
	UserConfig    userConfig `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

// command is how a bundle is started.
type command struct {
	Command   string             `json:"command"`
	Args      []string           `json:"args"`
	Env       map[string]string  `json:"env"`
	Platforms map[string]command `json:"platform_overrides"`
}

// option is one value that the user sets.
type option struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default"`
	Multiple    bool            `json:"multiple"`
	Sensitive   bool            `json:"sensitive"`
}

type userConfig map[string]option

// machine is what a manifest's own variables stand for.
type machine struct {
	goos, home, dir string
}

func readManifest(raw []byte) (*manifest, error) {
	m := &manifest{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("its manifest.json: %w", err)
	}
	switch {
	case m.Name == "":
		return nil, errors.New("its manifest.json has no name")
	case !slices.Contains([]string{"node", "python", "binary", "uv"}, m.Server.Type):
		return nil, fmt.Errorf("its manifest.json has a server of the type %q, and not node, python, binary or uv", plain.Line(m.Server.Type))
	case m.Server.EntryPoint == "" && m.Server.Config == nil:
		return nil, errors.New("its manifest.json says nothing to run")
	case m.Server.EntryPoint != "" && !filepath.IsLocal(filepath.FromSlash(m.Server.EntryPoint)):
		return nil, fmt.Errorf("its entry_point %q is not in the bundle", plain.Line(m.Server.EntryPoint))
	}
	return m, nil
}

// platform is the name of an operating system in manifests.
func (k machine) platform() string {
	if k.goos == "windows" {
		return "win32"
	}
	return k.goos
}

// elsewhere says why a bundle is not for a machine, "" if it is.
func (m *manifest) elsewhere(k machine) string {
	if all := m.Compatibility.Platforms; len(all) > 0 && !slices.Contains(all, k.platform()) {
		return fmt.Sprintf("the bundle is for %s, not for %s", plain.Line(strings.Join(all, ", ")), k.platform())
	}
	return ""
}

// start returns how the bundle is started on a machine.
func (m *manifest) start(k machine) command {
	entry := "${__dirname}/" + m.Server.EntryPoint
	usual := map[string]command{
		"node": {Command: "node", Args: []string{entry}}, "python": {Command: "python3", Args: []string{entry}},
		"binary": {Command: entry}, "uv": {Command: "uv", Args: []string{"run", "--directory", "${__dirname}", m.Server.EntryPoint}},
	}
	if m.Server.Config == nil || m.Server.Config.Command == "" {
		return usual[m.Server.Type]
	}
	c := *m.Server.Config
	own, ok := c.Platforms[k.platform()]
	if !ok {
		return c
	}
	if own.Command != "" {
		c.Command = own.Command
	}
	if own.Args != nil {
		c.Args = own.Args
	}
	env := map[string]string{}
	maps.Copy(env, c.Env)
	maps.Copy(env, own.Env)
	c.Env = env
	return c
}

// bundle returns the command line with the inputs that scaffold fills in. given reports whether
// the user has set an argument.
func (m *manifest) bundle(k machine, given func(name string) bool) *scaffold.Bundle {
	c := m.start(k)
	out := &scaffold.Bundle{Dir: k.dir, Elsewhere: m.elsewhere(k)}
	out.Command = m.program(k, c.Command)
	for i := 0; i < len(c.Args); i++ {
		flag, text, joined := cutFlag(c.Args[i])
		if !joined && strings.HasPrefix(c.Args[i], "-") && i+1 < len(c.Args) && !m.several(c.Args[i+1]) && findKey().MatchString(c.Args[i+1]) {
			flag, text, joined = c.Args[i], c.Args[i+1], true
			i++
		}
		if joined { // without a value of the user's there is no flag
			out.Package.PackageArguments = append(out.Package.PackageArguments, registry.Argument{Input: m.input(k, text), Named: true, Name: flag})
			continue
		}
		out.Package.PackageArguments = append(out.Package.PackageArguments, m.arguments(k, c.Args[i], given)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		out.Package.EnvironmentVariables = append(out.Package.EnvironmentVariables, registry.KeyValueInput{Name: name, Input: m.input(k, c.Env[name])})
	}
	return out
}

// program returns the program: one of the machine, or one of the bundle by its path.
func (m *manifest) program(k machine, word string) string {
	word = k.text(word)
	local := filepath.FromSlash(word)
	if strings.ContainsAny(word, `/\`) && !filepath.IsAbs(local) || m.Server.Type == "binary" && word == m.Server.EntryPoint {
		word = filepath.Join(k.dir, local)
	}
	if m.Server.Type == "binary" && k.goos == "windows" && filepath.Ext(word) == "" {
		word += ".exe"
	}
	return word
}

var findKey = lazy.Regexp(`\$\{user_config\.([A-Za-z0-9_.-]+)\}`)

// cutFlag cuts a word such as --url=${user_config.url}; ok is false for others.
func cutFlag(word string) (flag, value string, ok bool) {
	flag, value, ok = strings.Cut(word, "=")
	if !ok || !strings.HasPrefix(word, "-") || !findKey().MatchString(value) || findKey().MatchString(flag) {
		return "", "", false
	}
	return flag + "=", value, true
}

// several reports whether a word is one of the user's that may have several values.
func (m *manifest) several(word string) bool { return m.UserConfig[wholeKey(word)].Multiple }

// wholeKey returns the key of a text that is only a value of the user's, "" for others.
func wholeKey(text string) string {
	if m := findKey().FindStringSubmatch(text); m != nil && m[0] == text {
		return m[1]
	}
	return ""
}

// arguments returns an argument, or one for each value where a manifest has several.
func (m *manifest) arguments(k machine, word string, given func(string) bool) []registry.Argument {
	key := wholeKey(word)
	of := m.UserConfig[key]
	if !of.Multiple {
		return []registry.Argument{{Input: m.input(k, word)}}
	}
	a := registry.Argument{Input: m.UserConfig.input(k, key), ValueHint: key, Repeated: true}
	var several []string
	if json.Unmarshal(of.Default, &several) != nil || given(key) || len(several) == 0 {
		return []registry.Argument{a}
	}
	out := make([]registry.Argument, len(several))
	for i, value := range several {
		text := k.text(value)
		out[i] = registry.Argument{Input: registry.Input{Value: &text}, ValueHint: key}
	}
	return out
}

// input returns a text with the values of the user's as variables of a template.
func (m *manifest) input(k machine, text string) registry.Input {
	value := findKey().ReplaceAllStringFunc(k.text(text), func(s string) string {
		key := findKey().FindStringSubmatch(s)[1]
		if _, known := m.UserConfig[key]; !known {
			return s
		}
		return "{" + key + "}"
	})
	in := registry.Input{Value: &value}
	for _, match := range findKey().FindAllStringSubmatch(text, -1) {
		if _, known := m.UserConfig[match[1]]; known {
			in.Variables = append(in.Variables, registry.KeyValueInput{Name: match[1], Input: m.UserConfig.input(k, match[1])})
			in.Required = in.Required || m.UserConfig[match[1]].Required
		}
	}
	return in
}

// input returns an option as an input of a record.
func (u userConfig) input(k machine, key string) registry.Input {
	of := u[key]
	in := registry.Input{Description: of.Description, Required: of.Required, Secret: of.Sensitive}
	if in.Description == "" {
		in.Description = of.Title
	}
	switch of.Type {
	case "number", "boolean":
		in.Format = of.Type
	case "directory", "file":
		in.Format = "filepath"
	}
	if text, ok := defaultText(of.Default); ok {
		text = k.text(text)
		in.Default = &text
	}
	return in
}

// defaultText returns a default as a text; ok is false for none, and for one with several
// values.
func defaultText(raw json.RawMessage) (text string, ok bool) {
	var list []string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", false
	case json.Unmarshal(raw, &text) == nil:
		return text, true
	case json.Unmarshal(raw, &list) == nil && len(list) == 1:
		return list[0], true
	case raw[0] == '[' || raw[0] == '{':
		return "", false
	}
	return string(raw), true
}

var findOwn = lazy.Regexp(`\$\{(__dirname|HOME|DESKTOP|DOCUMENTS|DOWNLOADS|pathSeparator|/)\}`)

// text returns a text with the variables that a manifest has for every machine.
func (k machine) text(text string) string {
	return findOwn().ReplaceAllStringFunc(text, func(s string) string {
		switch s {
		case "${__dirname}":
			return k.dir
		case "${HOME}":
			return k.home
		case "${DESKTOP}":
			return filepath.Join(k.home, "Desktop")
		case "${DOCUMENTS}":
			return filepath.Join(k.home, "Documents")
		case "${DOWNLOADS}":
			return filepath.Join(k.home, "Downloads")
		}
		return string(filepath.Separator)
	})
}
