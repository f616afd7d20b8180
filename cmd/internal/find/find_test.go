package find_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/test/require"
)

func items() []json.RawMessage {
	return []json.RawMessage{
		json.RawMessage(`{"name":"read_file","description":"\n  Reads a file.\nAt most 1 MB.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"where\nit is"}}}}`),
		json.RawMessage(`{"name":"write","title":"Write a FILE","inputSchema":{"type":"object"}}`),
		json.RawMessage(`{"name":"odd","annotations":{"title":"Odd one"},"inputSchema":{"type":"objekt"}}`),
		json.RawMessage(`{"name":7}`),
		json.RawMessage(`nonsense`),
	}
}

func TestGrep(t *testing.T) {
	for pattern, want := range map[string]string{
		"file":      "read_file Reads a file.|write Write a FILE",
		"FILE$":     "read_file Reads a file.|write Write a FILE",
		`\bmb`:      "read_file At most 1 MB.",
		"^path$":    "read_file path: where",
		"where":     "",
		"odd":       "odd Odd one",
		"objekt":    "",
		"x*":        "read_file Reads a file.|write Write a FILE|odd Odd one",
		"read|odd.": "read_file Reads a file.|odd Odd one",
	} {
		re, err := find.Pattern(pattern)
		require.NoError(t, err)
		var got []string
		for _, h := range find.Grep("s", items(), re) {
			got = append(got, h.Name+" "+h.Line)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	if _, err := find.Pattern("a("); err == nil || !strings.HasPrefix(err.Error(), `"a(" is not a regular expression: `) {
		t.Errorf("got %v", err)
	}
}

func TestNamed(t *testing.T) {
	for pattern, want := range map[string]int{"*": 3, "read_*": 1, "READ_*": 0, "writ?": 1, "rit": 0, "read.file": 0} {
		re, err := find.Glob(pattern)
		require.NoError(t, err)
		hits, raw := find.Named("s", items(), re)
		if len(hits) != want || len(raw) != want {
			t.Errorf("%s: got %v", pattern, hits)
		}
	}
}

func TestRank(t *testing.T) {
	lists := []find.List{{Server: "s", Items: items()}, {Server: "other", Items: []json.RawMessage{
		json.RawMessage(`{"name":"remove","description":"Deletes a file for good."}`),
		json.RawMessage(`{"name":"remove","description":"The same name again: file file file."}`),
	}}}
	for _, tc := range []struct {
		phrasings []string
		limit     int
		want      string
	}{
		{[]string{"files"}, 9, "s:read_file s:write other:remove"},
		{[]string{"erase a document"}, 1, "other:remove"},
		{[]string{"odd"}, 1, "s:odd"},
		{[]string{"file", "remove, read_file"}, 1, "s:read_file"},
		{[]string{"nothing-like-it"}, 9, ""},
	} {
		var got []string
		for _, r := range engine(t).Rank(t.Context(), lists, tc.phrasings, tc.limit) {
			got = append(got, r.Server+":"+r.Name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q: got %q, want %q", tc.phrasings, got, tc.want)
		}
	}
}

func TestPhrasings(t *testing.T) {
	for words, want := range map[string]string{
		"open|ticket":           "open ticket",
		"open a ticket":         "open a ticket",
		"refund|money back|pay": "refund pay|money back",
	} {
		if got := strings.Join(find.Phrasings(strings.Split(words, "|")), "|"); got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
}
