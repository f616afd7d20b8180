package finder

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Bounds of a search.
const (
	maxQueries = 5
	maxQuery   = 400 // characters
	maxLimit   = 50
	aLimit     = 5
)

// Detail is how much is said of a tool that is found.
type Detail string

// What is said of a tool.
const (
	Line      Detail = "line"
	Signature Detail = "signature"
	Schema    Detail = "schema"
)

// Query is a call of search_tools.
type Query struct {
	Texts  []string // none is empty
	Server string   // "" is all
	Limit  int      // 0 is all
	Detail Detail
}

// ParseQuery reads the arguments of search_tools, nil for none. What is too much is cut.
func ParseQuery(arguments []byte) (q Query, err error) {
	var in struct {
		Queries json.RawMessage `json:"queries"`
		Server  string          `json:"server"`
		Limit   *int            `json:"limit"`
		Detail  Detail          `json:"detail"`
	}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &in); err != nil {
			return q, errors.New(`arguments do not fit: want {"queries":["…"],"server"?:"…","limit"?:5,"detail"?:"line"|"signature"|"schema"}`)
		}
	}
	var texts []string
	if one := ""; rawjson.IsString(in.Queries) && json.Unmarshal(in.Queries, &one) == nil {
		texts = []string{one} // as models often write it
	} else if in.Queries != nil && json.Unmarshal(in.Queries, &texts) != nil {
		return q, errors.New("at /queries: want a list of texts")
	}
	for _, text := range texts[:min(len(texts), maxQueries)] {
		if text = strings.TrimSpace(cutText(text, maxQuery)); text != "" {
			q.Texts = append(q.Texts, text)
		}
	}
	q.Server, q.Detail, q.Limit = in.Server, in.Detail, aLimit
	lists := len(q.Texts) == 0 && q.Server != ""
	if lists { // a whole server is short
		q.Limit = 0
		if q.Detail == "" {
			q.Detail = Line
		}
	}
	if in.Limit != nil {
		q.Limit = min(max(*in.Limit, 1), maxLimit)
	}
	switch q.Detail {
	case "":
		q.Detail = Signature
	case Line, Signature, Schema:
	default:
		return q, fmt.Errorf("at /detail: want line, signature or schema, not %.20q", string(q.Detail))
	}
	return q, nil
}

// cutText returns the beginning of a text, in characters.
func cutText(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}
