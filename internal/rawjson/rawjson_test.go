package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/test/require"
)

const call = ` {"jsonrpc":"2.0", "id" : 9007199254740993,"method":"tools/call","params": {"x":[1.0,{"id":3}],"name":"a__b","arguments":{"name":"inner","v":1e3},"_meta":{"progressToken":"t\n","k":{}}},"grease":null} `

func TestScanFindsParts(t *testing.T) {
	var m rawjson.Message
	require.NoError(t, rawjson.Scan([]byte(call), &m))
	for _, c := range []struct {
		what string
		span rawjson.Span
		want string
	}{
		{"id", m.ID, `9007199254740993`},
		{"method", m.Method, `"tools/call"`},
		{"name", m.Name, `"a__b"`},
		{"arguments", m.Arguments, `{"name":"inner","v":1e3}`},
		{"_meta", m.Meta, `{"progressToken":"t\n","k":{}}`},
		{"token", m.MetaToken, `"t\n"`},
		{"result", m.Result, ``},
	} {
		if got := string(c.span.Of([]byte(call))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
	if p := string(m.Params.Of([]byte(call))); !strings.HasPrefix(p, `{"x"`) || !strings.HasSuffix(p, `"k":{}}}`) {
		t.Errorf("params: got %s", p)
	}
}

func TestScanRefuses(t *testing.T) {
	var dup *rawjson.DuplicateError
	for name, c := range map[string]struct {
		text  string
		check func(error) bool
	}{
		"array":             {`[]`, func(err error) bool { return errors.Is(err, rawjson.ErrNotObject) }},
		"number":            {`1`, func(err error) bool { return errors.Is(err, rawjson.ErrNotObject) }},
		"empty":             {``, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		"cut":               {`{"id":1`, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		"trailing text":     {`{"id":1} x`, func(err error) bool { return err != nil }},
		"two objects":       {`{"id":1}{"id":2}`, func(err error) bool { return err != nil }},
		"raw invalid UTF-8": {"{\"id\":\"\xff\"}", func(err error) bool { return errors.Is(err, rawjson.ErrInvalidUTF8) }},
		"duplicate id":      {`{"id":1,"id":2}`, func(err error) bool { return errors.As(err, &dup) && dup.Member == "id" }},
		"id among others":   {`{"method":"a","id":1,"method":"b","id":2,"method":"c"}`, func(err error) bool { return errors.As(err, &dup) && dup.Member == "id" }},
		"escaped duplicate": {`{"id":1,"\u0069d":2}`, func(err error) bool { return errors.As(err, &dup) && dup.Member == "id" }},
		"duplicate name":    {`{"params":{"name":"a","name":"b"}}`, func(err error) bool { return errors.As(err, &dup) && dup.Member == "name" }},
		"duplicate params":  {`{"params":{"name":"a"},"params":{}}`, func(err error) bool { return errors.As(err, &dup) && dup.Member == "params" }},
		"bad number":        {`{"id":01}`, func(err error) bool { return err != nil }},
	} {
		var m rawjson.Message
		if err := rawjson.Scan([]byte(c.text), &m); !c.check(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestScanAllows(t *testing.T) {
	for name, text := range map[string]string{
		"deep duplicates":          `{"params":{"arguments":{"a":1,"a":2}}}`,
		"escaped lone surrogate":   `{"params":{"arguments":{"a":"\ud800"}}}`,
		"params that is an array":  `{"params":[1]}`,
		"_meta that is a string":   `{"params":{"_meta":"x"}}`,
		"case differs: other name": `{"ID":1,"id":2}`,
	} {
		var m rawjson.Message
		if err := rawjson.Scan([]byte(text), &m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFieldsAndElements(t *testing.T) {
	text := []byte(`{"tools":[ {"name":"a"} , 2,"x"],"nextCursor":"c"}`)
	var at [2]rawjson.Span
	require.NoError(t, rawjson.Fields(text, at[:], "tools", "nextCursor"))
	list := at[0].Of(text)
	elements, err := rawjson.Elements(list)
	require.NoError(t, err)
	var got []string
	for _, e := range elements {
		got = append(got, string(e.Of(list)))
	}
	if want := `{"name":"a"}|2|"x"`; strings.Join(got, "|") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if s, ok := rawjson.String(text, at[1]); !ok || s != "c" {
		t.Errorf("cursor: got %q %v", s, ok)
	}
	if _, err := rawjson.Elements([]byte(`{}`)); !errors.Is(err, rawjson.ErrNotArray) {
		t.Errorf("elements of an object: got %v", err)
	}
}

func TestInsertion(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:       `{"k":1}`,
		`{ }`:      `{"k":1 }`,
		`{"a":{}}`: `{"k":1,"a":{}}`,
	} {
		got := rawjson.Splice(nil, []byte(in), rawjson.Insertion([]byte(in), rawjson.Span{End: len(in)}, "k", []byte("1")))
		if string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(call))
	f.Add([]byte(`{"id":"\u0061","params":{"_meta":{"progressToken":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m rawjson.Message
		err := rawjson.Scan(text, &m)
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("scan took what encoding/json refuses: %v", err)
		}
		for name, at := range map[string]rawjson.Span{"id": m.ID, "method": m.Method, "params": m.Params, "result": m.Result, "error": m.Error} {
			if at.Present() != (want[name] != nil) || !bytes.Equal(at.Of(text), want[name]) {
				t.Fatalf("%s: got %q, want %q", name, at.Of(text), want[name])
			}
		}
	})
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte(call), "new")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		var m rawjson.Message
		if rawjson.Scan(text, &m) != nil || !m.Name.Present() {
			return
		}
		out := rawjson.Splice(nil, text, rawjson.Edit{Span: m.Name, New: rawjson.Quote(nil, name)})
		if !bytes.HasPrefix(out, text[:m.Name.Start]) || !bytes.HasSuffix(out, text[m.Name.End:]) {
			t.Fatal("splice touched other bytes")
		}
		var again rawjson.Message
		if err := rawjson.Scan(out, &again); err != nil {
			t.Fatalf("spliced text is not a message: %v", err)
		}
		if got, _ := rawjson.String(out, again.Name); got != strings.ToValidUTF8(name, "\uFFFD") && !strings.ContainsRune(got, '\uFFFD') {
			t.Fatalf("got name %q, want %q", got, name)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	text := []byte(call)
	var m rawjson.Message
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, rawjson.Scan(text, &m))
	}
}
