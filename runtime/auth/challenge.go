package auth

import "strings"

// challengeOf is one challenge of a WWW-Authenticate header (RFC 9110, 11.6.1).
type challengeOf struct {
	// Scheme is in lower case, such as "bearer".
	Scheme string
	// Params are the parameters, names in lower case, values unquoted. The first of a
	// name counts.
	Params map[string]string
}

// parseChallenges reads WWW-Authenticate headers. What cannot be read ends the header
// it is in: what came before it counts.
func parseChallenges(headers []string) []challengeOf {
	var all []challengeOf
	for _, h := range headers {
		all = append(all, parseHeader(h)...)
	}
	return all
}

// bearerOf returns the parameters of the first Bearer or DPoP challenge, nil for none.
func bearerOf(headers []string) map[string]string {
	for _, c := range parseChallenges(headers) {
		if c.Scheme == "bearer" || c.Scheme == "dpop" {
			return c.Params
		}
	}
	return nil
}

func parseHeader(h string) (all []challengeOf) {
	s := scanner(h)
	for {
		s.skip(" \t,")
		word := s.token()
		if word == "" {
			return all
		}
		space := s.skip(" \t")
		// A word before "=" is a parameter of the challenge before it; token68 is
		// skipped with its padding.
		if s.has('=') && len(all) > 0 && !s.has68() {
			value, ok := s.value()
			if !ok {
				return all
			}
			params := all[len(all)-1].Params
			if name := strings.ToLower(word); params[name] == "" {
				params[name] = value
			}
			continue
		}
		all = append(all, challengeOf{Scheme: strings.ToLower(word), Params: map[string]string{}})
		if space {
			s.token68()
		}
	}
}

// scanner is what is left of a header.
type scanner string

func (s *scanner) skip(chars string) (any bool) {
	rest := strings.TrimLeft(string(*s), chars)
	any = len(rest) < len(*s)
	*s = scanner(rest)
	return any
}

func (s *scanner) has(c byte) bool { return len(*s) > 0 && (*s)[0] == c }

// has68 reports whether the "=" that follows is padding of a token68.
func (s *scanner) has68() bool {
	rest := strings.TrimLeft(string(*s), "=")
	rest = strings.TrimLeft(rest, " \t")
	return rest == "" || rest[0] == ','
}

// token takes a token (RFC 9110, 5.6.2), "" for none.
func (s *scanner) token() string {
	i := strings.IndexFunc(string(*s), func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
	if i < 0 {
		i = len(*s)
	}
	word := string(*s)[:i]
	*s = (*s)[i:]
	return word
}

// token68 takes credentials that are no parameters, where they follow.
func (s *scanner) token68() {
	rest := string(*s)
	i := strings.IndexAny(rest, " \t,")
	if i < 0 {
		i = len(rest)
	}
	word := strings.TrimRight(rest[:i], "=")
	if word != "" && !strings.ContainsAny(word, `="`) && (i == len(rest) || strings.HasPrefix(strings.TrimLeft(rest[i:], " \t"), ",")) {
		*s = scanner(rest[i:])
	}
}

// value takes "=" and a token or a quoted string.
func (s *scanner) value() (string, bool) {
	*s = (*s)[1:]
	s.skip(" \t")
	if !s.has('"') {
		// Some servers leave out the quotes of a URL.
		i := strings.IndexAny(string(*s), " \t,")
		if i < 0 {
			i = len(*s)
		}
		word := string(*s)[:i]
		*s = (*s)[i:]
		return word, true
	}
	var b strings.Builder
	text := string(*s)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			*s = scanner(text[i+1:])
			return b.String(), true
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false // it does not end
}
