package proxy

import (
	"bytes"
	"sync"
	"time"
)

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // a pool of scratch space

const (
	// maxPooledBody bounds what a pooled buffer keeps.
	maxPooledBody = 4 << 20
	// maxClaim bounds the memory that a body gets for what its header says of its
	// length: more comes as the body does.
	maxClaim = 256 << 10
	// bodyTime is how long each part of a large body may take, and bodyRate, in
	// bytes a second, what is added for its size: parts double in size. Before
	// that the server's own bound of reading counts.
	bodyTime = 30 * time.Second
	bodyRate = 128 << 10
)

func release(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooledBody {
		buf.Reset()
		bodies.Put(buf)
	}
}
