package ui_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestJoinPages(t *testing.T) {
	tests := []struct {
		name  string
		pages []string
		want  string
		items int
		err   string
	}{
		{"one page keeps its bytes", []string{` {"tools" : [ {"a":1.0} ], "nextCursor":null }`}, ` {"tools" : [ {"a":1.0} ], "nextCursor":null }`, 1, ""},
		{
			"joined",
			[]string{`{"_meta":{"n":9007199254740993}, "tools": [ {"a": 1.0}, {"b":2} ] ,"nextCursor":"x" , "ttlMs":5}`, `{"tools":[ {"c" : 3} ],"other":1}`},
			`{"_meta":{"n":9007199254740993}, "tools": [{"a": 1.0}, {"b":2},{"c" : 3}] ,"ttlMs":5}`, 3, "",
		},
		{"cursor first", []string{`{"nextCursor":"x", "tools":[1]}`, `{"tools":[2]}`}, `{"tools":[1,2]}`, 2, ""},
		{"cursor last", []string{`{"tools":[1],"nextCursor":"x"}`, `{"tools":[2]}`}, `{"tools":[1,2]}`, 2, ""},
		{"cursor with an escape", []string{`{"tools":[1],"next\u0043ursor":"x"}`, `{"tools":[2]}`}, `{"tools":[1,2]}`, 2, ""},
		{"empty pages", []string{`{"tools":[],"nextCursor":""}`, `{"tools":[ ]}`, `{"tools":[7]}`}, `{"tools":[7]}`, 1, ""},
		{"no list", []string{`{}`}, "", 0, `the result has no "tools"`},
		{"null", []string{`{"tools":null}`}, "", 0, `"tools" is not a list`},
		{"not a list", []string{`{"tools":{}}`}, "", 0, `"tools" is not a list`},
		{"not an object", []string{`[]`}, "", 0, `not a JSON object: "[]"`},
		{"nothing", nil, "", 0, `no "tools" came`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var pages []json.RawMessage
			for _, p := range tt.pages {
				pages = append(pages, json.RawMessage(p))
			}
			got, items, err := ui.JoinPages(pages, "tools")
			msg := ""
			if err != nil {
				msg = err.Error()
			}
			if msg != tt.err || string(got) != tt.want || len(items) != tt.items {
				t.Errorf("got %s, %d items, error %q; want %s, %d, %q", got, len(items), msg, tt.want, tt.items, tt.err)
			}
		})
	}
}

