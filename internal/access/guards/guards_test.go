package guards_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/test/require"
)

func newGuards(t testing.TB, c guards.Config) *guards.Guards {
	t.Helper()
	g, err := guards.New(c)
	require.NoError(t, err)
	return g
}

// sample returns so many characters, in no word.
func sample(n int, of string) string { return strings.Repeat(of, n/len(of)+1)[:n] }

// samples returns a secret of each kind. They are put together here: no scanner of
// repositories is to find them.
func samples() map[string]string {
	const (
		mix   = "aB3dE6gH9kL2"
		hex   = "0a1b2c3d4e5f"
		upper = "Q4Z7M2XK"
	)
	_, ours := access.NewToken("ci", nil, time.Now(), time.Time{})
	segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	out := map[string]string{
		"mcpctl token":   ours,
		"JSON Web Token": segment(`{"typ":"JWT","alg":"ES256"}`) + "." + segment(`{"sub":"alice"}`) + "." + sample(86, mix),
		"private key":    "-----BEGIN EC PRIVATE " + "KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
	}
	for _, f := range []struct {
		prefix, of string
		n          int
	}{
		{"github_pat_", mix, 82},
		{"ghp_", mix, 36},
		{"gho_", mix, 36},
		{"ghu_", mix, 36},
		{"ghs_", mix, 36},
		{"ghs_", mix, 400},
		{"ghr_", mix, 76},
		{"glpat-", mix, 20},
		{"gldt-", mix, 20},
		{"glrt-", mix, 20},
		{"npm_", mix, 36},
		{"pypi-AgE", mix, 150},
		{"rubygems_", hex, 48},
		{"dckr_pat_", mix, 27},
		{"AKIA", upper, 16},
		{"ASIA", upper, 16},
		{"xoxb-", mix, 50},
		{"xoxp-", mix, 70},
		{"xapp-", mix, 90},
		{"hooks.slack.com/services/T", "0A1B2C3D/", 44},
		{"discord.com/api/webhooks/", mix, 87},
		{"sk_live_", mix, 24},
		{"rk_live_", mix, 99},
		{"whsec_", mix, 32},
		{"sk-ant-", mix, 95},
		{"sk-proj-", mix, 150},
		{"sk-svcacct-", mix, 150},
		{"sk-", mix, 48},
		{"hf_", mix, 34},
		{"AIza", mix, 35},
		{"GOCSPX-", mix, 28},
		{"ya29.", mix, 120},
		{"SG.", "aB3dE6gH9kL2aB3dE6gH9k.", 66},
		{"key-", hex, 32},
		{"lin_api_", mix, 40},
		{"ntn_", mix, 46},
		{"ATATT3", mix, 186},
		{"figd_", mix, 40},
		{"PMAK-", hex, 59},
		{"dapi", hex, 32},
		{"hvs.", mix, 90},
		{"hvb.", mix, 90},
		{"tskey-", mix, 40},
		{"dp.pt.", mix, 43},
		{"glsa_", mix, 41},
		{"ops_eyJ", mix, 250},
		{"AGE-SECRET-KEY-1", upper, 58},
		{"dop_v1_", hex, 64},
		{"shpat_", hex, 32},
		{"sq0atp-", mix, 22},
		{"sq0csp-", mix, 43},
	} {
		out[fmt.Sprint(f.prefix, f.n)] = f.prefix + sample(f.n, f.of)
	}
	return out
}

func quote(t testing.TB, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	return string(raw)
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	label, redact := newGuards(t, guards.Config{Secrets: guards.Label}), newGuards(t, guards.Config{Secrets: guards.Redact})
	for name, secret := range samples() {
		for _, around := range []string{"%s", "key: %s.", "a=%s&b", "(%s)", "é%s\n", `{\"inner\":\"%s\"}`, `first\n%s\n`, "\u200b%s"} {
			text := fmt.Sprintf(around, secret)
			message := []byte(`{"content":[{"type":"text","text":` + quote(t, text) + `}]}`)
			if got := label.Look(message); !slices.Equal(got, []string{guards.Secret}) {
				t.Errorf("%s in %s: found %q", name, around, got)
			}
			out, found, err := redact.Clean(message)
			if err != nil || !slices.Equal(found, []string{guards.Secret}) || strings.Contains(string(out), secret[len(secret)-8:]) || !strings.Contains(string(out), " removed]") {
				t.Errorf("%s in %s: got %s, %q, %v", name, around, out, found, err)
			}
			left, found, err := label.Clean(message)
			if err != nil || len(found) != 1 || &left[0] != &message[0] {
				t.Errorf("%s in %s: a label has changed the message: %s, %v", name, around, left, err)
			}
			if inName := label.Look([]byte(`{` + quote(t, text) + `:1}`)); len(inName) != 1 {
				t.Errorf("%s in a name: found %q", name, inName)
			}
		}
	}
}

