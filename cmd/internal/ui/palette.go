package ui

// Palette colours text where it is true.
type Palette bool

func (p Palette) paint(sgr, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// Bold returns text in bold.
func (p Palette) Bold(text string) string { return p.paint("1", text) }

// Red returns text in red: errors, and what destroys something.
func (p Palette) Red(text string) string { return p.paint("31", text) }

// Green returns text in green: what works, and what only reads.
func (p Palette) Green(text string) string { return p.paint("32", text) }

// Yellow returns text in yellow: warnings, and what is neither good nor bad.
func (p Palette) Yellow(text string) string { return p.paint("33", text) }

// Cyan returns text in cyan: hints and notes.
func (p Palette) Cyan(text string) string { return p.paint("36", text) }

// State returns the state of a server in its colour.
func (p Palette) State(text string) string {
	switch text {
	case "ready", "ok", "enabled", "listed":
		return p.Green(text)
	case "broken", "failed":
		return p.Red(text)
	case "disabled", "connecting", "paused", "draining", "not listed yet":
		return p.Yellow(text)
	}
	return text
}

// Label returns a line of standard error with the word that opens it coloured: mcpctl:,
// warning:, hint: or note:.
func (p Palette) Label(line string) string {
	for _, l := range []struct {
		word  string
		paint func(string) string
	}{{"mcpctl:", p.Red}, {"warning:", p.Yellow}, {"hint:", p.Cyan}, {"note:", p.Cyan}} {
		if len(line) >= len(l.word) && line[:len(l.word)] == l.word {
			return l.paint(l.word) + line[len(l.word):]
		}
	}
	return line
}