func FuzzJoinPages(f *testing.F) {
	f.Add(`{"a":1,"tools":[1],"nextCursor":"x"}`, `{"tools":[{}]}`)
	f.Add(`{"tools":[],"nextCursor":"x","nextCursor":1}`, `{"tools":[[]],"x":1}`)
	f.Add(`{"tools":[1]}#`, `{"tools":[{}]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		got, items, err := ui.JoinPages([]json.RawMessage{json.RawMessage(a), json.RawMessage(b)}, "tools")
		if err != nil {
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatalf("%q and %q gave %s: %v", a, b, got, err)
		}
		var list []json.RawMessage
		if err := json.Unmarshal(m["tools"], &list); err != nil || len(list) != len(items) {
			t.Errorf("%q and %q gave %s, want %d items", a, b, got, len(items))
		}
		if m["nextCursor"] != nil {
			t.Errorf("%s still has a cursor", got)
		}
	})
}

// TestToolProblem: an error's fields are one line each, in colour where there is colour.
func TestToolProblem(t *testing.T) {
	for text, want := range map[string]string{
		`{"errors":{"q":["required"],"n":["too big","odd"]}}`: "  ^[33mq^[0m: required\n  ^[33mn^[0m: too big\n  ^[33mn^[0m: odd\n",
		`Bad request: {"errors":{"q":["\u001b[2Jgone"]}}`:     "Bad request:\n  ^[33mq^[0m: gone\n",
		"nothing \x1b[31mfits":                                "nothing fits\n",
	} {
		raw, err := json.Marshal(map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": text}}})
		require.NoError(t, err)
		r, err := runtime.ParseToolResult(raw)
		require.NoError(t, err)
		var out bytes.Buffer
		u := ui.New(strings.NewReader(""), &out, io.Discard)
		u.Text, u.Color = true, true
		require.NoError(t, u.ToolResult(r, nil))
		if got := strings.ReplaceAll(out.String(), "\x1b", "^"); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", text, got, want)
		}
	}
}

func TestToolResult(t *testing.T) {
	png, long := []byte("\x89PNG...."), strings.Repeat("AbC/", 20)
	tests := []struct{ name, result, want, note string }{
		{"text", `{"content":[{"type":"text","text":"a\nb"},{"type":"text","text":"c\n"}]}`, "a\nb\nc\n", ""},
		{"escapes", `{"content":[{"type":"text","text":"\u001b[31mred\u001b[0m\u0007\u202e"}]}`, "red\n", ""},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"iVBORy4uLi4="}]}`, "[image: image/png, 8 bytes]\n", ""},
		{"link", `{"content":[{"type":"resource_link","uri":"demo://a","name":"n","title":"A\u001b]0;x\u0007 b","mimeType":"text/plain"}]}`, "[link: demo://a, A b, text/plain]\n", ""},
		{"embedded text", `{"content":[{"type":"resource","resource":{"uri":"demo://a","text":"hi"}}]}`, "[resource: demo://a]\nhi\n", ""},
		{"embedded bytes", `{"content":[{"type":"resource","resource":{"uri":"demo://a","mimeType":"application/gzip","blob":"AAAA"}}]}`, "[resource: demo://a, application/gzip, 3 bytes]\n", ""},
		{"later revision", `{"content":[{"type":"video","x":1}]}`, "[content of type video: shown by --json]\n", ""},
		{"structured alone", `{"content":[],"structuredContent":{"n":9007199254740993,"o":{"x":1.0}}}`, "{\n  \"n\": 9007199254740993,\n  \"o\": {\n    \"x\": 1.0\n  }\n}\n", ""},
		{"bytes once", `{"content":[{"type":"image","mimeType":"image/png","data":"` + long + `"}],"structuredContent":{"data":"` + long + `","url":"data:image/png;base64,` + long + `","n":1}}`, "[image: image/png, 60 bytes]\n{\n  \"data\": \"[60 bytes]\",\n  \"url\": \"data:image/png;base64,[60 bytes]\",\n  \"n\": 1\n}\n", ""},
		{"text says it", `{"content":[{"type":"text","text":"3"}],"structuredContent":{"n":3}}`, "3\n", ""},
		{"empty", `{"content":[]}`, "", "the result is empty\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := runtime.ParseToolResult(json.RawMessage(tt.result))
			require.NoError(t, err)
			var out, note bytes.Buffer
			u := ui.New(strings.NewReader(""), &out, &note)
			u.Text = true
			require.NoError(t, u.ToolResult(r, nil))
			if diff := cmp.Diff([]string{tt.want, tt.note}, []string{out.String(), note.String()}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			out.Reset()
			u.Text = false
			if err := u.ToolResult(r, nil); err != nil || out.String() != tt.result+"\n" {
				t.Errorf("as JSON got %s, %v", out.String(), err)
			}
		})
	}
	t.Run("saved", func(t *testing.T) {
		r, err := runtime.ParseToolResult(json.RawMessage(tests[2].result))
		require.NoError(t, err)
		dir := filepath.Join(t.TempDir(), "new", "dir")
		for _, asText := range []bool{true, false, true} {
			var out, note bytes.Buffer
			u := ui.New(strings.NewReader(""), &out, &note)
			u.Text = asText
			require.NoError(t, u.ToolResult(r, &ui.Saver{Dir: dir}))
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			if len(files) != 1 || !strings.HasSuffix(files[0], ".png") {
				t.Fatalf("got files %q, want one .png", files)
			}
			if got, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(got, png) {
				t.Errorf("got %q, %v", got, err)
			}
			if told := out.String() + note.String(); !strings.Contains(told, "saved as "+files[0]) {
				t.Errorf("nothing tells where: %s", told)
			}
		}
	})
}

