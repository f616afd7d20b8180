package ui_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/png"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPictures: a terminal that can gets the picture itself; where it cannot, and for what is no
// picture, there is a line in brackets.
func TestPictures(t *testing.T) {
	t.Parallel()
	var small, other bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	noise := image.NewRGBA(image.Rect(0, 0, 60, 60))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.IntN(256))
	}
	require.NoError(t, png.Encode(&small, noise))
	require.NoError(t, gif.Encode(&other, image.NewPaletted(image.Rect(0, 0, 2, 2), palette.Plan9), nil))
	huge := bytes.Clone(small.Bytes())
	copy(huge[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65,536 by 65,536 pixels, by its header
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	show := func(g ui.Graphics, tty bool, mime string, data []byte) string {
		var out bytes.Buffer
		u := ui.New(strings.NewReader(""), &out, &bytes.Buffer{})
		u.OutTTY, u.Text, u.Graphics = tty, true, g
		_, err := u.Content([]runtime.Content{{Type: "image", MIMEType: mime, Data: data}}, nil)
		require.NoError(t, err)
		return out.String()
	}
	chunks := regexp.MustCompile(`\x1b_G([^;]*);([^\x1b]*)\x1b\\`).FindAllStringSubmatch(show(ui.Kitty, true, "image/png", small.Bytes()), -1)
	text := ""
	for i, c := range chunks {
		want := "m=1"
		if i == 0 {
			want = "a=T,f=100,m=1"
		}
		if i == len(chunks)-1 {
			want = "m=0"
		}
		if c[1] != want || len(c[2]) > 4096 {
			t.Errorf("chunk %d is %s of %d bytes", i, c[1], len(c[2]))
		}
		text += c[2]
	}
	if got, err := base64.StdEncoding.DecodeString(text); err != nil || !bytes.Equal(got, small.Bytes()) || len(chunks) < 3 {
		t.Errorf("%d chunks, %v", len(chunks), err)
	}
	if got := show(ui.ITerm, true, "image/png", small.Bytes()); !strings.HasPrefix(got, "\x1b]1337;File=inline=1;size=") || !strings.HasSuffix(got, base64.StdEncoding.EncodeToString(small.Bytes())+"\a\n") {
		t.Errorf("got %.60q", got)
	}
	if got := show(ui.Kitty, true, "image/gif", other.Bytes()); !strings.HasPrefix(got, "\x1b_Ga=T,f=100,m=0;iVBORw0KGgo") {
		t.Errorf("a GIF is %.60q", got)
	}
	for name, got := range map[string]string{
		"no protocol": show(ui.NoGraphics, true, "image/png", small.Bytes()), "a pipe": show(ui.Kitty, false, "image/png", small.Bytes()),
		"no picture": show(ui.Kitty, true, "image/png", []byte("\x1b]0;title\a")), "too large": show(ui.ITerm, true, "image/png", huge),
	} {
		if !strings.HasPrefix(got, "[image: image/png, ") || strings.Contains(got, "\x1b") {
			t.Errorf("%s: got %.60q", name, got)
		}
	}
}

func TestGraphicsOf(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]ui.Graphics{
		"TERM=xterm-kitty": ui.Kitty, "TERM=xterm-256color KITTY_WINDOW_ID=1": ui.Kitty, "TERM_PROGRAM=ghostty": ui.Kitty,
		"TERM_PROGRAM=iTerm.app": ui.ITerm, "LC_TERMINAL=iTerm2": ui.ITerm, "TERM_PROGRAM=WezTerm": ui.ITerm,
		"TERM=xterm-256color": ui.NoGraphics, "": ui.NoGraphics, "KITTY_WINDOW_ID=1 TMUX=/tmp/x": ui.NoGraphics, "TERM=screen-256color TERM_PROGRAM=iTerm.app": ui.NoGraphics,
	} {
		set := map[string]string{}
		for word := range strings.FieldsSeq(env) {
			name, value, _ := strings.Cut(word, "=")
			set[name] = value
		}
		if got := ui.GraphicsOf(func(name string) string { return set[name] }); got != want {
			t.Errorf("%s: got %d, want %d", env, got, want)
		}
	}
}

// TestLinks: an address of the web is a link to itself; anything else is text.
func TestLinks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.com/a?b=c":      "\x1b]8;;https://example.com/a?b=c\x1b\\https://example.com/a?b=c\x1b]8;;\x1b\\",
		"file:///etc/passwd":             "file:///etc/passwd",
		"https://example.com/\x1b]0;t\a": "https://example.com/",
		"https://example.com/a b":        "\x1b]8;;https://example.com/a%20b\x1b\\https://example.com/a b\x1b]8;;\x1b\\",
		"javascript:alert(1)":            "javascript:alert(1)",
	} {
		var out bytes.Buffer
		u := ui.New(strings.NewReader(""), &out, &bytes.Buffer{})
		u.OutTTY, u.Text, u.Color = true, true, true
		_, err := u.Content([]runtime.Content{{Type: "resource_link", URI: address}}, nil)
		require.NoError(t, err)
		if got := out.String(); !strings.HasPrefix(got, "[link: "+want) || strings.Count(got, "\x1b") != strings.Count(want, "\x1b") {
			t.Errorf("%q: got %q", address, got)
		}
	}
}
