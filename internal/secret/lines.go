package secret

// Lines replaces secrets in a text that comes line by line, also those that a
// line break divides. It is for one goroutine.
type Lines struct {
	r      *Redactor
	before string // the end of the text so far
}

// Lines returns a redactor for a text that comes line by line.
func (r *Redactor) Lines() *Lines { return &Lines{r: r} }

// Next returns the next line, given without its line break, without the secrets.
// The beginning of one at the end of the line is replaced, whatever follows.
func (l *Lines) Next(line string) string {
	if l.r.Empty() {
		return line
	}
	n := l.r.compile()
	text, begin := l.before+line, len(l.before)
	out, done := "", begin
	for _, s := range n.spans(text, true) {
		if s.end <= begin {
			continue
		}
		out += text[done:max(done, s.start)] + Redacted
		done = s.end
	}
	l.before = text[max(0, len(text)-n.longest):]
	return out + text[done:]
}
