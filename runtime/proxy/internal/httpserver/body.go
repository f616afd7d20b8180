package httpserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// received is the message of a POST.
type received struct {
	*bytes.Buffer
	p     *endpoint.Set
	taken int64 // of Budget.Bodies
}

// receive reads the body of a POST, to be released; false where it refuses it.
func receive(p *endpoint.Set, o *Options, w http.ResponseWriter, r *http.Request) (b received, ok bool) {
	if !isJSON(r.Header.Get("Content-Type")) {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return b, false
	}
	b.p = p
	b.Buffer, _ = limits.Bodies.Get().(*bytes.Buffer)
	err := b.read(o, w, r)
	if err == nil {
		return b, true
	}
	b.release()
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		refuse(w, http.StatusRequestEntityTooLarge, nil, runtime.CodeInvalidRequest, fmt.Sprintf("the message is larger than %d bytes", o.MaxBody))
	case errors.Is(err, limits.ErrFull):
		busy(w, http.StatusServiceUnavailable, nil, err.Error())
	default:
		http.Error(w, "the body cannot be read", http.StatusBadRequest) // if the client is still there
	}
	return b, false
}

func (b *received) read(o *Options, w http.ResponseWriter, r *http.Request) error {
	n := r.ContentLength
	switch {
	case n > o.MaxBody:
		return &http.MaxBytesError{Limit: o.MaxBody}
	case 0 <= n && n <= limits.FreeBody:
		b.Grow(int(n) + bytes.MinRead) // no more will come
		_, err := b.ReadFrom(r.Body)
		return err
	}
	// What is large takes long; its time to arrive is bounded where the server can.
	from, patience := http.MaxBytesReader(w, r.Body, o.MaxBody), http.NewResponseController(w)
	part := min(max(n, limits.FreeBody), limits.MaxClaim) + bytes.MinRead
	for {
		if b.Available() < bytes.MinRead {
			if !b.p.Budget.Bodies.Take(part, limits.MaxBodies) {
				// A client that is cut off while it sends never reads why.
				_, _ = io.Copy(io.Discard, from) // it may be gone
				return limits.ErrFull
			}
			b.taken += part
			b.Grow(int(part))
			_ = patience.SetReadDeadline(time.Now().Add(limits.BodyTime + time.Duration(part/limits.BodyRate)*time.Second))
			part = int64(b.Cap())
		}
		free := b.AvailableBuffer()
		n, err := from.Read(free[:cap(free)])
		_, _ = b.Write(free[:n]) // where it is already; it cannot fail
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// release frees the body.
func (b *received) release() {
	if b.taken > 0 {
		b.p.Budget.Bodies.N.Add(-b.taken)
	}
	limits.Release(b.Buffer)
}

// clearReadDeadline lets a response last whose request is read.
func clearReadDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // not every server has one
}
