package ui

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // what servers send beside PNG
	_ "image/jpeg"
	"image/png"
	"io"
	"net/url"
	"strings"
)

// Graphics is how a terminal shows pictures.
type Graphics int

// Protocols of terminals.
const (
	NoGraphics Graphics = iota
	// Kitty is the graphics protocol of kitty, which Ghostty has, too:
	// https://sw.kovidgoyal.net/kitty/graphics-protocol/
	Kitty
	// ITerm is that of iTerm2, which WezTerm has, too: https://iterm2.com/documentation-images.html
	ITerm
)

// GraphicsOf returns how the terminal shows pictures, by the environment. A multiplexer would not
// pass them on.
func GraphicsOf(getenv func(string) string) Graphics {
	switch term, program := getenv("TERM"), getenv("TERM_PROGRAM"); {
	case getenv("TMUX") != "" || strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux"):
		return NoGraphics
	case getenv("KITTY_WINDOW_ID") != "", term == "xterm-kitty", term == "xterm-ghostty", program == "ghostty":
		return Kitty
	case program == "iTerm.app", getenv("LC_TERMINAL") == "iTerm2", program == "WezTerm":
		return ITerm
	}
	return NoGraphics
}

// maxPixels bounds a picture that is drawn, and maxPicture its bytes: a small file can be a very
// large picture.
const (
	maxPixels  = 40 << 20
	maxPicture = 16 << 20
)

// picture draws a picture on the terminal, and reports whether it has.
func (u *UI) picture(data []byte) (drawn bool, err error) {
	if !u.OutTTY || u.Graphics == NoGraphics || len(data) > maxPicture {
		return false, nil
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || int64(size.Width)*int64(size.Height) > maxPixels {
		return false, nil //nolint:nilerr // it is a line in brackets then
	}
	if u.Graphics == ITerm {
		_, err := fmt.Fprintf(u.Out, "\x1b]1337;File=inline=1;size=%d:%s\a\n", len(data), base64.StdEncoding.EncodeToString(data))
		return true, err
	}
	if format != "png" { // which is all that kitty reads
		decoded, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return false, nil //nolint:nilerr // likewise
		}
		var b bytes.Buffer
		if err := png.Encode(&b, decoded); err != nil {
			return false, nil //nolint:nilerr // likewise
		}
		data = b.Bytes()
	}
	_, err = io.WriteString(u.Out, kitty(data))
	return true, err
}

// kitty returns the sequences that draw a PNG, in chunks of 4096 bytes as the protocol asks for.
func kitty(data []byte) string {
	const most = 4096
	text := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for first := true; first || text != ""; first = false {
		n := min(most, len(text))
		more := 0
		if n < len(text) {
			more = 1
		}
		keys := fmt.Sprintf("m=%d", more)
		if first {
			keys = fmt.Sprintf("a=T,f=100,m=%d", more)
		}
		fmt.Fprintf(&b, "\x1b_G%s;%s\x1b\\", keys, text[:n])
		text = text[n:]
	}
	return b.String() + "\n"
}

// link returns an address that a terminal makes a link of (OSC 8), where it has colours. The
// text is the address itself, so it leads where it says.
func (u *UI) link(address string) string {
	clean := CleanLine(address)
	parsed, err := url.Parse(address)
	if !u.OutTTY || !u.Color || clean != address || err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return clean
	}
	target := parsed.String() // ASCII alone
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return clean
	}
	return "\x1b]8;;" + target + "\x1b\\" + clean + "\x1b]8;;\x1b\\"
}
