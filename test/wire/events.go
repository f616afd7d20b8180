package wire

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// Event is one of a stream of server-sent events. ID is the last that the stream
// has named.
type Event struct{ Name, Data, ID string }

// Events calls each with the events of a stream until it ends, and returns how
// long to wait before it is asked for again: 10 ms where it does not say.
func Events(r io.Reader, each func(Event)) (retry time.Duration, err error) {
	br := bufio.NewReaderSize(r, 1<<16)
	retry = 10 * time.Millisecond
	var e Event
	var data []string
	for {
		line, err := br.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return retry, nil
		}
		if err != nil {
			return retry, err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			e.Data = strings.Join(data, "\n")
			each(e)
			e.Name, data = "", nil
		case field == "event":
			e.Name = value
		case field == "data":
			data = append(data, value)
		case field == "id":
			e.ID = value
		case field == "retry":
			if ms, err := strconv.Atoi(value); err == nil {
				retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// LastEvent returns the data of the last event that has any, "" for none.
func LastEvent(stream string) (last string) {
	_, _ = Events(strings.NewReader(stream), func(e Event) { // it has only an end
		if data := strings.TrimSpace(e.Data); data != "" {
			last = data
		}
	})
	return last
}
