package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access/link"
)

// list shows the servers that accounts are linked with.
func (v *visit) list() {
	var items markup
	if v.o.Linker != nil {
		for _, server := range v.o.Linker.Linkable() {
			a := account{v, server}
			state, action := "not linked", fill(`<a class="button" href="{{to}}" aria-label="Link {{server}}">Link</a>`, "to", v.prefix(a.path()), "server", server)
			if a.isLinked() {
				state, action = "linked with your account", a.unlinkForm()
			}
			items += fill(template("page_item.html"), "server", server, "state", state, "action", action)
		}
	}
	p := page{title: "Your linked accounts", content: fill(template("page_list.html"), "items", items)}
	if items == "" {
		p.content = "<p>No server is used with an account of your own.</p>\n"
	}
	v.show(http.StatusOK, p)
}

// account is that of the person with one server. The server's name is the browser's: it
// may be any text.
type account struct {
	*visit
	server string
}

func (a account) path() string { return link.Path + "/" + url.PathEscape(a.server) }

// exists reports whether accounts are linked with the server.
func (a account) exists() bool {
	return a.o.Linker != nil && slices.Contains(a.o.Linker.Linkable(), a.server)
}

func (a account) isLinked() bool { return a.o.Linker.Linked(a.s.principal.ID, a.server) }

func (a account) unlinkForm() markup {
	path := a.path() + "/unlink"
	return fill(template("page_unlink.html"), "action", a.prefix(path), "token", a.formToken(path, a.s.secret, ""), "server", a.server)
}

// page shows the page that links an account, or says that one is linked.
func (a account) page() {
	l, ok := a.invitation()
	switch {
	case !ok:
		return
	case !a.exists():
		a.missing()
		return
	case a.isLinked() && l == link.Link{}: // a client that leads here has been refused with the account
		a.show(http.StatusOK, page{
			title: a.server + " is linked", class: done,
			content: fill(template("page_linked.html"), "unlink", a.unlinkForm(), "again", a.prefix(link.Path)),
		})
		return
	}
	d, err := a.o.Linker.Describe(a.r.Context(), a.server)
	switch {
	case errors.Is(err, link.ErrUnknown):
		a.missing()
	case err != nil:
		a.failed(http.StatusBadGateway, err)
	case l.Issuer != "" && l.Issuer != d.Issuer:
		a.fail(http.StatusBadRequest, "This link is not valid any more", "The server has another login now. Ask your client for a new link.")
	default:
		scopes := "what the server asks for"
		if len(d.Scopes) > 0 {
			scopes = strings.Join(d.Scopes, ", ")
		}
		already := ""
		if a.isLinked() {
			already = "You have linked an account before. This replaces it."
		}
		a.show(http.StatusOK, page{title: "Link " + a.server + " with your account", content: fill(template("page_link.html"),
			"server", a.server, "already", already, "host", d.Server, "issuer", d.Issuer, "scopes", scopes,
			"action", a.prefix(a.path()), "token", a.formToken(a.path(), a.s.secret, ""))})
	}
}

// invitation returns the link that has led here, zero for none. It reports false where it
// has refused the request: the link is not for this person, or not for this server.
func (a account) invitation() (l link.Link, ok bool) {
	sealed := a.r.URL.Query()["s"]
	if len(sealed) == 0 {
		return l, true
	}
	l, err := link.Open(a.o.Ring, sealed[0])
	switch {
	case err != nil || len(sealed) > 1 || l.Server != a.server:
		a.fail(http.StatusBadRequest, "This link is not valid any more", "Ask your client for a new one.")
		return l, false
	case l.Principal != a.s.principal.ID:
		a.o.Log.Warn("a link for another person was followed", "principal", a.s.principal.ID, "for", l.Principal, "server", a.server)
		a.fail(http.StatusForbidden, "This link is for somebody else", "You can link only an account of your own. Do not continue with links that others send you.")
		return l, false
	}
	return l, true
}

// link sends the browser to the authorization server of the server.
func (a account) link() {
	if !a.exists() {
		a.missing()
		return
	}
	to, state, err := a.o.Linker.Start(a.r.Context(), a.s.principal.ID, a.server, link.Callback(a.o.Endpoint, a.server))
	u, fault := url.Parse(to)
	switch {
	case errors.Is(err, link.ErrUnknown):
		a.missing()
	case err != nil:
		a.failed(http.StatusBadGateway, err)
	case fault != nil || u.Scheme != "https" && u.Scheme != "http": // not script, for one
		a.failed(http.StatusBadGateway, errors.New("the server names no address to log in at"))
	default:
		a.s.expect(a.server, state)
		a.onward(to, u.Scheme+"://"+u.Host)
	}
}

// returned takes what the authorization server says.
func (a account) returned() {
	q := a.r.URL.Query()
	if len(q["state"]) != 1 || !a.s.take(a.server, q.Get("state")) {
		a.fail(http.StatusBadRequest, "This is not an answer to a login", "It belongs to no account that you are linking in this browser, or has been used before.")
		return
	}
	if err := a.o.Linker.Finish(a.r.Context(), a.s.principal.ID, a.server, q); err != nil {
		a.failed(http.StatusForbidden, err)
		return
	}
	http.Redirect(a.w, a.r, a.root+a.path(), http.StatusSeeOther)
}

func (a account) unlink() {
	if !a.exists() {
		a.missing()
		return
	}
	if err := a.o.Linker.Unlink(a.r.Context(), a.s.principal.ID, a.server); err != nil {
		a.o.Log.Warn("an account cannot be unlinked", "principal", a.s.principal.ID, "server", a.server, "err", err)
		a.fail(http.StatusInternalServerError, a.server+" is still linked", sentence(err.Error()))
		return
	}
	http.Redirect(a.w, a.r, a.root+link.Path, http.StatusSeeOther)
}

// failed says why no account is linked.
func (a account) failed(status int, err error) {
	a.o.Log.Warn("an account cannot be linked", "principal", a.s.principal.ID, "server", a.server, "err", err)
	a.fail(status, a.server+" is not linked", sentence(err.Error()))
}
