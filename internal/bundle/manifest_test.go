package bundle

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestManifest: what a manifest says to run is what add writes, with the user's values as
// placeholders.
func TestManifest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		manifest, goos, want string
		args, vars           []scaffold.InputValue
		refused              string
	}{
		"node without a command": {
			manifest: `"server": {"type": "node", "entry_point": "server/index.js"}`,
			want:     `{"command":"node","args":["/b/server/index.js"],"cwd":"/b"}`,
		},
		"python": {
			manifest: `"server": {"type": "python", "entry_point": "main.py", "mcp_config": {"command": "python", "args": ["${__dirname}/main.py"], "env": {"PYTHONPATH": "${__dirname}/lib", "HOME_OF": "${HOME}${/}x"}}}`,
			want:     `{"command":"python","args":["/b/main.py"],"env":{"HOME_OF":"/home/me/x","PYTHONPATH":"/b/lib"},"cwd":"/b"}`,
		},
		"uv": {
			manifest: `"server": {"type": "uv", "entry_point": "src/server.py"}`,
			want:     `{"command":"uv","args":["run","--directory","/b","src/server.py"],"cwd":"/b"}`,
		},
		"binary": {
			manifest: `"server": {"type": "binary", "entry_point": "server/run", "mcp_config": {"command": "server/run", "args": ["--config", "server/config.json"]}}`,
			want:     `{"command":"/b/server/run","args":["--config","server/config.json"],"cwd":"/b"}`,
		},
		"platforms": {
			manifest: `"server": {"type": "node", "entry_point": "x.js", "mcp_config": {"command": "node", "args": ["a"], "env": {"A": "1", "B": "2"}, "platform_overrides": {"darwin": {"command": "mac", "env": {"B": "3"}}, "win32": {"args": ["w"]}}}}`,
			goos:     "darwin",
			want:     `{"command":"mac","args":["a"],"env":{"A":"1","B":"3"},"cwd":"/b"}`,
		},
		"values": {
			manifest: `"server": {"type": "node", "entry_point": "x.js", "mcp_config": {"command": "node", "args": ["x.js", "${user_config.dir}", "--level=${user_config.level}", "--url=${user_config.url}", "--at", "${user_config.url}", "--on", "${user_config.dir}", "-v", "${user_config.gone}"], "env": {"KEY": "${user_config.key}", "OPT": "${user_config.opt}", "MIX": "a-${user_config.key}"}}},
				"user_config": {"dir": {"type": "directory", "required": true}, "level": {"type": "number", "default": 3}, "url": {"type": "string"}, "key": {"type": "string", "sensitive": true, "required": true}, "opt": {"type": "boolean"}}`,
			want: `{"command":"node","args":["x.js","${THING_DIR}","--level=3","--on","${THING_DIR}","-v","$${user_config.gone}"],"env":{"KEY":"${KEY}","MIX":"a-${KEY}"},"cwd":"/b"}`,
		},
		"values of the user": {
			manifest: `"server": {"type": "node", "entry_point": "x.js", "mcp_config": {"command": "node", "args": ["${user_config.dirs}", "--level=${user_config.level}"]}},
				"user_config": {"dirs": {"type": "directory", "multiple": true, "default": ["${HOME}/a", "${DESKTOP}"]}, "level": {"type": "number", "default": 3}}`,
			args: []scaffold.InputValue{{Name: "dirs", Value: "/x"}, {Name: "dirs", Value: "/y"}}, vars: []scaffold.InputValue{{Name: "level", Value: "7"}},
			want: `{"command":"node","args":["/x","/y","--level=7"],"cwd":"/b"}`,
		},
		"several defaults": {
			manifest: `"server": {"type": "node", "entry_point": "x.js", "mcp_config": {"command": "node", "args": ["${user_config.dirs}"]}},
				"user_config": {"dirs": {"type": "directory", "multiple": true, "default": ["${HOME}/a", "${DESKTOP}"]}}`,
			want: `{"command":"node","args":["/home/me/a","/home/me/Desktop"],"cwd":"/b"}`,
		},
		"a placeholder of its own": {
			manifest: `"server": {"type": "node", "entry_point": "x.js", "mcp_config": {"command": "node", "args": ["${AWS_SECRET_ACCESS_KEY}"], "env": {"A": "$HOME ${TOKEN}"}}}`,
			want:     `{"command":"node","args":["$${AWS_SECRET_ACCESS_KEY}"],"env":{"A":"$$HOME $${TOKEN}"},"cwd":"/b"}`,
		},
		"elsewhere": {
			manifest: `"server": {"type": "node", "entry_point": "x.js"}, "compatibility": {"platforms": ["darwin", "win32"]}`,
			refused:  "the bundle is for darwin, win32, not for linux",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := readManifest([]byte(`{"name": "thing", "version": "1.0.0", ` + tt.manifest + `}`))
			require.NoError(t, err)
			goos := tt.goos
			if goos == "" {
				goos = "linux"
			}
			server := registry.Server{Name: "thing", Packages: []registry.Package{{RegistryType: "mcpb", Identifier: "thing.mcpb", FileSHA256: strings.Repeat("a", 64)}}}
			given := func(name string) bool { return len(tt.args) > 0 && tt.args[0].Name == name }
			plan, err := scaffold.New(server, scaffold.Options{Args: tt.args, Vars: tt.vars, Bundle: func(registry.Package) (*scaffold.Bundle, error) {
				return m.bundle(machine{goos, "/home/me", "/b"}, given), nil
			}})
			switch {
			case tt.refused != "":
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("the error is %v", err)
				}
			case err != nil:
				t.Error(err)
			case string(plan.Entry) != tt.want:
				t.Errorf("the entry is\n%s\nwant\n%s", plan.Entry, tt.want)
			}
		})
	}
}
