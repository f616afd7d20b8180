package codec_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/test/require"
)

// The types of the comparison: once as encoding/json has them, once as
// generated.

type smallPlain struct {
	Query string   `json:"query"`
	Limit *int64   `json:"limit,omitempty"`
	Exact *bool    `json:"exact,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Score float64  `json:"score"`
}

type small struct {
	Query string                     `json:"query"`
	Limit *int64                     `json:"limit,omitzero"`
	Exact *bool                      `json:"exact,omitzero"`
	Tags  []string                   `json:"tags,omitzero"`
	Score float64                    `json:"score"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest"`
}

type userPlain struct {
	Login string  `json:"login"`
	ID    int64   `json:"id"`
	Name  *string `json:"name"`
	Site  bool    `json:"site_admin"`
}

type issuePlain struct {
	Number    int64             `json:"number"`
	Title     string            `json:"title"`
	Body      *string           `json:"body"`
	State     string            `json:"state"`
	User      userPlain         `json:"user"`
	Labels    []string          `json:"labels"`
	Assignees []userPlain       `json:"assignees"`
	Score     float64           `json:"score"`
	Meta      map[string]string `json:"meta,omitempty"`
	Created   string            `json:"created_at"`
}

type listPlain struct {
	Total int64        `json:"total"`
	Items []issuePlain `json:"items"`
	Next  *string      `json:"next,omitempty"`
}

type user struct {
	Login string                     `json:"login"`
	ID    int64                      `json:"id"`
	Name  *string                    `json:"name" mcp:"null"`
	Site  bool                       `json:"site_admin"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
}

type issue struct {
	Number    int64                      `json:"number"`
	Title     string                     `json:"title"`
	Body      *string                    `json:"body" mcp:"null"`
	State     string                     `json:"state"`
	User      user                       `json:"user"`
	Labels    []string                   `json:"labels"`
	Assignees []user                     `json:"assignees"`
	Score     float64                    `json:"score"`
	Meta      map[string]string          `json:"meta,omitzero"`
	Created   string                     `json:"created_at"`
	Extra     map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
}

type list struct {
	Total int64                      `json:"total"`
	Items []issue                    `json:"items"`
	Next  *string                    `json:"next,omitzero"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
}

func issuesJSON(n int) []byte {
	l := listPlain{Total: int64(n)}
	for i := range n {
		body := fmt.Sprintf("Something is wrong with <part %d> & \"its\" neighbours.\nPlease look at it.", i)
		name := "Ada Lovelace"
		u := userPlain{Login: fmt.Sprintf("user%d", i), ID: int64(1000 + i), Name: &name}
		is := issuePlain{
			Number: int64(i), Title: fmt.Sprintf("An issue with the number %d", i), Body: &body, State: "open", User: u,
			Labels: []string{"bug", "help wanted"}, Assignees: []userPlain{u, u}, Score: 0.25 * float64(i), Created: "2024-05-06T07:08:09Z",
		}
		if i%4 == 0 {
			is.Meta = map[string]string{"team": "core", "area": "codec"}
		}
		l.Items = append(l.Items, is)
	}
	b, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return b
}

const smallJSON = `{"query":"is:open label:bug","limit":50,"exact":true,"tags":["a","b"],"score":0.5}`

type benchCase struct {
	name         string
	in           []byte
	plain, typed func() any
}

func benchCases() []benchCase {
	return []benchCase{
		{"small", []byte(smallJSON), func() any { return new(smallPlain) }, func() any { return new(small) }},
		{"nested4KB", issuesJSON(8), func() any { return new(listPlain) }, func() any { return new(list) }},
		{"list200", issuesJSON(200), func() any { return new(listPlain) }, func() any { return new(list) }},
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range benchCases() {
		b.Run(c.name+"/encoding", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.in)))
			for b.Loop() {
				require.NoError(b, json.Unmarshal(c.in, c.plain()))
			}
		})
		b.Run(c.name+"/codec", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.in)))
			for b.Loop() {
				require.NoError(b, codec.Decode(c.in, c.typed()))
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, c := range benchCases() {
		plain, typed := c.plain(), c.typed()
		require.NoError(b, json.Unmarshal(c.in, plain))
		require.NoError(b, codec.Decode(c.in, typed))
		b.Run(c.name+"/encoding", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(plain); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/codec", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := codec.Encode(typed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
