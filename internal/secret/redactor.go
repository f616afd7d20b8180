package secret

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MinLength is the least length, in bytes, of a secret that is redacted: shorter
// texts occur everywhere by chance.
const MinLength = 8

const (
	// maxFormer is how many texts that are secrets no more are redacted still, maxTokens how
	// many of those that follow one another.
	maxFormer = 128
	maxTokens = 32
)

// Redactor replaces secrets in texts by [Redacted]: plain, and encoded as base64
// (both alphabets, with and without padding, also inside of a longer text), for
// URLs, JSON and HTML, with or without line breaks. Nil and the zero value replace
// nothing. Its methods may be called concurrently.
type Redactor struct {
	mu      sync.Mutex // guards what follows
	secrets []string
	former  []string // of Set before, the newest at the end
	tokens  []string // of Refresh, the newest at the end
	longest int      // of all that there ever were
	needles *needles // nil until the first text: most redactors see none
}

// NewRedactor returns a redactor of the secrets, see [Redactor.Add].
func NewRedactor(secrets ...Text) *Redactor {
	r := &Redactor{}
	r.Add(secrets...)
	return r
}

// Add adds secrets. Those shorter than [MinLength] are ignored, here and in Set and
// Refresh. R must not be nil.
func (r *Redactor) Add(secrets ...Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		r.secrets = r.with(r.secrets, s.Reveal(), math.MaxInt)
	}
}

// Set puts secrets in the place of those of Add and of an earlier Set. Of these it redacts
// the last 128 still, since what is under way may show them, but none that is public.
func (r *Redactor) Set(secrets []Text, public map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var now []string
	for _, s := range secrets {
		now = r.with(now, s.Reveal(), math.MaxInt)
	}
	for _, text := range r.secrets {
		if !slices.Contains(now, text) {
			r.former = r.with(r.former, text, maxFormer)
		}
	}
	r.secrets, r.needles = now, nil
	r.former = slices.DeleteFunc(r.former, func(text string) bool { return public[text] })
}

// Refresh adds secrets that others will follow, such as access tokens: the last 32 are
// redacted.
func (r *Redactor) Refresh(secrets ...Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		r.tokens = r.with(r.tokens, s.Reveal(), maxTokens)
	}
}

// with returns a list with a text at its end, without the oldest if these are more than
// most. The caller holds the lock.
func (r *Redactor) with(list []string, text string, most int) []string {
	if len(text) < MinLength {
		return list
	}
	if i := slices.Index(list, text); i >= 0 {
		return append(slices.Delete(list, i, i+1), text)
	}
	r.longest = max(r.longest, 6*len(text))
	r.needles = nil
	list = append(list, text)
	return list[max(0, len(list)-most):]
}

// Empty reports whether there is nothing to replace.
func (r *Redactor) Empty() bool { return r.Longest() == 0 }

// Longest returns the most bytes that an encoded secret takes, 0 without secrets.
func (r *Redactor) Longest() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.longest
}

// String returns text without the secrets.
func (r *Redactor) String(text string) string { return r.replace(text, false) }

// Beginning returns the first n bytes of text without the secrets, also without
// the beginning of one at the end: the text may be cut off.
func (r *Redactor) Beginning(text string, n int) string {
	if r.Empty() {
		return text[:min(n, len(text))]
	}
	text = r.replace(text[:min(n+r.Longest(), len(text))], true)
	if len(text) <= n {
		return text
	}
	if at := strings.LastIndex(text[:min(len(text), n+len(Redacted)-1)], Redacted); at >= 0 && at < n && at+len(Redacted) > n {
		return text[:at] + Redacted // whole
	}
	return text[:n]
}

// Bytes returns text without the secrets, and text itself where it has none.
func (r *Redactor) Bytes(text []byte) []byte {
	if r.Empty() {
		return text
	}
	before := string(text)
	if after := r.String(before); after != before {
		return []byte(after)
	}
	return text
}

// JSON returns a JSON text without the secrets, which may be written with escapes,
// as valid JSON, and text itself where it has none. A number that holds one
// becomes 0.
func (r *Redactor) JSON(text []byte) []byte {
	if r.Empty() {
		return text
	}
	var out []byte
	done := 0
	put := func(from, to int, token string) {
		out = append(append(out, text[done:from]...), token...)
		done = to
	}
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case c == '"':
			end = stringEnd(text, i)
			var value string
			if json.Unmarshal(text[i:end], &value) != nil {
				value = strings.TrimSuffix(string(text[i+1:end]), `"`) // invalid JSON is redacted as well
			}
			if clean := r.String(value); clean != value {
				quoted, err := json.Marshal(clean)
				if err != nil {
					quoted = []byte(`"` + Redacted + `"`)
				}
				put(i, end, string(quoted))
			}
		case c >= '0' && c <= '9':
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			if number := string(text[i:end]); r.String(number) != number {
				put(i, end, "0")
			}
		}
		i = end
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// stringEnd returns the end of the JSON string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// Error returns err where its text has no secret, otherwise an error that wraps it
// and has the redacted text.
func (r *Redactor) Error(err error) error {
	if err == nil || r.Empty() {
		return err
	}
	before := err.Error()
	after := r.String(before)
	if after == before {
		return err
	}
	return &redacted{after, err}
}

type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.err }

func (r *Redactor) replace(text string, open bool) string {
	if r.Empty() {
		return text
	}
	spans := r.compile().spans(text, open)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, s := range spans {
		b.WriteString(text[done:s.start])
		b.WriteString(Redacted)
		done = s.end
	}
	b.WriteString(text[done:])
	return b.String()
}

func (r *Redactor) compile() *needles {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.needles != nil {
		return r.needles
	}
	var all []string
	for _, s := range slices.Concat(r.secrets, r.former, r.tokens) {
		all = append(all, encodings(s)...)
		if !strings.Contains(s, "\n") {
			continue
		}
		for line := range strings.Lines(s) { // a key in PEM may be printed by the line
			if line = strings.TrimSpace(line); len(line) >= randomLength && !strings.HasPrefix(line, "-----") {
				all = append(all, encodings(line)...)
			}
		}
	}
	r.needles = newNeedles(all)
	return r.needles
}

// encodings returns a secret in every form that a text may have it in.
func encodings(s string) []string {
	out := []string{s, html.EscapeString(s), strings.Trim(strconv.Quote(s), `"`)}
	if raw, err := json.Marshal(s); err == nil {
		plain := strings.Trim(string(raw), `"`)
		out = append(out, plain, strings.ReplaceAll(plain, "/", `\/`))
	}
	query := url.QueryEscape(s)
	// encodeURIComponent of JavaScript does not escape these.
	script := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	for _, escaped := range []string{query, script, url.PathEscape(s), url.User(s).String()} {
		out = append(out, escaped, lowerEscapes(escaped))
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, encoding.EncodeToString([]byte(s)), encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(s)))
		for shift := range 3 {
			out = append(out, aligned(encoding, s, shift))
		}
	}
	return out
}

// aligned returns the base64 characters that encode s alone, in a longer text with
// before bytes ahead of it.
func aligned(encoding *base64.Encoding, s string, before int) string {
	text := encoding.EncodeToString([]byte(strings.Repeat("x", before) + s))
	return text[(8*before+5)/6 : 8*(before+len(s))/6]
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}
