package ui

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// Saver writes the images, audio and binary resources of a result into a
// directory, which is created on demand. A file's name contains the SHA-256 of its
// bytes, so that repeated images are one file. [UI.ToolResult] writes what is alone in a
// result to Dir itself where that has an ending, and is no directory. A nil *Saver saves
// nothing.
type Saver struct {
	Dir string

	file bool
}

// of returns what saves a result: s, or what writes to Dir itself.
func (s *Saver) of(r *runtime.ToolResult) *Saver {
	n := 0
	for i := range r.Content {
		if data, _ := bytesOf(&r.Content[i]); data != nil {
			n++
		}
	}
	if s == nil || n != 1 || filepath.Ext(s.Dir) == "" { // so it is with a separator at its end
		return s
	}
	info, err := os.Stat(s.Dir)
	return &Saver{Dir: s.Dir, file: err != nil || !info.IsDir()}
}

// bytesOf returns the bytes of a block, nil for one that has none, and their type.
func bytesOf(c *runtime.Content) (data []byte, mimeType string) {
	switch {
	case c.Type == "text":
		return nil, ""
	case c.Resource != nil:
		return c.Resource.Blob, c.Resource.MIMEType
	}
	return c.Data, c.MIMEType
}

// Save writes bytes and returns the path.
func (s *Saver) Save(data []byte, mimeType string) (string, error) {
	if s.file {
		if err := os.MkdirAll(filepath.Dir(s.Dir), 0o777); err != nil { //nolint:gosec // the user's own output, under the umask
			return "", err
		}
		return s.Dir, WriteFile(s.Dir, data)
	}
	sum := sha256.Sum256(data)
	path := filepath.Join(s.Dir, hex.EncodeToString(sum[:12])+extension(mimeType))
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		return path, nil
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil { //nolint:gosec // the user's own output, under the umask
		return "", err
	}
	return path, WriteFile(path, data)
}

// WriteFile writes a result to a file named by the user, atomically unless it is a
// device or a pipe.
func WriteFile(path string, data []byte) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, data, 0o666) //nolint:gosec // the user's own output, under the umask
	}
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = info.Mode().Perm()
	}
	target := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		target = resolved
	}
	temp := target + ".mcpctl-" + strconv.Itoa(os.Getpid())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return unwritten(path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		_ = os.Remove(temp)
		return unwritten(path, err)
	}
	return nil
}

// unwritten replaces the temporary file in an error by the one named by the user.
func unwritten(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = le.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// extension returns the usual file extension of a media type, ".bin" for an unknown
// one. The list comes first because the systems' tables differ.
func extension(mimeType string) string {
	base, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ".bin"
	}
	switch base {
	case "image/jpeg":
		return ".jpg"
	case "image/svg+xml":
		return ".svg"
	case "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff", "image/avif", "audio/ogg", "audio/flac", "audio/aac":
		return "." + base[len("image/"):]
	case "audio/mpeg":
		return ".mp3"
	case "audio/wav", "audio/x-wav", "audio/wave":
		return ".wav"
	case "application/pdf", "application/zip", "application/json":
		return "." + base[len("application/"):]
	case "application/gzip":
		return ".gz"
	case "text/plain":
		return ".txt"
	case "text/html":
		return ".html"
	}
	return ".bin"
}

// Content writes content blocks for people: text, or a line in brackets for what a
// terminal cannot show. It reports whether there was any text.
func (u *UI) Content(blocks []runtime.Content, save *Saver) (text bool, err error) {
	return u.blocks(blocks, save, false)
}

// blocks is Content, or the same of an error of a tool.
func (u *UI) blocks(blocks []runtime.Content, save *Saver, failed bool) (text bool, err error) {
	for i := range blocks {
		c := &blocks[i]
		if failed && c.Type == "text" {
			if err := u.problem(c.Text); err != nil {
				return true, err
			}
			text = true
			continue
		}
		t, err := u.block(c, save)
		text = text || t
		if err != nil {
			return text, err
		}
	}
	return text, nil
}

func (u *UI) block(c *runtime.Content, save *Saver) (text bool, err error) {
	switch c.Type {
	case "text":
		return true, u.document(c.Text)
	case "image":
		drawn, err := u.picture(c.Data)
		if err != nil || drawn && save == nil {
			return false, err
		}
		return false, u.binary(c.Type, "", c.MIMEType, c.Data, save)
	case "audio":
		return false, u.binary(c.Type, "", c.MIMEType, c.Data, save)
	case "resource_link":
		return false, u.info("link", c.URI, cmp.Or(c.Title, c.Name), c.MIMEType)
	case "resource":
		if c.Resource != nil {
			return u.Resource(c.Resource, save, true)
		}
	}
	return false, u.info("content of type "+c.Type, "shown by --json")
}

// Resource writes the contents of a resource; with title, a text's address first.
func (u *UI) Resource(r *runtime.ResourceContents, save *Saver, title bool) (text bool, err error) {
	if r.Blob != nil {
		return false, u.binary("resource", r.URI, r.MIMEType, r.Blob, save)
	}
	if title {
		if err := u.info("resource", r.URI, r.MIMEType); err != nil {
			return true, err
		}
	}
	return true, u.document(r.Text)
}

// binary writes one line about bytes, and saves them unless save is nil.
func (u *UI) binary(what, uri, mimeType string, data []byte, save *Saver) error {
	parts := []string{uri, mimeType, Size(len(data))}
	if save != nil {
		path, err := save.Save(data, mimeType)
		if err != nil {
			return fmt.Errorf("save %s: %w", what, err)
		}
		parts = append(parts, "saved as "+path)
	}
	return u.info(what, parts...)
}

// info writes a line in brackets: [image: image/png, 12 kB].
func (u *UI) info(what string, parts ...string) error {
	var known []string
	for _, p := range parts {
		if p != "" {
			known = append(known, u.link(p))
		}
	}
	line := CleanLine(what)
	if len(known) > 0 {
		line += ": " + strings.Join(known, ", ")
	}
	_, err := io.WriteString(u.Out, "["+line+"]\n")
	return err
}

// paragraph writes text and a newline if it lacks one.
func (u *UI) paragraph(text string) error {
	text = Clean(text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(u.Out, text)
	return err
}

// Indented writes indented JSON with unchanged digits.
func (u *UI) Indented(raw json.RawMessage) error {
	_, err := u.Out.Write(append(JSON([]byte(Clean(string(raw))), u.Palette()), '\n'))
	return err
}

// Size formats a number of bytes: 812 bytes, 12 kB, 3.4 MB.
func Size(n int) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1000 {
		return strconv.Itoa(n) + " bytes"
	}
	v, unit := float64(n), 0
	for v >= 999.5 && unit < 3 {
		v /= 1000
		unit++
	}
	digits := 0
	if v < 9.95 && unit > 1 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + []string{"bytes", "kB", "MB", "GB"}[unit]
}
