package pages

import (
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/templates"
)

// markup is text for a page that needs no escaping any more.
type markup string

// template returns one of the templates.
func template(name string) markup {
	raw, err := templates.Pages.ReadFile(name)
	if err != nil {
		panic("pages: no template " + name)
	}
	return markup(raw)
}

// fill returns a template with names replaced by values, which come in turn. A value
// that is a text is escaped.
func fill(t markup, pairs ...any) markup {
	words := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		value, ok := pairs[i+1].(markup)
		if text, isText := pairs[i+1].(string); isText {
			value, ok = markup(html.EscapeString(plain.Line(text))), true
		}
		if !ok {
			panic("pages: a value is neither text nor markup")
		}
		words = append(words, "{{"+pairs[i].(string)+"}}", string(value)) //nolint:forcetypeassert // names are texts
	}
	return markup(strings.NewReplacer(words...).Replace(string(t)))
}

// What a page is about, as the class that it looks by.
const (
	done   = "done"
	failed = "failed"
)

// page is one page.
type page struct {
	title, class  string
	head, content markup
}

// show sends a page.
func (v *visit) show(status int, p page) {
	var account markup
	if v.s != nil {
		account = fill(template("page_account.html"), "name", v.s.principal.Name, "logout", v.prefix(pathLogout), "token", v.formToken(pathLogout, v.s.secret, ""))
	}
	text := fill(template("page.html"), "title", p.title, "class", p.class, "style", v.prefix(pathStyle), "head", p.head, "account", account, "content", p.content)
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	v.w.WriteHeader(status)
	_, _ = io.WriteString(v.w, string(text)) // the browser may be gone
}

// write shows a text, with a link to the beginning.
func (v *visit) write(status int, class, title, text string) {
	next := "Your linked accounts"
	if v.s == nil {
		next = "Log in"
	}
	v.show(status, page{
		title: title, class: class,
		content: fill(`<p>{{text}}</p><p><a href="{{to}}">{{next}}</a></p>`+"\n", "text", text, "to", v.prefix(link.Path), "next", next),
	})
}

// fail is say of a failure.
func (v *visit) fail(status int, title, text string) {
	if status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "5")
	}
	v.write(status, failed, title, text)
}

// onward leads the browser to another site. A redirect would do, but a browser may let a
// form lead to no other site (form-action).
func (v *visit) onward(to, issuer string) {
	v.show(http.StatusOK, page{
		title:   "Going to " + shortIssuer(issuer),
		head:    fill(`<meta http-equiv="refresh" content="0; url={{to}}">`+"\n", "to", to),
		content: fill(template("page_onward.html"), "to", to, "issuer", shortIssuer(issuer)),
	})
}

// sendStyle sends the style sheet.
func sendStyle(w http.ResponseWriter) {
	text := template("page.css")
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Content-Type", "text/css; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, string(text)) // the browser may be gone
}

// prefix returns the path of a page as the browser knows it.
func (v *visit) prefix(path string) string {
	at := strings.TrimPrefix(v.root, v.o.Endpoint.Scheme+"://"+v.o.Endpoint.Host)
	return at + path
}

// sentence returns a text with a capital and a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}
