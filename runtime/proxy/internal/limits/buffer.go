package limits

import (
	"bytes"
	"sync"
	"time"
)

var Bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // a pool of scratch space

const (
	// maxPooledBody bounds what a pooled buffer keeps.
	maxPooledBody = 4 << 20
	// MaxClaim bounds the memory that a body gets for what its header says of its
	// length: more comes as the body does.
	MaxClaim = 256 << 10
	// BodyTime is how long each part of a large body may take, and bodyRate, in
	// bytes a second, what is added for its size: parts double in size. Before
	// that the server's own bound of reading counts.
	BodyTime = 30 * time.Second
	BodyRate = 128 << 10
)

func Release(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooledBody {
		buf.Reset()
		Bodies.Put(buf)
	}
}
