package secret

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// LooksName reports whether the name of a variable, header, flag or parameter
// says that its value is secret: GITHUB_TOKEN, apiKey, X-Api-Key, --db-password.
// Words are split at characters other than letters and digits, and where lower
// case turns into upper case.
func LooksName(name string) bool {
	words := nameWords(name)
	if slices.Equal(words, []string{"PWD"}) || slices.Equal(words, []string{"OLD", "PWD"}) || strings.EqualFold(name, "OLDPWD") {
		return false // the working directory
	}
	return slices.ContainsFunc(words, secretWord)
}

func secretWord(word string) bool {
	switch word {
	case "KEY", "KEYS", "AUTH", "AUTHORIZATION", "PAT", "DSN", "CONN", "CONNECTION", "PWD", "PASS", "PASSPHRASE", "COOKIE", "COOKIES", "BEARER", "JWT", "CREDS", "SIG", "SIGNATURE":
		return true
	}
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY"} {
		if strings.Contains(word, part) {
			return true
		}
	}
	return false
}

// nameWords splits a name into its words, in upper case.
func nameWords(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToUpper(string(word)))
		}
		word = word[:0]
	}
	before := ' '
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(before):
			end()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		before = r
	}
	end()
	return words
}

// known are the beginnings of credentials of well-known services, with a bar between them.
// Every command looks for them, so they are no regular expression, which would have to be
// compiled.
const known = "gho_|ghp_|ghs_|ghu_|ghr_|github_pat_|glpat-|sk-|sk_live_|sk_test_|rk_live_|pk_live_|" +
	"xoxa-|xoxb-|xoxe-|xoxp-|xoxr-|xoxs-|xapp-|AKIA|ASIA|AIza|ya29.|eyJ|npm_|pypi-|hf_|" +
	"ntn_|lin_api_|dop_v1_|figd_|shpat_|SG.|-----BEGIN "

const (
	// knownLength is the least length of a text with a known beginning: others are
	// words such as sk-learn.
	knownLength = 16
	// randomLength and randomBits are the least length and entropy of a key: 20
	// characters of hexadecimal have 3 to 4 bits each, of base64 4 and more, while
	// words have less or are not mixed.
	randomLength = 20
	randomBits   = 3.0
)

// LooksText reports whether a text has the form of a secret: it begins like a
// credential of a well-known service, is a URL with a password in it, or is one
// long word of letters and digits mixed at random.
func LooksText(text string) bool {
	if len(text) >= knownLength {
		for begin := range strings.SplitSeq(known, "|") {
			if strings.HasPrefix(text, begin) {
				return true
			}
		}
	}
	if scheme, rest, ok := strings.Cut(text, "://"); ok && scheme != "" {
		authority, _, _ := strings.Cut(rest, "/")
		return strings.Contains(authority, "@")
	}
	return looksRandom(text)
}

func looksRandom(text string) bool {
	if len(text) < randomLength {
		return false
	}
	counts := map[rune]int{}
	letters, digits, changes, kind := 0, 0, 0, 0
	for _, r := range text {
		now := 0
		switch {
		case r >= '0' && r <= '9':
			digits++
			now = 1
		case r >= 'a' && r <= 'z':
			letters++
			now = 2
		case r >= 'A' && r <= 'Z':
			letters++
			now = 3
		case !strings.ContainsRune("+/=_-", r):
			return false // no word of base64 or hexadecimal
		}
		if now != kind && kind != 0 && now != 0 {
			changes++
		}
		kind = now
		counts[r]++
	}
	// Paths, versions and package names keep letters and digits apart; keys mix them.
	if letters == 0 || digits == 0 || changes < len(text)/6 {
		return false
	}
	bits := 0.0
	for _, n := range counts {
		p := float64(n) / float64(len(text))
		bits -= p * math.Log2(p)
	}
	return bits >= randomBits
}

// OfURL returns what is secret in a URL: user, password and both together, the
// values of its query, as written and decoded, parameters without a value, and
// parts of the path that have the form of a secret. It returns nil for other texts.
func OfURL(text string) []Text {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return nil
	}
	var out []Text
	if u.User != nil {
		password, _ := u.User.Password()
		out = append(out, New(u.User.Username()), New(password), New(u.User.Username()+":"+password), New(u.User.String()))
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			value = name
		}
		out = append(out, New(value))
		if decoded, err := url.QueryUnescape(value); err == nil && decoded != value {
			out = append(out, New(decoded))
		}
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if LooksText(part) {
			out = append(out, New(part))
		}
	}
	return slices.DeleteFunc(out, Text.IsZero)
}
