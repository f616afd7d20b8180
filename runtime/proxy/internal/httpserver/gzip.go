package httpserver

import (
	"compress/gzip"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
)

// gzipAbove is how large an answer is from which on it is compressed, in bytes: a smaller one
// goes in one packet with its head.
const gzipAbove = 1 << 10

// compresses reports whether an answer of a size is compressed for a client: it accepts that,
// and is on another machine. What stays on this one takes longer to compress than to send.
func (t accept) compresses(size int) bool {
	if size < gzipAbove || len(t.codings) == 0 {
		return false
	}
	peer, err := netip.ParseAddrPort(t.peer)
	return err == nil && !peer.Addr().Unmap().IsLoopback() && t.takesGzip()
}

var gzips = sync.Pool{New: func() any { //nolint:gochecknoglobals // a pool of scratch space: a writer takes 800 KB
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // it fails for other levels only
	return w
}}

// takesGzip reports whether a client accepts answers that are compressed so.
func (t accept) takesGzip() bool {
	any := false
	for _, line := range t.codings {
		for part := range strings.SplitSeq(line, ",") {
			coding, weight, _ := strings.Cut(part, ";")
			coding = strings.ToLower(strings.TrimSpace(coding))
			if coding != "gzip" && coding != "*" {
				continue
			}
			takes := true
			if q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="); ok {
				f, err := strconv.ParseFloat(q, 64)
				takes = err == nil && f > 0
			}
			if coding == "gzip" {
				return takes
			}
			any = takes
		}
	}
	return any
}

// writeGzip writes JSON compressed.
func writeGzip(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head["Content-Type"], head["Content-Encoding"] = jsonType, gzipped
	w.WriteHeader(status)
	z, _ := gzips.Get().(*gzip.Writer)
	defer gzips.Put(z)
	z.Reset(w)
	_, _ = z.Write(body) // the client may be gone: nobody to tell
	_ = z.Close()
}
