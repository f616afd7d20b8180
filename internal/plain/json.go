package plain

import (
	"bytes"
	"encoding/json"
)

// JSON is json.Marshal for people to read: <, > and & are not escaped. Its errors are
// those of json.Marshal.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
