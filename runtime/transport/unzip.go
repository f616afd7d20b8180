package transport

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// unzipAnswer replaces the body of an answer by one that decompresses it. What reads it has bounds, which
// count plain bytes.
func unzipAnswer(resp *http.Response) {
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = &unzipReader{ReadCloser: resp.Body}
}

// unzipReader is a body in plain form. It begins to read with the first Read: a stream may have
// nothing yet. Who reads bounds what is read, which may be far more than was sent.
type unzipReader struct {
	io.ReadCloser
	z *gzip.Reader
}

func (r *unzipReader) Read(p []byte) (n int, err error) {
	if r.z == nil {
		if r.z, err = gzip.NewReader(r.ReadCloser); err != nil {
			return 0, err // io.EOF for an empty body
		}
	}
	return r.z.Read(p)
}
