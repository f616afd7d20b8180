package clitool

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// shownSize is how much of an output a result has. There is a resource with the
	// rest for a while.
	shownSize = 1 << 20
	// wholeSize is how much a run may write. One that writes more is ended.
	wholeSize = 16 << 20
	// progressEvery is the least time between two messages about one call.
	progressEvery = 200 * time.Millisecond
	// progressSize bounds the line that such a message has.
	progressSize = 200
)

// result returns the result of a run.
func (t *Transport) result(o outcome) json.RawMessage {
	var content []json.RawMessage
	text := func(s string) { content = append(content, textBlock(s)) }
	switch {
	case len(o.stdout) > shownSize:
		shown := o.stdout[:shownSize]
		for len(shown) > 0 && !utf8.RuneStart(o.stdout[len(shown)]) {
			shown = shown[:len(shown)-1]
		}
		text(strings.ToValidUTF8(string(shown), "\uFFFD"))
		uri := t.keep(o.stdout)
		text(fmt.Sprintf("[cut: these are %d bytes of %d; the whole is the resource %s for %s]", len(shown), len(o.stdout), uri, storedFor))
		var link object
		link.add("type", "resource_link")
		link.add("uri", uri)
		link.add("name", "the whole output")
		link.add("size", len(o.stdout))
		content = append(content, link.raw())
	case !utf8.Valid(o.stdout):
		var b, r object
		r.add("uri", t.uri(0))
		r.add("mimeType", "application/octet-stream")
		r.add("blob", base64.StdEncoding.EncodeToString(o.stdout))
		b.add("type", "resource")
		b.add("resource", r.raw())
		content = append(content, b.raw())
	case len(o.stdout) > 0:
		text(string(o.stdout))
	}
	if o.stderr != "" {
		text("--- stderr ---\n" + o.stderr)
	}
	if o.left {
		text("[processes that it had left behind were ended]")
	}
	failed := o.code != 0
	switch {
	case o.flooded:
		text(fmt.Sprintf("it wrote more than %d bytes, and was ended", wholeSize))
		failed = true
	case failed:
		text(o.status)
	}
	var res object
	if content == nil {
		content = []json.RawMessage{}
	}
	res.add("content", content)
	if value := structured(o.stdout); value != nil && !failed {
		res.add("structuredContent", value)
	}
	if failed {
		res.add("isError", true)
	}
	if o.code >= 0 && !o.flooded {
		res.add("_meta", map[string]int{MetaExitCode: o.code})
	}
	return res.raw()
}

// structured returns an output that is a JSON object, and of one that is an array an
// object whose member result it is; nil for any other.
func structured(out []byte) json.RawMessage {
	out = bytes.TrimSpace(out)
	if len(out) == 0 || len(out) > shownSize || !json.Valid(out) {
		return nil
	}
	switch out[0] {
	case '{':
		return out
	case '[':
		var o object
		o.add("result", json.RawMessage(out))
		return o.raw()
	}
	return nil
}

func textBlock(s string) json.RawMessage {
	var b object
	b.add("type", "text")
	b.add("text", s)
	return b.raw()
}

// failure returns the result of a call that was not run.
func failure(why string) json.RawMessage {
	var res object
	res.add("content", []json.RawMessage{textBlock(why)})
	res.add("isError", true)
	return res.raw()
}

// dryRun returns the words that a call would run.
func (p *Program) dryRun(words []string) json.RawMessage {
	all := append([]string{p.Command}, p.Args...)
	for i := range all {
		all[i] = p.Redactor.String(all[i])
	}
	all = append(all, words...)
	var res object
	res.add("content", []json.RawMessage{textBlock(Line(all))})
	planned := map[string]any{"argv": all}
	if p.Dir != "" {
		planned["cwd"] = p.Dir
	}
	res.add("structuredContent", planned)
	return res.raw()
}

// Line returns words as a line that a POSIX shell reads as them.
func Line(words []string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+%"
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.Trim(w, bare) != "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// progress returns what reports the lines of a run to a caller that asked for progress,
// nil for no other.
func (t *Transport) progress(ctx context.Context, req *runtime.Request) func([]byte) {
	if req.Token == nil {
		return nil
	}
	h := req.Events
	if h == nil {
		h = t.o.Handler
	}
	total, last := 0, time.Time{}
	return func(chunk []byte) {
		total += len(chunk)
		if time.Since(last) < progressEvery || ctx.Err() != nil {
			return
		}
		last = time.Now()
		var p object
		p.add("progressToken", req.Token)
		p.add("progress", json.Number(strconv.Itoa(total)))
		p.add("message", lastLine(chunk))
		h.Notification(ctx, req, revision.NotificationProgress, p.raw())
	}
}

func lastLine(chunk []byte) string {
	chunk = bytes.TrimRight(chunk, "\r\n")
	line := plain.Text(strings.ToValidUTF8(string(chunk[bytes.LastIndexByte(chunk, '\n')+1:]), "\uFFFD"))
	return plain.Clip(line, progressSize)
}