func TestNoSecrets(t *testing.T) {
	t.Parallel()
	g := newGuards(t, guards.Config{Secrets: guards.Redact})
	_, ours := access.NewToken("ci", nil, time.Now(), time.Time{})
	for _, text := range []string{
		"", "ghp_", "ghp_short", "sk-learn and scikit-learn-is-a-library-of-many-things-that-learn", "task-" + sample(40, "a"), "MAKIA" + sample(16, "A"),
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "eyJhbGciOiJub25lIn0", "eyJ" + sample(40, "a") + ".b.c",
		"npm_config_registry_of_this_long_name_here", "key-value", "dapi", "hooks.slack.com/services/", ours[:len(ours)-1] + "!", "AKIA" + sample(17, "A"),
		"sha256:" + sample(64, "0a"), "550e8400-e29b-41d4-a716-446655440000", "data:image/png;base64," + sample(400, "iVBORw0KGgo"),
	} {
		message := []byte(`{"text":` + quote(t, text) + `}`)
		if out, found, err := g.Clean(message); err != nil || found != nil || string(out) != string(message) {
			t.Errorf("%q: got %s, %q, %v", text, out, found, err)
		}
	}
}

func TestCanary(t *testing.T) {
	t.Parallel()
	g := newGuards(t, guards.Config{Secrets: guards.Redact, Canaries: []string{"blue-heron-42", "\u00fcber geheim"}})
	out, found, err := g.Clean([]byte(`["xblue-heron-42y","\u00fcber geheim","blue-heron-4"]`))
	if want := `["x[canary removed]y","[canary removed]","blue-heron-4"]`; err != nil || string(out) != want || !slices.Equal(found, []string{guards.Secret}) {
		t.Errorf("got %s, %q, %v", out, found, err)
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	g := newGuards(t, guards.Config{Hidden: guards.Redact})
	for text, want := range map[string]string{
		"plain, \t tabs,\r\nlines": "", "Grüße, 世界, \u202fa": "", "\ufefffile": "", "👩‍👩‍👧 ❤️ 1️⃣ ☎︎": "", "نمی\u200cخواهم": "", "क\u094d\u200dष": "",
		"a\u200bb": "ab", "a\u202eb\u202c": "ab", "a\u2066b\u2069": "ab", "a\ufeffb": "ab", "so\u00adft": "soft", "a\u200db": "ab", "é\u200d\u200d\u200cb": "é\u200db",
		"ok\U000e0049\U000e0067": "ok", "red\x1b[31m": "red[31m", "\u009b2J": "2J", "a\x00b": "ab", "a\ufe0fb": "ab", "é\U000e0100": "é", "a\u2028b": "ab", "\u3164": "",
	} {
		message := []byte(`{"text":` + quote(t, text) + `}`)
		wantFound := want != "" || text == "\u3164"
		if !wantFound {
			want = text
		}
		out, found, err := g.Clean(message)
		var got struct{ Text string }
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &got))
		if got.Text != want || wantFound != slices.Equal(found, []string{guards.Hidden}) {
			t.Errorf("%q: got %q, %q, want %q", text, got.Text, found, want)
		}
	}
}

