package atomicfile

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockTry is how often a lock that is held is tried again.
const lockTry = 20 * time.Millisecond

// Lock takes the lock file at path, which is made with its folder where there is none,
// and stays. It waits for within at most, and with 0 tries once: the error is then
// [context.DeadlineExceeded], or that of ctx. The system gives the lock up with the
// process.
func Lock(ctx context.Context, path string, within time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|NoWait), flock.SetPermissions(0o600))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	unlock = func() { _ = l.Close() } // closing the lock file is all that can fail
	// The first try is without a limit: on a busy machine that may pass before it.
	if ok, err := l.TryLock(); ok {
		return unlock, nil
	} else if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if _, err := l.TryLockContext(ctx, lockTry); err != nil { // false has an error
		return nil, err
	}
	return unlock, nil
}
