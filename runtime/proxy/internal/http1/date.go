package http1

import (
	"net/http"
	"sync/atomic"
	"time"
)

// date is the value of Date, formatted once a second. It is safe for concurrent use.
type date struct{ last atomic.Pointer[second] }

// second is a formatted second.
type second struct {
	unix int64
	text string
}

// append appends the date of now.
func (d *date) append(b []byte, now time.Time) []byte {
	s := d.last.Load()
	if s == nil || s.unix != now.Unix() {
		s = &second{now.Unix(), now.UTC().Format(http.TimeFormat)}
		d.last.Store(s)
	}
	return append(b, s.text...)
}
