// Package guards looks at messages on their way: for secrets, for hidden characters, and
// at how long they are. It adds labels, which policies read as context.found, and takes
// away what it is told to. It never decides.
package guards

// Mode is what a guard does with what it finds.
type Mode string

// Modes. The zero value is off.
const (
	Off    Mode = "off"
	Label  Mode = "label"
	Redact Mode = "redact"
)

// Labels that guards add.
const (
	Secret = "secret"
	Hidden = "hidden"
	Size   = "size"
)

// Config says what to look for. The zero value is nothing.
type Config struct {
	// Secrets looks for keys, tokens and passwords that have a form of their own, and for
	// Canaries.
	Secrets Mode
	// Canaries are texts that are in no message: whoever sends one has read what it was
	// put into. Each has at least 8 bytes.
	Canaries []string
	// Hidden looks for characters that nobody sees: invisible ones, those that reorder
	// text, tags, and the escape sequences of terminals.
	Hidden Mode
	// Size is how many bytes a message may have before it gets the label, 0 for any
	// number.
	Size int64
}

// Guards looks at messages. It is immutable and may be used concurrently. Nil finds
// nothing.
type Guards struct {
	c Config
}

// New returns the guards of a configuration, nil where nothing is looked for.
func New(c Config) (*Guards, error) { return &Guards{c}, nil }

// Look returns the labels of a message, a JSON value, sorted.
func (g *Guards) Look(message []byte) (found []string, err error) { return nil, nil }

// Clean is Look, and returns the message without what is to be taken away: the message
// itself where that is nothing. Only characters inside of strings change.
func (g *Guards) Clean(message []byte) (out []byte, found []string, err error) {
	return message, nil, nil
}
