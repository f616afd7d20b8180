package guardian

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/internal/proctree"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestWhoseGroup: what a guardian takes for its own once the number of a group
// may belong to somebody else.
func TestWhoseGroup(t *testing.T) {
	t.Parallel()
	// A group whose leader has gone, and has been waited for; a member lives.
	orphan := func(env ...string) (group, member int) {
		t.Helper()
		cmd := exec.Command("sh", "-c", "sleep 60 >&- 2>&- & echo $!")
		cmd.Env, cmd.SysProcAttr = append(os.Environ(), env...), &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.Output()
		require.NoError(t, err)
		member, err = strconv.Atoi(strings.TrimSpace(string(out)))
		require.NoError(t, err)
		t.Cleanup(func() { _ = syscall.Kill(member, syscall.SIGKILL) })
		return cmd.Process.Pid, member
	}
	leader := exec.Command("sleep", "60")
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, leader.Start())
	defer leader.Wait()
	defer leader.Process.Kill()
	own := leader.Process.Pid
	bare, member := orphan()
	signed, signedMember := orphan(proctree.MarkVariable + "=x.1:me.5")

	for name, c := range map[string]struct {
		group   int
		started uint64
		later   bool // not the first look
		known   int  // seen in an earlier one
		want    int  // process that is found, 0 for none
	}{
		"its leader lives":                         {own, proctree.StartOf(own), true, 0, own},
		"another leader":                           {own, proctree.StartOf(own) + 1, false, 0, 0},
		"leader of whom nothing is known":          {own, 0, true, 0, own},
		"no leader, at once":                       {bare, 5, false, 0, member},
		"no leader, later":                         {bare, 5, true, 0, 0},
		"no leader, later, but a member was known": {bare, 5, true, member, member},
		"no leader, later, but it bears the mark":  {signed, 5, true, 0, signedMember},
		"not in the list, but it bears the mark":   {1 << 29, 5, true, 0, signedMember},
	} {
		m := monitor{guard: "me", groups: map[int]uint64{c.group: c.started}}
		if c.later {
			m.known = map[proctree.Process]bool{}
		}
		if c.known != 0 {
			k, _ := proctree.Find(c.known)
			m.known[k] = true
		}
		found, sees := m.scan()
		got := 0
		for _, k := range found {
			if k.PID != signedMember || c.want == signedMember {
				got = k.PID
			}
		}
		if !sees || got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
