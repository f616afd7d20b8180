package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// message is one message of JSON-RPC as it is received.
type message struct {
	wire.Message
	at time.Time // when its last byte had come
}

// answer is a result and when its last byte had come, before it was decoded.
type answer struct {
	result []byte
	at     time.Time
}

// answer returns what a call returns.
func (m message) answer() (answer, error) {
	result, err := m.Outcome()
	return answer{result, m.at}, err
}

// request puts an encoded request together.
func request(id uint64, method string, params []byte) []byte {
	buf := make([]byte, 0, len(params)+len(method)+80)
	buf = append(buf, `{"jsonrpc":"2.0","id":`...)
	buf = strconv.AppendUint(buf, id, 10)
	buf = append(buf, `,"method":"`...)
	buf = append(buf, method...)
	buf = append(buf, `","params":`...)
	buf = append(buf, params...)
	return append(buf, '}')
}

// ErrWrong marks answers that are not what was asked for.
var ErrWrong = errors.New("wrong answer")

// checkText compares a tool's result with the text it has to consist of, which
// has no character that JSON escapes.
func checkText(result []byte, text string) error {
	// A long text is looked for as servers write it that hand results on as
	// they are: to decode it would take longer than the call.
	if len(text) > maxDecoded && holdsText(result, text) && !bytes.Contains(result, []byte(`"isError":true`)) {
		return nil
	}
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("%w: the result is %.120q: %w", ErrWrong, result, err)
	}
	switch {
	case r.IsError:
		return fmt.Errorf("the tool reported an error: %.200s", result)
	case len(r.Content) != 1 || r.Content[0].Type != "text":
		return fmt.Errorf("%w: the result is not one text: %.120s", ErrWrong, result)
	case r.Content[0].Text != text:
		return fmt.Errorf("%w: got the text %.60q, want %.60q", ErrWrong, r.Content[0].Text, text)
	}
	return nil
}

// maxDecoded is how long a text may be that is found by decoding.
const maxDecoded = 4 << 10

func holdsText(result []byte, text string) bool {
	_, rest, found := bytes.Cut(result, []byte(`"text":"`))
	return found && len(rest) > len(text) && string(rest[:len(text)]) == text && rest[len(text)] == '"'
}

// textFor returns the text of one call, which no other call has: a name, the
// caller and the count, filled up to size. It is never shorter than these.
func textFor(buf []byte, caller int, n uint64, size int) []byte {
	start := len(buf)
	buf = append(buf, "caller-"...)
	buf = strconv.AppendInt(buf, int64(caller), 10)
	buf = append(buf, "-call-"...)
	buf = strconv.AppendUint(buf, n, 10)
	buf = append(buf, '-')
	for len(buf)-start < size {
		buf = append(buf, filler[:min(len(filler), size-(len(buf)-start))]...)
	}
	return buf
}

const filler = "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789"

// metaFor is "_meta" of a request of a revision without handshake.
func metaFor(revision string) string {
	return `{"io.modelcontextprotocol/protocolVersion":"` + revision + `",` +
		`"io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}}`
}
