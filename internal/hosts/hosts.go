// Package hosts knows the programs that keep a list of MCP servers of their own: where
// their files are, and how each writes an entry. It reads and edits texts, and no files.
package hosts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Confidence is how sure it is what a host reads.
type Confidence int

// Levels of confidence.
const (
	// Documented is by the host's own documentation or source.
	Documented Confidence = iota
	// Agreed is by two independent programs that read the same.
	Agreed
	// Unsure is by a single source. Nothing is written to such files.
	Unsure
)

// Scopes of a [Location].
const (
	ScopeUser    = "user"
	ScopeProject = "project"
	ScopeLocal   = "local" // of one user in one project
)

// Host is a program with a list of servers.
type Host struct {
	// Name is the word for the command line, Title the host's own name.
	Name, Title string
	Confidence  Confidence
	// Files returns where the host looks, the user's file first.
	files func(p Place) []Location
	// dialect is made when it is needed: the names alone are in the help of each command.
	dialect func() dialect
	// gateway reads the file of a gateway; nil is for hosts.
	gateway *gateway
}

// Location is a file of a host.
type Location struct {
	Host  *Host
	Scope string
	Path  string
	// Root leads to the list in the file.
	Root []string
}

// Place is the machine and the directory that files are looked for in.
type Place struct {
	GOOS string
	// Home is the user's home directory, Dir the project's.
	Home, Dir string
	Getenv    func(string) string
}

// Locations returns the files of a host, whether or not they exist: the user's first. Of
// several that the host would read, an existing one goes before its alternatives.
func (h *Host) Locations(p Place) []Location {
	var all []Location
	for _, l := range h.files(p) {
		l.Host = h
		if l.Root == nil {
			l.Root = h.dialect().root
		}
		// In the home directory, the project's file is the user's.
		if !slices.ContainsFunc(all, func(o Location) bool { return o.Key() == l.Key() }) {
			all = append(all, l)
		}
	}
	return all
}

// All returns the hosts by name.
func All() []*Host {
	return []*Host{
		{Name: "antigravity", Title: "Antigravity", Confidence: Agreed, files: inHome(".gemini/antigravity/mcp_config.json"), dialect: serverURL},
		{Name: "amp", Title: "Amp", Confidence: Unsure, files: roots([]string{"amp.mcpServers"}, configDir("amp/settings.json")), dialect: amp},
		{Name: "avelino", Title: "avelino/mcp", files: inHome(".config/mcp/servers.json"), dialect: ours},
		{Name: "claude-code", Title: "Claude Code", files: claudeCode, dialect: claudeCodeDialect},
		{Name: "claude-desktop", Title: "Claude Desktop", Confidence: Agreed, files: appSupport("Claude/claude_desktop_config.json"), dialect: claudeDesktop},
		{Name: "cline", Title: "Cline", Confidence: Agreed, files: codeStorage("saoudrizwan.claude-dev/settings/cline_mcp_settings.json"), dialect: cline},
		{Name: "codex", Title: "Codex", files: codex, dialect: codexDialect},
		{Name: "continue", Title: "Continue", Confidence: Agreed, files: inHome(".continue/config.yaml"), dialect: continueDialect},
		{Name: "copilot", Title: "GitHub Copilot CLI", files: userAndProject(".copilot/mcp-config.json", ".github/mcp.json"), dialect: copilot},
		{Name: "cursor", Title: "Cursor", files: userAndProject(".cursor/mcp.json", ".cursor/mcp.json"), dialect: cursor},
		{Name: "gemini", Title: "Gemini CLI", files: userAndProject(".gemini/settings.json", ".gemini/settings.json"), dialect: gemini},
		{Name: "goose", Title: "Goose", Confidence: Agreed, files: goose, dialect: gooseDialect},
		{Name: "kiro", Title: "Kiro", Confidence: Agreed, files: userAndProject(".kiro/settings/mcp.json", ".kiro/settings/mcp.json"), dialect: kiro},
		{Name: "lmstudio", Title: "LM Studio", Confidence: Unsure, files: inHome(".lmstudio/mcp.json"), dialect: plainDialect},
		{Name: "mcporter", Title: "mcporter", files: mcporterFiles, dialect: mcporter},
		{Name: "mcproxy", Title: "MCProxy", files: nowhere, dialect: mcproxy},
		{Name: "opencode", Title: "OpenCode", files: openCode, dialect: openCodeDialect},
		{Name: "philschmid", Title: "mcp-cli by philschmid", files: userAndProject(".config/mcp/mcp_servers.json", "mcp_servers.json"), dialect: ours},
		{Name: "mcp-proxy", Title: "mcp-proxy by TBXark", files: nowhere, dialect: mcpProxy},
		{Name: "roo", Title: "Roo Code", Confidence: Unsure, files: roo, dialect: rooDialect},
		{Name: "vscode", Title: "VS Code", files: code("Code"), dialect: vscode},
		{Name: "vscode-insiders", Title: "VS Code Insiders", files: code("Code - Insiders"), dialect: vscode},
		{Name: "windsurf", Title: "Windsurf", Confidence: Agreed, files: inHome(".codeium/windsurf/mcp_config.json"), dialect: windsurf},
		{Name: "zed", Title: "Zed", files: zed, dialect: zedDialect},
	}
}

