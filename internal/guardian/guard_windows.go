package guardian

import (
	"fmt"
	"io"

	"golang.org/x/sys/windows"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// supervisor is the job object that this process and all that it starts belong to.
type supervisor struct{ job windows.Handle }

// start puts this process into a job. Its children are born into it, so there
// is no moment in which one is not; the jobs of the single children are inside.
// The handle is never closed: the system does so when the process ends, and
// ends everything else with it.
func (g *Guard) start() error {
	job, err := proctree.NewJob()
	if err != nil {
		return err
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		_ = windows.CloseHandle(job)
		return fmt.Errorf("assign this process to a job object: %w", err)
	}
	g.supervisor.job = job
	return nil
}

// Close does nothing: the job ends with the process.
func (g *Guard) Close() {}

// Add does nothing: the child is in the job.
func (g *Guard) Add(proctree.Tree) {}

// Remove does nothing.
func (g *Guard) Remove(proctree.Tree) {}

// Run does nothing: see [Guard].
func Run(io.Reader) {}
