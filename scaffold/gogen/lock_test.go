package gogen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/test/require"
)

// lockList is a list of everything, with unknown members, numbers that float64
// does not hold, and characters that JSON encoders like to escape.
const lockList = `{
  "tools": [
    {"name": "b", "inputSchema": {"type": "object", "properties": {"n": {"const": 9007199254740993, "maximum": 1.50e3, "x-own": [1.0]}}}},
    {"name": "a", "description": "<a> & \"b\" – 日本", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "icons": []}
  ],
  "prompts": [{"name": "p", "arguments": [{"name": "x", "required": true}]}],
  "resources": [{"uri": "demo://b", "name": "b", "size": 3}, {"uri": "demo://a", "name": "a"}],
  "resourceTemplates": [{"uriTemplate": "demo://{id}", "name": "t"}],
  "nextCursor": "x"
}`

func lock(t *testing.T, data string) *gogen.Lock {
	t.Helper()
	list, err := gogen.ParseTools([]byte(data))
	require.NoError(t, err)
	list.Implementation = runtime.Implementation{Name: "demo", Version: "1.0"}
	list.Protocol = "2025-11-25"
	list.Names = &gogen.Names{Tools: map[string]string{"a": "A", "b": "Bee"}}
	return &gogen.Lock{List: *list}
}

func marshal(t *testing.T, l *gogen.Lock) []byte {
	t.Helper()
	data, err := l.Marshal()
	require.NoError(t, err)
	return data
}

func TestLockFile(t *testing.T) {
	l := lock(t, lockList)
	data := marshal(t, l)
	for _, want := range []string{
		"\n  \"_meta\": {\n    \"mcpctl/lock\": {\n      \"format\": 1,", `"const": 9007199254740993`, `"maximum": 1.50e3`, `"x-own": [`, "1.0\n",
		`"<a> & \"b\" – 日本"`, `"icons": []`, `"size": 3`, `"required": true`, `"structure": "sha256:`, `"protocol": "2025-11-25"`,
	} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("there is no %s in\n%s", want, data)
		}
	}
	if bytes.Index(data, []byte(`"name": "a"`)) > bytes.Index(data, []byte(`"name": "b"`)) || bytes.Contains(data, []byte("nextCursor")) {
		t.Errorf("not in the form of a lock file:\n%s", data)
	}
	var result struct{ Tools []runtime.Tool }
	if err := json.Unmarshal(data, &result); err != nil || len(result.Tools) != 2 {
		t.Errorf("as a tools/list result: %+v, %v", result, err)
	}

	// The order of the lists has no influence, and reading returns what was
	// written.
	slices.Reverse(l.Tools)
	slices.Reverse(l.Resources)
	if again := marshal(t, l); !bytes.Equal(again, data) {
		t.Errorf("another order: %s", cmp.Diff(string(data), string(again)))
	}
	back, err := gogen.ParseLock(data)
	require.NoError(t, err)
	if again := marshal(t, back); !bytes.Equal(again, data) {
		t.Errorf("read and written again: %s", cmp.Diff(string(data), string(again)))
	}
	if back.Implementation != l.Implementation || back.Protocol != l.Protocol || !cmp.Equal(back.Names, l.Names) {
		t.Errorf("read: %+v", back)
	}
	// Line ends of a checkout on Windows.
	if _, err := gogen.ParseLock(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))); err != nil {
		t.Error(err)
	}
	// And read by --from.
	if list, err := gogen.ParseTools(data); err != nil || len(list.Prompts) != 1 || len(list.Resources) != 2 || len(list.Templates) != 1 || list.Names == nil {
		t.Errorf("as a list: %+v, %v", list, err)
	}
}

// TestLockFileDiff: another tool changes one place of each part, in whole lines.
func TestLockFileDiff(t *testing.T) {
	before := strings.Split(string(marshal(t, lock(t, `{"tools":[{"name":"a","inputSchema":{}},{"name":"c","inputSchema":{}}]}`))), "\n")
	after := strings.Split(string(marshal(t, lock(t, `{"tools":[{"name":"c","inputSchema":{}},{"name":"b","inputSchema":{}},{"name":"a","inputSchema":{}}]}`))), "\n")
	i := 0
	for _, line := range after {
		if i < len(before) && before[i] == line {
			i++
		}
	}
	if i < len(before) {
		t.Errorf("line %d is gone or moved: %s", i+1, before[i])
	}
}

func TestLockFileBroken(t *testing.T) {
	good := string(marshal(t, lock(t, lockList)))
	for name, c := range map[string]struct{ data, reason, hint string }{
		"newer":      {strings.Replace(good, `"format": 1`, `"format": 2, "names": 3`, 1), "newer mcpctl: it has format 2, this one knows 1", "update mcpctl"},
		"no format":  {strings.Replace(good, `"format": 1`, `"format": 0`, 1), "damaged", "restore"},
		"half":       {good[:len(good)/2], "damaged: read tools: line ", "restore"},
		"empty":      {"", "damaged", "restore"},
		"names":      {strings.Replace(good, `"names": {`, `"names": [], "x": {`, 1), "damaged: _meta mcpctl/lock", "restore"},
		"an entry":   {strings.Replace(good, `"name": "a"`, `"name": 1`, 1), "damaged: read resource 0", "restore"},
		"no tools":   {`{"_meta":{"mcpctl/lock":{"format":1}}}`, "no member tools", "restore"},
		"plain list": {lockList, "no lock file", "--from"},
		"merge":      {strings.Replace(good, "\n", "\n<<<<<<< HEAD\n", 1), "line 2: the marks of an unfinished merge", "git checkout --ours"},
	} {
		_, err := gogen.ParseLock([]byte(c.data))
		var lockErr *gogen.LockError
		if !errors.As(err, &lockErr) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.reason) || !strings.Contains(lockErr.Hint(), c.hint) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %q, hint %q", name, err, lockErr.Hint())
		}
	}
	// A tool that is not JSON is not written into a file.
	if _, err := (&gogen.Lock{List: gogen.List{Tools: []runtime.Tool{{Name: "a", Raw: []byte("{")}}}}).Marshal(); err == nil {
		t.Error("broken JSON was written")
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte(lockList))
	f.Add([]byte(`{"tools":[{"name":"a"}],"_meta":{"mcpctl/lock":{"format":1,"names":{"types":{"a":null},"retired":[{}]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := gogen.ParseLock(data)
		if err != nil {
			return
		}
		first, err := l.Marshal()
		if err != nil {
			t.Skip(err)
		}
		again, err := gogen.ParseLock(first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := marshal(t, again); !bytes.Equal(first, second) {
			t.Fatalf("%s", cmp.Diff(string(first), string(second)))
		}
	})
}
