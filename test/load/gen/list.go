package gen

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// List is how the tools of a server were listed.
type List struct {
	// Names are the tools' in their order, Bytes the size of all pages together.
	Names []string
	Pages int
	Bytes int
	// First is how long the first page took, Took all of them, each from the
	// request to the answer's last byte: no decoding is in it.
	First, Took time.Duration
}

// List lists the tools, page after page.
func (c *Conn) List(ctx context.Context) (List, error) {
	var l List
	var pages [][]byte
	params := []byte("{}")
	for {
		begin := time.Now()
		a, err := c.peers[0].call(ctx, 0, "tools/list", "", c.withMeta(params))
		if err != nil {
			return l, fmt.Errorf("tools/list: %w", err)
		}
		page := a.result
		l.Took += a.at.Sub(begin)
		if l.Pages == 0 {
			l.First = l.Took
		}
		l.Pages++
		l.Bytes += len(page)
		pages = append(pages, append([]byte(nil), page...))
		cursor := nextCursor(page)
		if cursor == "" {
			break
		}
		if l.Pages > maxPages {
			return l, fmt.Errorf("tools/list: %d pages and no end", l.Pages)
		}
		quoted, err := json.Marshal(cursor)
		if err != nil {
			return l, err
		}
		params = append(append([]byte(`{"cursor":`), quoted...), '}')
	}
	for _, page := range pages {
		var r struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(page, &r); err != nil {
			return l, fmt.Errorf("tools/list: %w: %w", ErrWrong, err)
		}
		for _, t := range r.Tools {
			l.Names = append(l.Names, t.Name)
		}
	}
	return l, nil
}

// maxPages bounds a list of a server that never stops.
const maxPages = 10_000

// nextCursor reads a page's cursor without decoding its tools: "" is the last
// page. A cursor stands outside the list, so it is looked for from the end.
func nextCursor(page []byte) string {
	const member = `"nextCursor":"`
	i := strings.LastIndex(string(page[max(0, len(page)-4096):]), member)
	if i < 0 {
		return ""
	}
	tail := page[max(0, len(page)-4096):][i+len(member)-1:]
	var cursor string
	if json.NewDecoder(strings.NewReader(string(tail))).Decode(&cursor) != nil {
		return ""
	}
	return cursor
}

// Find returns the name of the first tool that ends in suffix, waiting for it to
// be listed.
func (c *Conn) Find(ctx context.Context, suffix string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.target.wait())
	defer cancel()
	for {
		l, err := c.List(ctx)
		if err != nil {
			return "", err
		}
		for _, name := range l.Names {
			if strings.HasSuffix(name, suffix) {
				return name, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no tool that ends in %q among %d", suffix, len(l.Names))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
