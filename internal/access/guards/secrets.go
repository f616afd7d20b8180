package guards

import (
	"encoding/base64"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
)

// pattern is the form of a kind of secret: a prefix and so many characters.
type pattern struct {
	// name is what it is, for people.
	name, prefix string
	body         *alphabet
	// end returns where it ends that begins at an index of a text, false for nowhere; nil
	// for what body, min and max say: these are many characters follow
	// the prefix. max 0 is any number; else text with more is something else.
	end      func(text string, i int) (int, bool)
	min, max int
	// common says that the prefix is found in other words: no letter or digit may stand
	// before it.
	common bool
	// matches says of all of it whether it is a secret; nil for always.
	matches func(text string) bool
}

// alphabet are characters, by their bytes.
type alphabet [256]bool

func newAlphabet(others string) *alphabet {
	a := new(alphabet)
	for c := range a {
		a[c] = isAlphanumeric(byte(c))
	}
	for i := range len(others) {
		a[others[i]] = true
	}
	return a
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// only returns the alphabet of some characters.
func only(chars string) *alphabet {
	a := new(alphabet)
	for i := range len(chars) {
		a[chars[i]] = true
	}
	return a
}

// patterns returns the forms that are looked for, after those that the services document.
// Where one is the prefix of another, the longer stands first.
func patterns() []pattern {
	var (
		plain = newAlphabet("")
		url   = newAlphabet("-_")
		under = newAlphabet("_")
		dash  = newAlphabet("-")
		dots  = newAlphabet("-_.")
		hex   = only("0123456789abcdef")
		upper = only("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	)
	all := []pattern{
		{name: "mcpctl token", prefix: "mcpctl_", body: under, min: 58, max: 58, matches: access.IsToken},
		{name: "GitHub token", prefix: "github_pat_", body: under, min: 82},
		{name: "npm token", prefix: "npm_", body: plain, min: 36, max: 36},
		{name: "PyPI token", prefix: "pypi-AgE", body: url, min: 50},
		{name: "RubyGems key", prefix: "rubygems_", body: hex, min: 48, max: 48},
		{name: "Docker token", prefix: "dckr_pat_", body: url, min: 27},
		{name: "Anthropic key", prefix: "sk-ant-", body: url, min: 20},
		{name: "OpenAI key", prefix: "sk-proj-", body: url, min: 20},
		{name: "OpenAI key", prefix: "sk-svcacct-", body: url, min: 20},
		{name: "OpenAI key", prefix: "sk-admin-", body: url, min: 20},
		{name: "API key", prefix: "sk-", body: plain, min: 32, common: true},
		{name: "Hugging Face token", prefix: "hf_", body: plain, min: 34, max: 34, common: true},
		{name: "Google API key", prefix: "AIza", body: url, min: 35, max: 35, common: true},
		{name: "Google client secret", prefix: "GOCSPX-", body: url, min: 28},
		{name: "Google token", prefix: "ya29.", body: url, min: 30, common: true},
		{name: "Stripe webhook secret", prefix: "whsec_", body: newAlphabet("+/="), min: 32},
		{name: "SendGrid key", prefix: "SG.", body: dots, min: 60, max: 70, common: true},
		{name: "Mailgun key", prefix: "key-", body: hex, min: 32, max: 32, common: true},
		{name: "Linear key", prefix: "lin_api_", body: plain, min: 32},
		{name: "Notion token", prefix: "ntn_", body: plain, min: 40, common: true},
		{name: "Atlassian token", prefix: "ATATT3", body: newAlphabet("-_="), min: 150},
		{name: "Figma token", prefix: "figd_", body: url, min: 40},
		{name: "Postman key", prefix: "PMAK-", body: dash, min: 59, max: 59},
		{name: "Databricks token", prefix: "dapi", body: newAlphabet("-"), min: 32, max: 34, common: true, matches: func(s string) bool { return isHex(s[4:36]) }},
		{name: "Vault token", prefix: "hvs.", body: url, min: 24, common: true},
		{name: "Vault token", prefix: "hvb.", body: url, min: 24, common: true},
		{name: "Tailscale key", prefix: "tskey-", body: dash, min: 20},
		{name: "Doppler token", prefix: "dp.pt.", body: plain, min: 40},
		{name: "Grafana token", prefix: "glsa_", body: under, min: 41, max: 41},
		{name: "1Password token", prefix: "ops_eyJ", body: newAlphabet("+/="), min: 100},
		{name: "age key", prefix: "AGE-SECRET-KEY-1", body: upper, min: 58, max: 58},
		{name: "Slack app token", prefix: "xapp-", body: dash, min: 30},
		{name: "Slack webhook", prefix: "hooks.slack.com/services/T", body: newAlphabet("/"), min: 30},
		{name: "Discord webhook", prefix: "discord.com/api/webhooks/", body: newAlphabet("-_/"), min: 60},
		{name: "private key", prefix: begins, end: privateKey},
		{name: "JSON Web Token", prefix: "eyJ", body: dots, min: 30, common: true, matches: isJWT},
	}
	for _, f := range []struct {
		name, prefixes string
		body           *alphabet
		min, max       int
		common         bool
	}{
		{"GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", dots, 36, 0, false},
		{"GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glffct-", dots, 20, 0, false},
		{"AWS key id", "AKIA ASIA ABIA ACCA", upper, 16, 16, true},
		{"Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe.", newAlphabet("-."), 20, 0, false},
		{"Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", plain, 20, 0, false},
		{"DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", hex, 64, 64, false},
		{"Shopify token", "shpat_ shpca_ shppa_ shpss_", newAlphabet(""), 32, 32, false},
		{"Square token", "sq0atp- sq0csp-", url, 22, 0, false},
	} {
		for prefix := range strings.FieldsSeq(f.prefixes) {
			all = append(all, pattern{name: f.name, prefix: prefix, body: f.body, min: f.min, max: f.max, common: f.common})
		}
	}
	return all
}

// isJWT reports whether a text is a token whose header says how it is signed.
func isJWT(text string) bool {
	header, rest, ok := strings.Cut(text, ".")
	if !ok || !strings.Contains(rest, ".") {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(header)
	return err == nil && strings.Contains(string(raw), `"alg"`)
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// secrets finds secrets. It is immutable.
type secrets struct {
	patterns []pattern
	first    [256][]int // patterns by the first byte of their prefixes
	// pairs has the first two bytes of all prefixes: few texts have many of them.
	pairs [1 << 16 / 8]byte
}

func newSecrets(canaries []string) *secrets {
	s := &secrets{patterns: patterns()}
	for _, canary := range canaries {
		s.patterns = append(s.patterns, pattern{name: "canary", prefix: canary, body: new(alphabet)})
	}
	for i := range s.patterns {
		prefix := s.patterns[i].prefix
		s.first[prefix[0]] = append(s.first[prefix[0]], i)
		n := int(prefix[0])<<8 | int(prefix[1])
		s.pairs[n/8] |= 1 << (n % 8)
	}
	return s
}

// part is a part of a text, and what stands there once it is taken away.
type part struct {
	start, end int
	instead    string
}

// removed returns the part that is a secret.
func removed(start, end int, name string) part { return part{start, end, "[" + name + " removed]"} }

// find calls found with the secrets of a text, in order and apart, until it returns false.
func (s *secrets) find(text string, found func(part) bool) {
	for i := 0; i+1 < len(text); i++ {
		if n := int(text[i])<<8 | int(text[i+1]); s.pairs[n/8]&(1<<(n%8)) == 0 {
			continue
		}
		if p, ok := s.at(text, i); ok {
			if !found(p) {
				return
			}
			i = p.end - 1
		}
	}
}

// at returns the secret that begins at an index of a text.
func (s *secrets) at(text string, i int) (part, bool) {
	for _, n := range s.first[text[i]] {
		p := &s.patterns[n]
		if !strings.HasPrefix(text[i:], p.prefix) || p.common && i > 0 && isAlphanumeric(text[i-1]) && !escaped(text, i-1) {
			continue
		}
		if p.end != nil {
			if end, ok := p.end(text, i); ok {
				return removed(i, end, p.name), true
			}
			continue
		}
		begin := i + len(p.prefix)
		end := begin
		for end < len(text) && p.body[text[end]] {
			end++
		}
		for end > begin && strings.IndexByte("-_./", text[end-1]) >= 0 { // of the sentence around it
			end--
		}
		if n := end - begin; n < p.min || p.max > 0 && n > p.max || p.matches != nil && !p.matches(text[i:end]) {
			continue
		}
		return removed(i, end, p.name), true
	}
	return part{}, false
}

// escaped reports whether a letter is that of an escape, as JSON inside of a text has it.
func escaped(text string, i int) bool {
	return i > 0 && text[i-1] == '\\' && strings.IndexByte("nrtbf", text[i]) >= 0
}

// Where a private key begins and ends (RFC 7468).
const (
	begins = "-----BEGIN "
	ends   = "-----END "
	dashes = "-----"
)

// privateKey returns where a private key ends that begins at an index of a text: at the end
// of the text where it has no end of its own.
func privateKey(text string, i int) (end int, ok bool) {
	label, _, ok := strings.Cut(text[i+len(begins):], dashes)
	if !ok || len(label) > 64 || !strings.Contains(label, "PRIVATE KEY") {
		return 0, false
	}
	last := ends + label + dashes
	if at := strings.Index(text[i:], last); at >= 0 {
		return i + at + len(last), true
	}
	return len(text), true
}
