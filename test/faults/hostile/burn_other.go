//go:build !unix

package hostile

import "time"

func burn(d time.Duration) { time.Sleep(d) }
