//go:build unix

package guardian

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// waiter waits for the end of the pipe in the place of a guardian. Only where there
// was no goodbye it becomes one, and hands on what it has read. It has to be deaf to
// signals before that, like the guardian, and to run in every shell of POSIX.
const waiter = `trap '' HUP INT QUIT TERM TSTP USR1 USR2
lines=
while read -r line; do
	[ "$line" = ` + lineBye + ` ] && exit
	lines="$lines$line
"
done
exec "$@" <<END
$lines
END
`

// startShort starts a waiter, see [Options.Short]. Nobody waits for its end: this
// process ends at the same time.
func (g *Guard) startShort() error {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer none.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", waiter, "mcp-guardian", g.o.Path}, g.o.Args[1:]...)...) //nolint:noctx // it outlives this process
	cmd.Env, cmd.Dir, cmd.SysProcAttr = environment(os.Environ()), "/", &syscall.SysProcAttr{Setsid: true}
	if _, err := proctree.Start(cmd, [3]*os.File{r, none, none}); err != nil {
		_ = w.Close()
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pipe = w
	g.write([]byte(lineGuard + " " + g.id + "\n"))
	return nil
}
