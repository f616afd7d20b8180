package rawjson_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// accepted reports whether another reader takes a text.
func accepted(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if !utf8.Valid(text) || d.SkipValue() != nil {
		return false
	}
	_, err := d.ReadToken()
	return errors.Is(err, io.EOF)
}

func agree(t *testing.T, text []byte) {
	t.Helper()
	err := rawjson.Valid(text)
	if want := accepted(text); (err == nil) != want {
		t.Fatalf("%.200q: got %v, but jsontext says %v", text, err, want)
	}
	if err != nil && err.Error() == "" {
		t.Fatalf("%.200q: an error without words", text)
	}
}

// TestGrammar: texts of every kind are taken and refused as jsontext does.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, ` `, `{`, `}`, `[`, `]`, `{}`, `[]`, `[,]`, `[1,]`, `[1 2]`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a" 1}`, `{1:2}`, `{"a":1 "b":2}`, `[}`, `{]`, `[1}`, `{"a":1]`,
		`0`, `-0`, `-`, `+1`, `01`, `-01`, `1.`, `.1`, `1.0`, `1e`, `1e+`, `1e+1`, `1E-01`, `1e1.5`, `0x1`, `1_0`, `--1`, `NaN`, `Infinity`, `1 1`, "1\x00", "\x001",
		`true`, `tru`, `truex`, `True`, `false`, `null`, `nul`, `[truefalse]`, `[true,false,null]`,
		`"`, `"a`, `"\"`, `"\\"`, `"\x"`, `"\u"`, `"\u12"`, `"\u12g4"`, `"\u00aF"`, `"\uD800"`, `"\uD83D\uDE00"`, `"\/\b\f\n\r\t"`, "\"\t\"", "\"\x1f\"", "\"\x7f\"", "\"\u2028é\"", "\"\xff\"", `'a'`,
		"\ufeff{}", "{}\n", "\v{}", "\u00a0{}", "[\r\n\t 1 , 2 ]", `// c`, `[1/**/]`, `{}{}`, `{} x`,
	} {
		agree(t, []byte(text))
	}
	for _, depth := range []int{9_999, 10_000, 10_001} {
		agree(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		agree(t, []byte(strings.Repeat(`{"":`, depth)+"1"+strings.Repeat("}", depth)))
		agree(t, []byte(strings.Repeat("[", depth)))
	}
}

// TestGrammarOfStrings: what ends a string or must not stand in it is found at every
// place of texts that are longer than what is looked at in one step.
func TestGrammarOfStrings(t *testing.T) {
	t.Parallel()
	for length := 0; length < 80; length += 1 + length/16 {
		for at := range length + 1 {
			for _, part := range []string{`"`, `\`, `\n`, "\n", "\x00", "\x1f", " ", "é", "\x80", "#", "]"} {
				text := strings.Repeat("a", at) + part + strings.Repeat("!", length-at)
				agree(t, []byte(`{"`+text+`":["`+text+`"]}`))
			}
		}
	}
}

// TestGrammarOfMutations: texts with bytes changed, left out and repeated at random
// are taken and refused as jsontext does.
func TestGrammarOfMutations(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const bytesOf = "{}[]\":,\\/u0123456789aAfFeE+-. \n\ttruefalsn\x00\x1f\xc3\xa9"
	for range 5_000 {
		text := []byte(call)
		for range 1 + r.IntN(3) {
			i := r.IntN(len(text))
			switch r.IntN(3) {
			case 0:
				text[i] = bytesOf[r.IntN(len(bytesOf))]
			case 1:
				text = append(text[:i], text[min(len(text), i+1+r.IntN(4)):]...)
			default:
				text = append(text[:i:i], append([]byte{bytesOf[r.IntN(len(bytesOf))]}, text[i:]...)...)
			}
		}
		agree(t, text)
	}
}

func FuzzGrammar(f *testing.F) {
	f.Add([]byte(call))
	f.Add([]byte(`[1e5,"\u00e9",{"a":[null,true,-0.5]}]`))
	f.Fuzz(agree)
}

func BenchmarkScanLarge(b *testing.B) {
	text := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("0123456789abcdef", 4<<10) + `"}}}`)
	var m rawjson.Message
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := rawjson.Scan(text, &m); err != nil {
			b.Fatal(err)
		}
	}
}
