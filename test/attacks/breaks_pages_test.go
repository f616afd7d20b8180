package attacks_test

import "github.com/mcpctl/mcpctl/test/breaks"

// pageBreakages are those of the pages for people.
func pageBreakages() []breakage {
	one := func(name, decl, from, to string, cases ...string) breakage {
		return breakage{defence: "pages", name: name, below: "cmd/internal/pages", edits: []breaks.Edit{{Decl: decl, From: from, To: to}}, cases: cases}
	}
	return []breakage{
		one("a form needs no token", "(*visit).form", `if err != nil {`, `if err != nil && plain != nil {`,
			"pages/a form without a token", "pages/a form of bob"),
		one("the token of a form is anybody's", "formPurpose", `"\x00" + bound`, `""`,
			"pages/a form of bob"),
		one("the token of a form is for all forms", "formPurpose", `+ path +`, `+`,
			"pages/a form for another page"),
		one("pages answer to any name", "(*Pages).foreign", `if !sameHost(r.Host, p.o.Endpoint) {`, `if r.Host == "" {`,
			"pages/a form by another name"),
		one("a form of another site is taken", "(*Pages).foreign", `o[0] != "null" && o[0] != originOf(p.o.Endpoint)`, `o[0] == ""`,
			"pages/a form of another site"),
		one("a page is shown in another", "(*Pages).foreign", `return "this page cannot be part of another"`, `return ""`,
			"pages/a page in another, as iframe"),
		one("of two cookies the first counts", "(*visit).cookie", `if len(all) != 1 {`, `if len(all) == 0 {`,
			"pages/two cookies"),
		one("a header logs in", "(*visit).credential", `delete(c.Header, "Authorization")`, `if h := v.r.Header.Get("Authorization"); h != "" {
		c.Bearer = h[len("Bearer "):]
	}`,
			"pages/a token as a header"),
		one("a login leads where it is told", "(*visit).arrive", `v.root+back`, `strings.TrimPrefix(back, "/connect")`,
			"pages/a login that leads to |connect||evil.example"),
		one("the pages are there for whoever asks", "(*visit).get", `case v.s == nil:`, `case v.s == nil && path == "":`,
			"pages/nobody opens |connect"),
	}
}