// TestSavedAsFile: one image goes to the file that is named, several into a directory, and
// so does one where a directory is named.
func TestSavedAsFile(t *testing.T) {
	const image = `{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"text","text":"it"}`
	other := strings.Replace(image, "AAAA", "BBBB", 1)
	existing := filepath.Join(t.TempDir(), "v1.2")
	require.NoError(t, os.Mkdir(existing, 0o700))
	dir := t.TempDir()
	for _, c := range []struct{ path, content, want string }{
		{filepath.Join(dir, "new", "out.png"), image, filepath.Join(dir, "new", "out.png")},
		{filepath.Join(dir, "two.png"), image + "," + other, filepath.Join(dir, "two.png", "*.png")},
		{filepath.Join(dir, "plain"), image, filepath.Join(dir, "plain", "*.png")},
		{filepath.Join(dir, "v1.3") + string(filepath.Separator), image, filepath.Join(dir, "v1.3", "*.png")},
		{existing, image, filepath.Join(existing, "*.png")},
	} {
		for _, asText := range []bool{true, false} {
			r, err := runtime.ParseToolResult(json.RawMessage(`{"content":[` + c.content + `]}`))
			require.NoError(t, err)
			var out, note bytes.Buffer
			u := ui.New(strings.NewReader(""), &out, &note)
			u.Text = asText
			require.NoError(t, u.ToolResult(r, &ui.Saver{Dir: c.path}))
			files, _ := filepath.Glob(c.want)
			if len(files) == 0 || !strings.Contains(out.String()+note.String(), "saved as "+files[0]) {
				t.Errorf("%s: no %s, told %s%s", c.path, c.want, out.String(), note.String())
			}
			if info, err := os.Stat(c.want); err == nil && !info.Mode().IsRegular() {
				t.Errorf("%s is no file", c.want)
			}
		}
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	for _, text := range []string{"one", "two"} {
		require.NoError(t, ui.WriteFile(name, []byte(text)))
		if got, _ := os.ReadFile(name); string(got) != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	if err := ui.WriteFile(dir, nil); err == nil {
		t.Error("a directory was written to")
	}
	none := filepath.Join(dir, "none", "f")
	if err := ui.WriteFile(none, nil); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "write "+none+": ") {
		t.Errorf("in a folder that is not there: got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 12345: "12 kB", 999_600: "1.0 MB", 3_400_000: "3.4 MB", 12_000_000: "12 MB", 5_000_000_000: "5.0 GB"} {
		if got := ui.Size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

// notify signals every write.
type notify struct {
	mu    sync.Mutex
	all   strings.Builder
	wrote chan string
}

func (n *notify) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all.Write(b)
	n.wrote <- string(b)
	return len(b), nil
}

func (n *notify) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all.String()
}

func TestProgress(t *testing.T) {
	w := &notify{wrote: make(chan string, 100)}
	u := ui.New(strings.NewReader(""), io.Discard, w)
	if p := u.StartProgress(); p != nil {
		t.Fatal("a line is drawn where there is no terminal")
	}
	u.ErrTTY = true
	p := u.StartProgress()
	total := 4.0
	p.Update(runtime.Progress{Progress: 1, Total: &total, Message: "read\x1b[2Jing\n" + strings.Repeat("x", 100)})
	first := <-w.wrote
	if want := "\r\x1b[2K[#####---------------]  25% reading xxx"; !strings.HasPrefix(first, want) || len([]rune(first)) > 5+79 {
		t.Errorf("got %q, want %q… in 79 columns", first, want)
	}
	p.Update(runtime.Progress{Progress: 7})
	if got := <-w.wrote; got != "\r\x1b[2K7" {
		t.Errorf("got %q", got)
	}
	p.Stop()
	p.Stop()
	p.Update(runtime.Progress{Progress: 8})
	if got := w.String(); !strings.HasSuffix(got, "\r\x1b[2K") {
		t.Errorf("the line is not erased: %q", got)
	}
	u.StartProgress().Stop() // nothing drawn, nothing erased
	if got := w.String(); strings.HasSuffix(got, "\r\x1b[2K\r\x1b[2K") {
		t.Error("erased twice")
	}
	var none *ui.Progress
	none.Update(runtime.Progress{})
	none.Stop()
}

func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	defer w.Close()
	_, err = w.Write([]byte("x"))
	if err == nil || ui.ReaderGone(err) {
		t.Errorf("%v of another pipe is taken for standard output's", err)
	}
	var broken *os.PathError
	if !errors.As(err, &broken) {
		t.Fatalf("got %T", err)
	}
	broken.Path = os.Stdout.Name() // the same failure, of standard output
	if !ui.ReaderGone(err) {
		t.Errorf("%v is not seen as a reader that went away", err)
	}
	if ui.ReaderGone(nil) || ui.ReaderGone(errors.New("x")) {
		t.Error("any error will do")
	}
}
