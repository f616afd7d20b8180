package names_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

func TestExported(t *testing.T) {
	for text, want := range map[string]string{
		"echo": "Echo", "get-sum": "GetSum", "get_user.by/id": "GetUserByID", "userId": "UserID", "userIDs": "UserIDs",
		"HTTPServer": "HTTPServer", "getHTTPSUrl": "GetHTTPSURL", "apiURLs": "APIURLs", "URLsByID": "URLsByID", "MAX_SIZE": "MaxSize",
		"utf8": "UTF8", "JSON": "JSON", "identity": "Identity", "Idle": "Idle",
		// Keywords and predeclared identifiers are no trouble in capitals.
		"type": "Type", "func": "Func", "nil": "Nil", "string": "String", "init": "Init", "_": "Underscore",
		// No capitals: 日 cannot begin an exported name, ß neither.
		"日本": "X日本", "名前": "X名前", "été": "Été", "ß": "Xß", "Ünïcode": "Ünïcode", "привет мир": "ПриветМир", "ǆ": "Ǆ",
		"1st": "X1st", "2d": "X2d", "-1": "Minus1", "+1": "Plus1", "1.5": "X1_5", "reactions--1": "ReactionsMinus1", "reactions-+1": "ReactionsPlus1", "a-1": "A1", "v1.15": "V1_15", "2025-11-25": "X2025_11_25",
		"": "Empty", "$": "Dollar", "<=": "LessEqual", "–": "U2013", "👍": "U1F44D", "$ref": "Ref", "a\"b": "AB", "line\nbreak": "LineBreak",
		"\x00": "U0000", "--": "MinusMinus",
	} {
		if got := names.Exported(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	long := names.Exported(strings.Repeat("many words ", 40))
	if len(long) > 80 || long == names.Exported(strings.Repeat("many words ", 41)) {
		t.Errorf("a long text gives %s", long)
	}
}

func TestJoin(t *testing.T) {
	for _, c := range [][3]string{
		{"GetAnnotatedMessage", "MessageType", "GetAnnotatedMessageType"},
		{"GetUserID", "IDType", "GetUserIDType"},
		{"ListURLs", "URLsItem", "ListURLsItem"},
		{"ArgsPrompt", "Prompt", "ArgsPrompt"},
		{"GetFileInfo", "FileInfoKind", "GetFileInfoKind"},
		{"Get", "Getter", "GetGetter"}, // no words in common
		{"Reset", "SetMode", "ResetSetMode"},
		{"X日本", "日本", "X日本日本"},
		{"Echo", "Params", "EchoParams"},
	} {
		name, full := names.Join(c[0], c[1])
		if name != c[2] || full != c[0]+c[1] {
			t.Errorf("%s and %s: got %s and %s, want %s", c[0], c[1], name, full, c[2])
		}
	}
}

func TestNest(t *testing.T) {
	for _, c := range [][3]string{
		{"WorkflowJobsFilter", "Filter", "WorkflowJobsFilterFilter"},
		{"GetFile", "FileName", "GetFileName"},
		{"", "Labels", "Labels"},
	} {
		if got := names.Nest(c[0], c[1]); got != c[2] {
			t.Errorf("%s and %s: got %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
