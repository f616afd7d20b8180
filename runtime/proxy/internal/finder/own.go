package finder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/tokens"
)

// Own are the names of the tools that are no server's.
type Own struct{ Search, Call, CallRead, Read string }

// bare are their names where nothing renames them.
var bare = NewOwn("") //nolint:gochecknoglobals // constant

// NewOwn returns their names with a prefix, "" for none.
func NewOwn(prefix string) Own {
	return Own{prefix + "search_tools", prefix + "call_tool", prefix + "call_read_tool", prefix + "read_result"}
}

// Prefix is that of the names where tools have no prefix of their server.
const Prefix = "mcpctl_"

// Server is how many tools of a server somebody may use.
type Server struct {
	Name  string
	Tools int
}

// maxServersTokens bounds the servers in the description of search_tools.
const maxServersTokens = 400

// Definitions returns the definitions of the tools that find and call, with commas between them. Servers are
// those that whoever lists them may use.
func (o Own) Definitions(servers []Server) []byte {
	about := "Finds tools by what they do, or by name."
	if len(servers) > 0 {
		about += " Servers here: " + named(servers, maxServersTokens) + "."
	}
	about += " Give phrasings or exact names; then use " + o.Call + "."
	out := rawjson.Quote([]byte(`{"name":`), o.Search)
	out = rawjson.Quote(append(out, `,"description":`...), about)
	out = append(out, `,"inputSchema":{"type":"object","required":["queries"],"properties":{`+
		`"queries":{"type":"array","items":{"type":"string","maxLength":400},"minItems":1,"maxItems":5,"description":"What the tool should do, each in another way."},`+
		`"server":{"type":"string","description":"Search this server only; with an empty query all its tools are listed."},`+
		`"limit":{"type":"integer","minimum":1,"maximum":50,"default":5},`+
		`"detail":{"enum":["line","signature","schema"],"default":"signature"}}},`+
		`"annotations":{"readOnlyHint":true,"openWorldHint":false}},`...)
	out = o.appendCall(out, o.Call, "Calls a tool that "+o.Search+" has found. For tools that only read, use "+o.CallRead+".", `{"openWorldHint":true}`)
	out = append(out, ',')
	return o.appendCall(out, o.CallRead, "Calls a tool that changes nothing. Others are refused.", `{"readOnlyHint":true,"openWorldHint":true}`)
}

func (o Own) appendCall(out []byte, name, about, annotations string) []byte {
	out = rawjson.Quote(append(out, `{"name":`...), name)
	out = rawjson.Quote(append(out, `,"description":`...), about)
	out = append(out, `,"inputSchema":{"type":"object","required":["name"],"properties":{`+
		`"name":{"type":"string","description":"The tool's exact name."},`+
		`"arguments":{"type":"object","description":"As its signature says."},`+
		`"fields":{"type":"array","items":{"type":"string"},"description":"Keep only these of JSON, as in items[].id."}}},"annotations":`...)
	return append(append(out, annotations...), '}')
}

// named returns the names of servers with their numbers of tools, those with most first, in
// at most some tokens. Those that have no room are counted.
func named(servers []Server, most int) string {
	servers = slices.Clone(servers)
	slices.SortStableFunc(servers, func(a, b Server) int { return cmp.Compare(b.Tools, a.Tools) })
	var text strings.Builder
	for i, s := range servers {
		one := fmt.Sprintf("%s (%d)", s.Name, s.Tools)
		switch {
		case i == 0 && s.Tools == 1:
			one = s.Name + " (1 tool)"
		case i == 0:
			one = fmt.Sprintf("%s (%d tools)", s.Name, s.Tools)
		default:
			one = ", " + one
		}
		const rest = 8 // what the number of those without room takes
		if tokens.Estimate([]byte(text.String()+one)) > most-rest {
			return fmt.Sprintf("%s, and %d more", text.String(), len(servers)-i)
		}
		text.WriteString(one)
	}
	return text.String()
}