// Find returns the host or gateway of a name, nil for none.
func Find(name string) *Host {
	all := slices.Concat(All(), Gateways())
	if i := slices.IndexFunc(all, func(h *Host) bool { return h.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Names returns the names of all hosts.
func Names() []string {
	var names []string
	for _, h := range All() {
		names = append(names, h.Name)
	}
	return names
}

// Open reads any file: as that of the host whose file it is, otherwise by its content. The
// error is a [*FileError]; it is [ErrForm] for a file of no known form.
func Open(path string, p Place) (*File, error) { return OpenAs(path, nil, p) }

// OpenAs is [Open] for a file of one host, nil for that whose form it has.
func OpenAs(path string, of *Host, p Place) (*File, error) {
	text, err := readText(path)
	if err != nil {
		return nil, &FileError{path, err}
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return nil, &FileError{path, err}
	}
	f, err := OpenText(at, text, of, p)
	if wrong, ok := errors.AsType[*FileError](err); ok {
		wrong.Path = path // as it was given
	}
	return f, err
}

// OpenText is [OpenAs] for the text of a file, at the absolute path at or in another place.
func OpenText(at string, text []byte, of *Host, p Place) (*File, error) {
	as := func(h *Host) (*File, error) {
		f, err := (&Location{Host: h, Scope: ScopeUser, Path: at, Root: h.dialect().root}).Read(text)
		if err != nil {
			return nil, &FileError{at, err}
		}
		return f, nil
	}
	if of != nil {
		return as(of)
	}
	for _, h := range slices.Concat(All(), Gateways()) {
		for _, l := range h.Locations(p) {
			if l.Path == at { // the first list in it
				f, err := l.Read(text)
				if err != nil {
					return nil, &FileError{at, err}
				}
				return f, nil
			}
		}
	}
	if h := gatewayOf(at, text); h != nil {
		return as(h)
	}
	for _, name := range []string{"codex", "goose", "continue", "opencode", "vscode", "zed", "avelino"} {
		h := Find(name)
		d := h.dialect()
		if !d.reads(at, text) {
			continue
		}
		f, err := (&Location{Host: h, Scope: ScopeUser, Path: at, Root: d.root}).Read(text)
		if err != nil || len(f.Names()) == 0 {
			continue
		}
		if name == "avelino" { // many programs have this form
			f.Location.Host = f.guess(string(text), at, ownFile(p))
		}
		return f, nil
	}
	return nil, &FileError{at, ErrForm}
}

// ownFile returns where servers.json of mcpctl is, "" for nowhere.
func ownFile(p Place) string {
	path, err := config.Path(p.Getenv)
	if err != nil {
		return ""
	}
	path, _ = filepath.Abs(path)
	return path
}

// nowhere is for hosts without a file in a known place.
func nowhere(Place) []Location { return nil }

// inHome returns a file of the user alone.
func inHome(path string) func(Place) []Location {
	return func(p Place) []Location {
		return []Location{{Scope: ScopeUser, Path: filepath.Join(p.Home, filepath.FromSlash(path))}}
	}
}

// userAndProject returns a file in the home directory and one in the project's.
func userAndProject(user, project string) func(Place) []Location {
	return func(p Place) []Location {
		return append(inHome(user)(p), Location{Scope: ScopeProject, Path: filepath.Join(p.Dir, filepath.FromSlash(project))})
	}
}

// roots sets where the list is in files of another form.
func roots(root []string, files func(Place) []Location) func(Place) []Location {
	return func(p Place) []Location {
		all := files(p)
		for i := range all {
			all[i].Root = root
		}
		return all
	}
}

// support is the directory of the applications' own files.
func support(p Place) string {
	switch p.GOOS {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		if dir := p.Getenv("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(p.Home, "AppData", "Roaming")
	}
	return xdg(p)
}

// xdg is the directory of configuration on Linux, and of programs that use it elsewhere.
func xdg(p Place) string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

func appSupport(path string) func(Place) []Location {
	return func(p Place) []Location {
		return []Location{{Scope: ScopeUser, Path: filepath.Join(support(p), filepath.FromSlash(path))}}
	}
}

// configDir is ~/.config but for Windows.
func configDir(path string) func(Place) []Location {
	return func(p Place) []Location {
		dir := xdg(p)
		if p.GOOS == "windows" {
			dir = support(p)
		}
		return []Location{{Scope: ScopeUser, Path: filepath.Join(dir, filepath.FromSlash(path))}}
	}
}

// code returns the files of an edition of VS Code: of the user, of each profile, and of
// the project.
func code(edition string) func(Place) []Location {
	return func(p Place) []Location {
		user := filepath.Join(support(p), edition, "User")
		all := []Location{{Scope: ScopeUser, Path: filepath.Join(user, "mcp.json")}}
		profiles, _ := filepath.Glob(filepath.Join(user, "profiles", "*", "mcp.json"))
		for _, path := range profiles {
			all = append(all, Location{Scope: ScopeUser, Path: path})
		}
		if edition == "Code" { // both editions read it
			all = append(all, Location{Scope: ScopeProject, Path: filepath.Join(p.Dir, ".vscode", "mcp.json")})
		}
		return all
	}
}

// codeStorage returns a file of an extension of VS Code.
func codeStorage(path string) func(Place) []Location {
	return appSupport("Code/User/globalStorage/" + path)
}

func claudeCode(p Place) []Location {
	user := filepath.Join(p.Home, ".claude.json")
	return []Location{
		{Scope: ScopeUser, Path: user},
		{Scope: ScopeLocal, Path: user, Root: []string{"projects", p.Dir, "mcpServers"}},
		{Scope: ScopeProject, Path: filepath.Join(p.Dir, ".mcp.json")},
	}
}

func codex(p Place) []Location {
	dir := p.Getenv("CODEX_HOME")
	if dir == "" {
		dir = filepath.Join(p.Home, ".codex")
	}
	return []Location{
		{Scope: ScopeUser, Path: filepath.Join(dir, "config.toml")},
		{Scope: ScopeProject, Path: filepath.Join(p.Dir, ".codex", "config.toml")},
	}
}

func goose(p Place) []Location {
	if p.GOOS == "windows" {
		return appSupport("Block/goose/config/config.yaml")(p)
	}
	return configDir("goose/config.yaml")(p)
}

func mcporterFiles(p Place) []Location {
	return []Location{
		{Scope: ScopeUser, Path: existing(filepath.Join(p.Home, ".mcporter", "mcporter.json"), filepath.Join(p.Home, ".mcporter", "mcporter.jsonc"), filepath.Join(xdg(p), "mcporter", "mcporter.json"))},
		{Scope: ScopeProject, Path: filepath.Join(p.Dir, "config", "mcporter.json")},
	}
}

func openCode(p Place) []Location {
	user := p.Getenv("OPENCODE_CONFIG")
	if user == "" {
		dir := p.Getenv("OPENCODE_CONFIG_DIR")
		if dir == "" {
			dir = filepath.Join(xdg(p), "opencode")
		}
		user = existing(filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc"))
	}
	return []Location{
		{Scope: ScopeUser, Path: user},
		{Scope: ScopeProject, Path: existing(filepath.Join(p.Dir, "opencode.json"), filepath.Join(p.Dir, "opencode.jsonc"))},
	}
}

func roo(p Place) []Location {
	return append(codeStorage("rooveterinaryinc.roo-cline/settings/mcp_settings.json")(p),
		Location{Scope: ScopeProject, Path: filepath.Join(p.Dir, ".roo", "mcp.json")})
}

// zed uses the directory of Linux on macOS as well.
func zed(p Place) []Location {
	dir := filepath.Join(p.Home, ".config", "zed")
	switch p.GOOS {
	case "windows":
		dir = filepath.Join(support(p), "Zed")
	case "linux":
		dir = filepath.Join(xdg(p), "zed")
	}
	return []Location{
		{Scope: ScopeUser, Path: filepath.Join(dir, "settings.json")},
		{Scope: ScopeProject, Path: filepath.Join(p.Dir, ".zed", "settings.json")},
	}
}

// existing returns the first of some paths that is there, otherwise the first.
func existing(paths ...string) string {
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

// hasExt reports whether a path ends with one of some extensions.
func hasExt(path string, exts ...string) bool {
	return slices.Contains(exts, strings.ToLower(filepath.Ext(path)))
}
