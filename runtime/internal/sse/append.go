package sse

import (
	"strconv"
	"strings"
	"time"
)

// AppendEvent appends an event to dst. The name is left out when empty, as are
// an empty id and a retry of zero; data is always there, so that an event with
// an id alone reaches its reader. Data with a raw CR arrives with an LF in its
// place: the format has no way to say CR. A name with a line end, or an id with
// one or with NUL, cannot be said either and is left out.
func AppendEvent(dst []byte, ev Event) []byte {
	if ev.Name != "" && !strings.ContainsAny(ev.Name, "\r\n") {
		dst = append(append(append(dst, "event: "...), ev.Name...), '\n')
	}
	if ev.ID != "" && !strings.ContainsAny(ev.ID, "\r\n\x00") {
		dst = append(append(append(dst, "id: "...), ev.ID...), '\n')
	}
	if ms := ev.Retry / time.Millisecond; ms > 0 {
		dst = append(strconv.AppendInt(append(dst, "retry: "...), int64(ms), 10), '\n')
	}
	dst = append(dst, "data: "...)
	for i := 0; i < len(ev.Data); i++ {
		c := ev.Data[i]
		if c != '\n' && c != '\r' {
			dst = append(dst, c)
			continue
		}
		if c == '\r' && i+1 < len(ev.Data) && ev.Data[i+1] == '\n' {
			i++
		}
		dst = append(dst, "\ndata: "...)
	}
	return append(dst, "\n\n"...)
}

// AppendComment appends a comment, which readers ignore: it keeps a quiet
// connection alive.
func AppendComment(dst []byte, text string) []byte {
	text = strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
	return append(append(append(dst, ": "...), text...), "\n\n"...)
}
