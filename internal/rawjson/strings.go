package rawjson

import "bytes"

// Strings visits the strings of a valid text in order, the names of members among them,
// with their quotes. It does not allocate.
func Strings(text []byte, visit func(at Span, isName bool)) {
	s := scanner{text: text}
	for {
		i := bytes.IndexByte(text[s.at:], '"')
		if i < 0 {
			return
		}
		at := s.at + i
		s.at = at
		if s.quoted(); s.bad {
			return
		}
		end := s.at
		visit(Span{at, end}, s.space() == ':')
	}
}
