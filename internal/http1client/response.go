package http1client

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/mcpctl/mcpctl/internal/httpsyntax"
)

// answer is a response with its body, in one piece of memory.
type answer struct {
	http.Response
	body body
}

// response reads the head of the response to a request, past responses of 1xx.
func (x *conn) response(req *http.Request) (*http.Response, error) {
	for range maxInterim + 1 {
		text, err := x.head()
		if err != nil {
			return nil, err
		}
		a := &answer{}
		a.Request = req
		keep, err := a.parse(text)
		if err != nil {
			return nil, err
		}
		switch {
		case a.StatusCode == http.StatusSwitchingProtocols:
			return nil, errSwitch
		case a.StatusCode < 200:
			continue
		case a.ContentLength == 0:
			a.Body = http.NoBody
			x.release(keep)
		default:
			a.body.x, a.body.keep, a.body.chunked, a.body.left = x, keep, a.TransferEncoding != nil, max(a.ContentLength, 0)
			a.body.untilClose = a.ContentLength < 0 && !a.body.chunked
			a.Body = &a.body
		}
		return &a.Response, nil
	}
	return nil, errInterims
}

// parse reads a head. It reports whether the connection can be used after the response.
func (a *answer) parse(text string) (keep bool, err error) {
	line, text, _ := strings.Cut(text, "\r\n")
	if err := a.parseStatus(line); err != nil {
		return false, err
	}
	n := strings.Count(text, "\n")
	a.Header = make(http.Header, n)
	all := make([]string, 0, n) // the values of all fields
	for text != "" {
		line, text, _ = strings.Cut(text, "\r\n")
		name, value, ok := httpsyntax.Field(line)
		if !ok {
			return false, errField
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		all = append(all, value)
		if values := a.Header[name]; values != nil {
			a.Header[name] = append(values, value)
		} else {
			a.Header[name] = all[len(all)-1 : len(all) : len(all)]
		}
	}
	return a.frame()
}

// parseStatus reads the first line of a head.
func (a *answer) parseStatus(line string) error {
	version, status, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(status, " ")
	n, ok := httpsyntax.Length(code)
	if !ok || len(code) != 3 || n < 100 || version != "HTTP/1.1" && version != "HTTP/1.0" || !httpsyntax.IsValue(status) {
		return errNotHTTP
	}
	a.Status, a.StatusCode, a.Proto, a.ProtoMajor = status, int(n), version, 1
	if version == "HTTP/1.1" {
		a.ProtoMinor = 1
	}
	return nil
}

// frame finds where the body ends (RFC 9112, 6.3). A response that says it twice, or
// in a way that not all understand, is an error.
func (a *answer) frame() (keep bool, err error) {
	coding, length := a.Header["Transfer-Encoding"], a.Header["Content-Length"]
	keep, a.Close = a.ProtoMinor == 1, a.ProtoMinor == 0
	for _, v := range a.Header["Connection"] {
		for option := range strings.SplitSeq(v, ",") {
			switch option = strings.Trim(option, " \t"); {
			case strings.EqualFold(option, "close"):
				keep, a.Close = false, true
			case strings.EqualFold(option, "keep-alive") && a.ProtoMinor == 0:
				keep, a.Close = length != nil, false
			}
		}
	}
	a.ContentLength = -1
	switch {
	case coding != nil && (length != nil || a.ProtoMinor == 0 || len(coding) > 1 || !strings.EqualFold(coding[0], "chunked")):
		return false, errCoding
	case len(length) > 1:
		return false, errLength
	case coding != nil:
		a.TransferEncoding = []string{"chunked"}
		delete(a.Header, "Transfer-Encoding")
	case length != nil:
		n, ok := httpsyntax.Length(length[0])
		if !ok {
			return false, errLength
		}
		a.ContentLength = n
	}
	if a.StatusCode < 200 || a.StatusCode == http.StatusNoContent || a.StatusCode == http.StatusNotModified {
		a.ContentLength, a.TransferEncoding = 0, nil // whatever the head says
	}
	return keep, nil
}