// TestSpelling: it does not matter how a string is written, and all else stays.
func TestSpelling(t *testing.T) {
	t.Parallel()
	g := newGuards(t, guards.Config{Secrets: guards.Redact, Hidden: guards.Redact, Size: 40})
	ghp := "ghp_" + sample(36, "aB3")
	escaped := strings.ReplaceAll(ghp, "h", `\u0068`)
	for message, want := range map[string]string{
		`{ "a" : "\ud83d\ude00` + escaped + ` \n" , "n":1.50e0}`:            `{ "a" : "\ud83d\ude00[GitHub token removed] \n" , "n":1.50e0}`,
		`["\ud83d` + ghp + `\ude00", "\"" ]`:                                `["\ud83d[GitHub token removed]\ude00", "\"" ]`,
		`["\udb40\udc41x\u200B","gh\u200bp_` + ghp[4:] + `"]`:               `["x","[GitHub token removed]"]`,
		`{"` + ghp + `":"` + ghp + `","` + ghp + `":{"` + ghp + `":false}}`: `{"` + ghp + `":"[GitHub token removed]","` + ghp + `":{"` + ghp + `":false}}`,
		`"` + ghp + ` ` + ghp + `"`:                                         `"[GitHub token removed] [GitHub token removed]"`,
	} {
		out, found, err := g.Clean([]byte(message))
		if err != nil || string(out) != want || !slices.Contains(found, guards.Secret) || !slices.Contains(found, guards.Size) {
			t.Errorf("%s:\ngot  %s, %q, %v\nwant %s", message, out, found, err, want)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]guards.Config{
		`secrets: "on" is not off, label or redact`:      {Secrets: "on"},
		`hidden: "block" is not off, label or redact`:    {Hidden: "block"},
		`size: it is below zero`:                         {Size: -1},
		`canaries: secrets is off, which looks for them`: {Canaries: []string{"blue-heron-42"}},
		`canaries[1]: it has less than 8 bytes`:          {Secrets: guards.Label, Canaries: []string{"blue-heron-42", "heron"}},
	} {
		if _, err := guards.New(c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var none *guards.Guards
	message := []byte(`"a"`)
	out, found, err := none.Clean(message)
	if g := newGuards(t, guards.Config{Secrets: guards.Off}); g != nil || none.Look(message) != nil || &out[0] != &message[0] || found != nil || err != nil {
		t.Error("nothing is looked for, and something is there")
	}
}

// FuzzClean: what was JSON stays so, of the same structure: names, numbers and order. What
// is left has nothing more to take away.
func FuzzClean(f *testing.F) {
	for _, secret := range samples() {
		raw, _ := json.Marshal(map[string]any{"text": secret, secret: []any{1, nil, secret + "\u200b"}})
		f.Add(raw)
	}
	f.Add([]byte(`["\ud83d\ude00\ud83d\u0041\\\"\/\u200b"]`))
	g := newGuards(f, guards.Config{Secrets: guards.Redact, Hidden: guards.Redact, Canaries: []string{"blue-heron-42"}})
	f.Fuzz(func(t *testing.T, message []byte) {
		if !json.Valid(message) || !json.Valid([]byte(strings.ToValidUTF8(string(message), ""))) || strings.ToValidUTF8(string(message), "") != string(message) {
			t.Skip()
		}
		before := string(message)
		out, found, err := g.Clean(message)
		if err != nil || !json.Valid(out) || string(message) != before {
			t.Fatalf("%q became %q: %v", before, out, err)
		}
		if a, b := structure(t, message), structure(t, out); a != b {
			t.Errorf("%q became %q: %s, %s", message, out, a, b)
		}
		if string(out) != before && len(found) == 0 || len(found) == 0 && g.Look(message) != nil {
			t.Errorf("%q: nothing found", message)
		}
		again, _, err := g.Clean(out)
		if err != nil || string(again) != string(out) {
			t.Errorf("%q became %q, and %q: %v", message, out, again, err)
		}
	})
}

// structure returns a text without what its strings are, but for the names of members.
func structure(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var out strings.Builder
	var inObject, isName []bool
	for {
		token, err := d.Token()
		if err != nil {
			return out.String()
		}
		n := len(inObject) - 1
		s, is := token.(string)
		switch {
		case is && n >= 0 && inObject[n] && isName[n]:
			out.WriteString(quote(t, s) + ":")
		case is:
			out.WriteString("string,")
		default:
			fmt.Fprint(&out, token, ",")
		}
		if n >= 0 {
			isName[n] = !isName[n]
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			inObject, isName = append(inObject, token == json.Delim('{')), append(isName, true)
		case json.Delim('}'), json.Delim(']'):
			inObject, isName = inObject[:n], isName[:n]
			if n > 0 { // the closing bracket has turned that of its own
				continue
			}
		}
	}
}

func BenchmarkClean(b *testing.B) {
	g := newGuards(b, guards.Config{Secrets: guards.Redact, Hidden: guards.Redact, Size: 1 << 20})
	message := []byte(`{"content":[{"type":"text","text":` + quote(b, sample(64<<10, "It was the best of times, it was the worst of times.\n")) + `}]}`)
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		if _, found, _ := g.Clean(message); found != nil {
			b.Fatal(found)
		}
	}
}
