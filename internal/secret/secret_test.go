package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/quick"

	"github.com/mcpctl/mcpctl/internal/secret"
)

const canary = `s3cr3t/"canary"+&%ä?`

// TestTextIsNotPrinted: whatever prints a value that holds one does not print
// the secret.
func TestTextIsNotPrinted(t *testing.T) {
	t.Parallel()
	type inner struct{ hidden secret.Text }
	type holder struct {
		Open   secret.Text
		Ptr    *secret.Text
		Map    map[string]secret.Text
		List   []secret.Text
		closed secret.Text
		inner  inner
	}
	text := secret.New(canary)
	h := holder{text, &text, map[string]secret.Text{"k": text}, []secret.Text{text}, text, inner{text}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s", "%t", "%p"} {
		for _, v := range []any{text, &text, h, &h, []any{text}, fmt.Errorf("x %v", text)} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).With("w", text).Info("m", "t", text, "p", &text, "h", h, slog.Group("g", "t", text))
	}
	for _, v := range []any{text, h, map[string]any{"t": text}, map[secret.Text]int{text: 1}} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		out.Write(raw)
	}
	for _, leak := range []string{"s3cr3t", "canary", fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary)} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%s is printed:\n%s", leak, out.String())
		}
	}
	if text.Reveal() != canary || !text.Equal(secret.New(canary)) || text.Equal(secret.New("x")) || text.IsZero() {
		t.Error("the text is not what it was made of")
	}
	var zero secret.Text
	if zero.Reveal() != "" || fmt.Sprint(zero) != "" || !zero.IsZero() || !secret.New("").IsZero() {
		t.Error("the zero value is not the empty text")
	}
}

// encodings are the forms in which a secret is to be found.
func encodings(s string) map[string]string {
	std, raw := base64.StdEncoding, base64.RawURLEncoding
	quoted, _ := json.Marshal(s)
	return map[string]string{
		"plain": s, "base64": std.EncodeToString([]byte(s)), "base64url": base64.URLEncoding.EncodeToString([]byte(s)),
		"base64 unpadded": base64.RawStdEncoding.EncodeToString([]byte(s)), "base64url unpadded": raw.EncodeToString([]byte(s)),
		"Basic, aligned 1": "Basic " + std.EncodeToString([]byte("abcdef:"+s)), "Basic, aligned 2": "Basic " + std.EncodeToString([]byte("abcdefg:"+s)),
		"Basic, aligned 0": "Basic " + std.EncodeToString([]byte("abcde:"+s+":more")),
		"query":            url.QueryEscape(s), "path": url.PathEscape(s), "lower case": strings.ToLower(url.QueryEscape(s)) + s[:0],
		"JSON": string(quoted), "Go": fmt.Sprintf("%q", s), "HTML": html.EscapeString(s),
		"wrapped": s[:7] + "\n" + s[7:], "wrapped base64": std.EncodeToString([]byte(s))[:9] + "\r\n" + std.EncodeToString([]byte(s))[9:],
	}
}

func TestRedactorFindsEncodings(t *testing.T) {
	t.Parallel()
	s := "s3cr3t/canary+&%ä?~x"
	r := secret.NewRedactor(secret.New(s), secret.New("short"))
	for name, text := range encodings(s) {
		if name == "lower case" {
			text = strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%C3%A4", "%c3%a4", "%3F", "%3f").Replace(url.QueryEscape(s))
		}
		got := r.String("before " + text + " after short")
		// Of an encoded secret inside of another, up to two characters around it stay.
		if strings.Contains(got, "canary") || !strings.Contains(got, secret.Redacted) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after short") || len(got) > len(text)+25 {
			t.Errorf("%s: %q gives %q", name, text, got)
		}
	}
	for _, none := range []*secret.Redactor{nil, {}, secret.NewRedactor(), secret.NewRedactor(secret.New("short"))} {
		if got := none.String(s) + string(none.Bytes([]byte(s))) + string(none.JSON([]byte(s))) + none.Beginning(s, 100) + none.Lines().Next(s); got != strings.Repeat(s, 5) || !none.Empty() {
			t.Errorf("an empty redactor gives %q", got)
		}
	}
}

