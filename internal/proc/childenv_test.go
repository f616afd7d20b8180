package proc

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironment: a server gets the small set and what its entry says, which
// wins; no secret of ours, and no function of the shell's.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		system string
		ours   []string
		add    map[string]string
		want   []string
	}{
		"Linux": {
			"linux",
			[]string{
				"PATH=/bin", "HOME=/home/a", "LC_CTYPE=C", "LC=x", "XDG_RUNTIME_DIR=/run", "AWS_SECRET_ACCESS_KEY=s3cret", "GITHUB_TOKEN=t", "MCPCTL_HEADER=h",
				"https_proxy=http://p:1", "SSH_AUTH_SOCK=/s", "Path=/x", "SHELL=() { evil; }", "NONSENSE", "=x", "MCPCTL_GUARD=0.1", "LD_PRELOAD=x", "NODE_OPTIONS=x",
			},
			map[string]string{"TOKEN": "mine", "HOME": "/other", "EMPTY": ""},
			[]string{"EMPTY=", "HOME=/other", "LC_CTYPE=C", "MCPCTL_GUARD=0.1", "PATH=/bin", "TOKEN=mine", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p:1"},
		},
		"Windows": {
			"windows",
			[]string{"Path=C:\\", "SystemRoot=C:\\Windows", "=C:=C:\\x", "ProgramFiles(x86)=C:\\P", "HOME=x", "Secret=x", "TEMP=C:\\T", "ComSpec=c"},
			map[string]string{"temp": "C:\\U", "PATH": "D:\\"},
			[]string{"ComSpec=c", "PATH=D:\\", "ProgramFiles(x86)=C:\\P", "SystemRoot=C:\\Windows", "temp=C:\\U"},
		},
		"nothing": {"linux", nil, nil, []string{}},
	} {
		got := ChildEnv(c.system, c.ours, c.add)
		if got == nil {
			t.Errorf("%s: nil would stand for everything", name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
