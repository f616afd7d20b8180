package starts

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

func TestWantToRun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0.20 0.18 0.12 1/80 11206\n": 1, "12.00 3.00 1.00 25/1300 9": 25,
		"": 0, "0.20 0.18 0.12": 0, "0.20 0.18 0.12 x/80 1": 0, "0.20 0.18 0.12 0/0 0": 0, "0.20 0.18 0.12 80 1": 0,
	} {
		if got, ok := wantToRun([]byte(text)); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: got %d %v, want %d", text, got, ok, want)
		}
	}
	if spare(runtime.NumCPU()-1) != nil {
		t.Error("behind the limit of a container it is known")
	}
}

// TestSpare: no processor has nothing to do while there is work for each.
func TestSpare(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	has := spare(n)
	if has == nil {
		t.Skip("it is not known here")
	}
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(t, cmd.Start())
		defer cmd.Wait()
		defer cmd.Process.Kill()
	}
	time.Sleep(5 * time.Millisecond)
	free := 0
	for range 20 {
		if has() {
			free++
		}
		time.Sleep(time.Millisecond)
	}
	if free > 5 {
		t.Errorf("%d of 20 looks find a processor with nothing to do", free)
	}
}