// TestRedactorOverlaps: what overlaps, touches or is inside of another goes as a
// whole.
func TestRedactorOverlaps(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor(secret.New("abcdefgh"), secret.New("efghijkl"), secret.New("abcdefghijklmnop"), secret.New("12345678"))
	for in, want := range map[string]string{
		"abcdefgh":                 "[redacted]",
		"xabcdefghijklx":           "x[redacted]x",
		"abcdefghijklmnopq":        "[redacted]q",
		"abcdefgh12345678":         "[redacted]",
		"abcdefg efghijk":          "abcdefg efghijk",
		"abcdefgh-abcdefgh":        "[redacted]-[redacted]",
		"":                         "",
		"a\nbcdefgh\nnext":         "[redacted]\nnext",
		"abcdefghabcdefg":          "[redacted]abcdefg",
		"\xff\xfeabcdefgh\xffrest": "\xff\xfe[redacted]\xffrest",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestRedactorJSON(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor(secret.New(canary), secret.New("19840512"), secret.New("sk-plain-key"))
	quoted, _ := json.Marshal(canary)
	escaped := `"s3cr3t\/\u0022can\u0061ry\u0022+\u0026%\u00e4?"`
	for in, want := range map[string]string{
		`{"code":-32000,"message":` + string(quoted) + `}`: `{"code":-32000,"message":"[redacted]"}`,
		`{"message":` + escaped + `,"x":1.50}`:             `{"message":"[redacted]","x":1.50}`,
		`{"sk-plain-key":["a sk-plain-key b",19840512]}`:   `{"[redacted]":["a [redacted] b",0]}`,
		`{"a":"no secret \u0041","b":[1,2,"\\"]}`:          `{"a":"no secret \u0041","b":[1,2,"\\"]}`,
		`{"unclosed":"sk-plain-key`:                        `{"unclosed":"[redacted]"`,
	} {
		if got := string(r.JSON([]byte(in))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestBeginning: a cut does not leave the beginning of a secret.
func TestBeginning(t *testing.T) {
	t.Parallel()
	const s = "sk-0123456789abcdef"
	r := secret.NewRedactor(secret.New(s))
	text := strings.Repeat("x", 90) + s + strings.Repeat("y", 90)
	for n := range len(text) {
		got := r.Beginning(text, n)
		if strings.Contains(got, "sk-0") || len(got) > n+len(secret.Redacted) {
			t.Fatalf("%d: %q", n, got)
		}
		if cut := r.Beginning(text[:n], n); strings.Contains(cut, "sk-0") {
			t.Fatalf("%d, of a text that is cut: %q", n, cut)
		}
	}
}

// TestLines: a secret that line breaks divide is found in a text that comes line
// by line, wherever they are.
func TestLines(t *testing.T) {
	t.Parallel()
	const s = "sk-0123456789abcdef"
	r := secret.NewRedactor(secret.New(s))
	for i := 1; i < len(s); i++ {
		for j := i; j < len(s); j++ {
			l := r.Lines()
			got := l.Next("first") + "|" + l.Next("key: "+s[:i]) + "|" + l.Next(s[i:j]) + "|" + l.Next(s[j:]+" end") + "|" + l.Next("last")
			if strings.Contains(got, "abcdef") || strings.Contains(got, "sk-0") || !strings.HasPrefix(got, "first|key: ") || !strings.HasSuffix(got, " end|last") {
				t.Errorf("%d, %d: %q", i, j, got)
			}
		}
	}
}

// TestMultiline: a key in PEM goes as a whole, and line by line.
func TestMultiline(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n"
	r := secret.NewRedactor(secret.New(key))
	for _, text := range []string{key, "x MIIEvQIBADANBgkqhkiG9w0BAQEFAASC y", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", strings.ReplaceAll(key, "\n", `\n`)} {
		if got := r.String(text); strings.Contains(got, "MII") || strings.Contains(got, "BKc") {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor(secret.New("sk-0123456789"))
	err := fmt.Errorf("token sk-0123456789: %w", io.ErrUnexpectedEOF)
	got := r.Error(err)
	if got.Error() != "token [redacted]: unexpected EOF" || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", got)
	}
	if !errors.Is(r.Error(io.EOF), io.EOF) || r.Error(io.EOF).Error() != "EOF" || r.Error(nil) != nil {
		t.Error("errors without secrets have changed")
	}
}

// TestAdd: a secret added later is replaced from then on, also by handlers of the
// redactor.
func TestAdd(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor()
	var out bytes.Buffer
	log := slog.New(r.Handler(slog.NewTextHandler(&out, nil)))
	lines := r.Lines()
	if got := r.String("tok-0123456789 tok-9876543210"); got != "tok-0123456789 tok-9876543210" {
		t.Errorf("got %s", got)
	}
	r.Add(secret.New("tok-0123456789"))
	first := r.String("tok-0123456789 tok-9876543210")
	r.Add(secret.New("tok-9876543210"), secret.New("tok-0123456789"), secret.New("short"))
	if got := r.String("tok-0123456789 tok-9876543210 short"); first != "[redacted] tok-9876543210" || got != "[redacted] [redacted] short" {
		t.Errorf("got %s, then %s", first, got)
	}
	log.Info("m", "t", "tok-9876543210")
	if got := out.String() + lines.Next("tok-0123456789"); strings.Contains(got, "tok-") {
		t.Errorf("got %s", got)
	}
}

// TestSet: what other secrets have taken the place of stays redacted for some time, unless it
// is public.
func TestSet(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor(secret.New("generation-000"))
	set := func(text string, public ...string) {
		t.Helper()
		open := map[string]bool{}
		for _, p := range public {
			open[p] = true
		}
		r.Set([]secret.Text{secret.New(text), secret.New("of-the-server"), secret.New("short")}, open)
		for _, hidden := range []string{text, "of-the-server"} {
			if got := r.String(hidden); got != secret.Redacted {
				t.Errorf("%q becomes %q", hidden, got)
			}
		}
	}
	for i := range 128 {
		set(fmt.Sprintf("generation-%03d", i+1))
	}
	r.Refresh(secret.New("token-of-now"))
	if got := r.String("generation-000 generation-001x generation-127"); got != "[redacted] [redacted]x [redacted]" {
		t.Errorf("got %q", got)
	}
	set("generation-129", "generation-127")
	if got := r.String("generation-000 generation-127 generation-128 token-of-now short"); got != "generation-000 generation-127 [redacted] [redacted] short" {
		t.Errorf("got %q", got)
	}
}

// TestRefresh: of tokens the last 32 are redacted, and what was used again is one of them.
func TestRefresh(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor(secret.New("of-the-entry"))
	for i := range 100 {
		r.Refresh(secret.New(fmt.Sprintf("token-number-%02d", i)), secret.New("of-the-client"), secret.New(""))
	}
	text := "token-number-68 token-number-69 token-number-99 of-the-client of-the-entry"
	if got, want := r.String(text), "token-number-68 [redacted] [redacted] [redacted] [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	const s = "sk-0123456789"
	r := secret.NewRedactor(secret.New(s))
	var out bytes.Buffer
	log := slog.New(r.Handler(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.With("w", "x "+s).WithGroup("g").Debug("m", "s", s, "err", errors.New("bad "+s), "list", []string{"a", s}, "n", 3, slog.Group("in", "s", s))
	if got := out.String(); strings.Contains(got, s) || strings.Count(got, secret.Redacted) != 5 || !strings.Contains(got, `"n":3`) {
		t.Errorf("got %s", got)
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "githubToken": true, "API_KEY": true, "apiKey": true, "APIKey": true, "X-Api-Key": true, "--db-password": true, "PGPASSWORD": true,
		"MYSQL_PWD": true, "AWS_SECRET_ACCESS_KEY": true, "GOOGLE_APPLICATION_CREDENTIALS": true, "AUTH": true, "GITHUB_PAT": true, "SENTRY_DSN": true, "DB_CONN": true,
		"PASSWD": true, "Authorization": true, "--token": true,
		"PWD": false, "OLDPWD": false, "HOME": false, "PATH": false, "PATTERN": false, "MONKEY": false, "KEYBOARD": false, "AUTHOR": false, "LOG_LEVEL": false, "COMPASS": false, "": false,
	} {
		if got := secret.LooksName(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for text, want := range map[string]bool{
		"ghp_0123456789abcdef0123": true, "github_pat_11ABCDEFG0123456789": true, "sk-proj-0123456789abcdef": true, "xoxb-123456789012-abc": true, "AKIAIOSFODNN7EXAMPLE": true,
		"eyJhbGciOiJIUzI1NiJ9.e30.x": true, "glpat-0123456789abcdef": true, "-----BEGIN PRIVATE KEY-----": true, "postgres://u:p@h/db": true,
		"9f86d081884c7d659a2feaa0c55ad015": true, "Zm9vYmFyMTIzNDU2Nzg5MGFi0d9": true,
		"hello world": false, "https://h.example/mcp": false, "@modelcontextprotocol/server-filesystem@2026.8.31": false, "/home/user/notes/2026-01-01": false,
		"server-filesystem": false, "io.github.acme/thing@1.2.0": false, "sk-learn": false, "production": false, "2026-11-22T07:41:47Z": false, "aaaaaaaaaaaaaaaaaaaaaaaaa1a1a1": false, "": false,
	} {
		if got := secret.LooksText(text); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestOfURL(t *testing.T) {
	t.Parallel()
	var got []string
	for _, s := range secret.OfURL("https://me:p%40ss@h.example/a/Zm9vYmFyMTIzNDU2Nzg5MGFi0d9?key=a%2Fb&flag#f") {
		got = append(got, s.Reveal())
	}
	want := []string{"me", "p@ss", "me:p@ss", "me:p%40ss", "a%2Fb", "a/b", "flag", "Zm9vYmFyMTIzNDU2Nzg5MGFi0d9"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(secret.OfURL("no url")) > 0 || len(secret.OfURL("://")) > 0 {
		t.Error("a text that is no URL has secrets")
	}
}

// TestRedactorAlways: no text around a secret, and no encoding of it, keeps it.
func TestRedactorAlways(t *testing.T) {
	t.Parallel()
	if err := quick.Check(func(before, after string, key [12]byte, shift uint8) bool {
		s := base64.RawURLEncoding.EncodeToString(key[:])
		r := secret.NewRedactor(secret.New(s))
		inner := strings.Repeat("u", int(shift%9)) + ":" + s
		text := before + s + after + base64.StdEncoding.EncodeToString([]byte(inner)) + url.QueryEscape(s)
		return !strings.Contains(r.String(text), s) && !strings.Contains(r.String(text), base64.StdEncoding.EncodeToString([]byte(inner)))
	}, nil); err != nil {
		t.Error(err)
	}
}

// FuzzJSON: JSON stays JSON, without the secret.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"x"}`, "01234567")
	f.Add(`["\u0030\u0031234567",1234567890]`, "01234567")
	f.Fuzz(func(t *testing.T, text, s string) {
		if len(s) < secret.MinLength || strings.Contains(secret.Redacted, s) || !json.Valid([]byte(text)) {
			return
		}
		got := secret.NewRedactor(secret.New(s)).JSON([]byte(text))
		if !json.Valid(got) {
			t.Errorf("%q without %q is %q", text, s, got)
		}
	})
}

// BenchmarkString: a long text without secrets, as an error of a server may be.
func BenchmarkString(b *testing.B) {
	r := secret.NewRedactor(secret.New("sk-0123456789abcdef"), secret.New("another-secret-of-it"))
	text := strings.Repeat("some text of a server with words and 12345 numbers ", 20_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.String(text)
	}
}

// A server's error message repeats the token that it was given.
func Example() {
	token := secret.New("tok-0123456789")
	fmt.Println("token:", token)

	r := secret.NewRedactor(token)
	answer := "401: " + token.Reveal() + " has expired"
	fmt.Println(r.String(answer))
	// Output:
	// token: [redacted]
	// 401: [redacted] has expired
}
