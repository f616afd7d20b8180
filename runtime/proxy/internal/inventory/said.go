package inventory

// Said are the lists that servers have said to have changed, by server.
type Said map[string]ListSet

// With adds what a server has said.
func (s Said) With(server string, lists ListSet) Said {
	if lists == (ListSet{}) {
		return s
	}
	if s == nil {
		s = Said{}
	}
	s[server] = s[server].With(lists)
	return s
}
