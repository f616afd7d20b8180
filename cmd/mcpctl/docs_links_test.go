package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestDocsLinks: every link of every page leads to a file and a heading that are there,
// and readers come to each page by links.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	faults, err := linkFaults(os.DirFS(checkout()))
	require.NoError(t, err)
	for _, f := range faults {
		t.Error(f)
	}
}

const (
	readmePage  = "README.md"
	reportsPage = "test/reports/README.md"
	textList    = "docs/llms.txt" // the pages for readers that take text only
)

// linkFaults returns the links of a checkout that lead nowhere, and the pages to which none
// leads: to those of docs from README.md and docs/llms.txt, to the files of test/reports from
// its index.
func linkFaults(checkout fs.FS) ([]string, error) {
	pages, reports, err := linkedFiles(checkout)
	if err != nil {
		return nil, err
	}
	var faults []string
	leads := map[string][]string{} // the files that a page links
	for _, page := range pages {
		text, err := fs.ReadFile(checkout, page)
		if err != nil {
			return nil, err
		}
		for _, link := range links(string(text)) {
			file, fault := follow(checkout, page, link)
			if fault != "" {
				faults = append(faults, fmt.Sprintf("%s: link to %s: %s", page, link, fault))
			}
			leads[page] = append(leads[page], file)
		}
	}
	fromReadme := reached(leads, readmePage, "docs/")
	for _, page := range pages {
		if !strings.HasPrefix(page, "docs/") || path.Ext(page) != ".md" {
			continue
		}
		if !fromReadme[page] {
			faults = append(faults, page+": no link leads to it from "+readmePage)
		}
		if path.Dir(page) == "docs" && !slices.Contains(leads[textList], page) {
			faults = append(faults, page+": "+textList+" does not list it")
		}
	}
	fromIndex := reached(leads, reportsPage, "test/reports/")
	for _, file := range reports {
		if !fromIndex[file] {
			faults = append(faults, file+": no link leads to it from "+reportsPage)
		}
	}
	return faults, nil
}

// linkedFiles returns the pages of a checkout, and all files of test/reports.
func linkedFiles(checkout fs.FS) (pages, reports []string, err error) {
	err = fs.WalkDir(checkout, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if path.Ext(name) == ".md" || name == textList {
			pages = append(pages, name)
		}
		if strings.HasPrefix(name, "test/reports/") {
			reports = append(reports, name)
		}
		return nil
	})
	return pages, reports, err
}

// reached returns where links lead from a page, through pages of one folder.
func reached(leads map[string][]string, start, folder string) map[string]bool {
	seen, next := map[string]bool{start: true}, []string{start}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		for _, file := range leads[page] {
			if !seen[file] && strings.HasPrefix(file, folder) {
				seen[file], next = true, append(next, file)
			}
		}
	}
	return seen
}

var (
	// linkRE has the forms of a link: [text](target), with a title or without, its target on a
	// separate line ([text]: target), and attributes of HTML.
	linkRE = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]: *(\S+)|\b(?:src|href)="([^"]+)"`)
	// spanRE is code within a line.
	spanRE = regexp.MustCompile("``[^`]+.*?``|`[^`]*`")
)

// links returns the targets of a page's links. Those to other sites are left out.
func links(page string) []string {
	var out []string
	for _, line := range prose(page) {
		for _, m := range linkRE.FindAllStringSubmatch(spanRE.ReplaceAllString(line, ""), -1) {
			target := m[1] + m[2] + m[3]
			if !strings.Contains(target, "://") && !strings.HasPrefix(target, "mailto:") {
				out = append(out, target)
			}
		}
	}
	return out
}

// prose returns the lines of a page that are in no fenced block.
func prose(page string) []string {
	var out []string
	fence := ""
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, " >")
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case strings.HasPrefix(text, "```"):
			fence = "```"
		case strings.HasPrefix(text, "~~~"):
			fence = "~~~"
		default:
			out = append(out, line)
		}
	}
	return out
}

// follow returns the file that a link of a page leads to, and what is wrong with the link.
func follow(checkout fs.FS, page, link string) (file, fault string) {
	target, anchor, _ := strings.Cut(link, "#")
	file = page
	if target != "" {
		file = path.Join(path.Dir(page), target)
	}
	if !fs.ValidPath(file) || path.IsAbs(target) {
		return "", "it leaves the checkout"
	}
	info, err := fs.Stat(checkout, file)
	switch {
	case err != nil:
		return file, "no such file"
	case anchor == "":
		return file, ""
	case info.IsDir() || path.Ext(file) != ".md":
		return file, "only pages have headings"
	}
	text, err := fs.ReadFile(checkout, file)
	if err != nil {
		return file, err.Error()
	}
	if !slices.Contains(anchors(string(text)), anchor) {
		return file, "no such heading"
	}
	return file, ""
}

var (
	headingRE = regexp.MustCompile(`^#{1,6} +(.*?)[ #]*$`)
	labelRE   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// anchors are the headings of a page as GitHub names them in links: letters, digits, hyphens
// and underscores, with hyphens instead of spaces. A name that is there already gets a number.
func anchors(page string) []string {
	var out []string
	count := map[string]int{}
	for _, line := range prose(page) {
		m := headingRE.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || unicode.Is(unicode.Pc, r) || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
				return r
			}
			return -1
		}, strings.ToLower(labelRE.ReplaceAllString(m[1], "$1")))
		n := count[name]
		count[name]++
		if n > 0 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		out = append(out, name)
	}
	return out
}

// TestDocsLinksCatch shows the check a checkout without a fault, and then with one fault each.
func TestDocsLinksCatch(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"README.md": "# A\n\n[b](docs/b.md), [itself](#a), [a folder](docs), ![p](docs/p.svg \"P\"), [web](https://example.com/#x),\n[reports](test/reports/README.md)\n",
		"docs/b.md": "# The `B` page: 1 → 2, _x_\n\n## Same\n\n## Same\n\n```sh\n# no heading [x](no.md)\n```\n\n`[x](no.md)` [c](c.md#c) [s](#same-1) " +
			"[t](#the-b-page-1--2-_x_)\n",
		"docs/c.md":                "# C\n\n<img src=\"p.svg\">\n[ref]\n\n[ref]: ../README.md#a\n",
		"docs/p.svg":               "<svg/>",
		"docs/llms.txt":            "- [b](b.md): has b\n- [c](c.md): has c\n",
		"test/reports/README.md":   "# Reports\n\n[r](r.md)\n",
		"test/reports/r.md":        "# R\n\n[raw](raw/r.json)\n",
		"test/reports/raw/r.json":  "{}",
		"test/node_modules/x/a.md": "[x](no.md)\n",
		".bin/a.md":                "[x](no.md)\n",
	}
	for name, tt := range map[string]struct{ file, text, want string }{
		"nothing":                      {},
		"a file":                       {"docs/b.md", "[x](no.md) [c](c.md)", "docs/b.md: link to no.md: no such file"},
		"a heading":                    {"README.md", "# A\n[x](docs/b.md#nothing) [r](test/reports/README.md)", "README.md: link to docs/b.md#nothing: no such heading"},
		"a heading of the page":        {"docs/c.md", "# C\n[x](#d)", "docs/c.md: link to #d: no such heading"},
		"a heading in a block":         {"docs/c.md", "# C\n[x](b.md#no-heading-xnomd)", "docs/c.md: link to b.md#no-heading-xnomd: no such heading"},
		"a heading once too often":     {"docs/c.md", "# C\n[x](b.md#same-2)", "docs/c.md: link to b.md#same-2: no such heading"},
		"a heading of a file":          {"docs/c.md", "# C\n[x](p.svg#x)", "docs/c.md: link to p.svg#x: only pages have headings"},
		"a picture":                    {"docs/c.md", "# C\n![x](no.svg)", "docs/c.md: link to no.svg: no such file"},
		"a picture in HTML":            {"docs/c.md", "# C\n<img src=\"no.svg\">", "docs/c.md: link to no.svg: no such file"},
		"a link with a title":          {"docs/c.md", "# C\n[x](no.md \"No\")", "docs/c.md: link to no.md: no such file"},
		"a link by reference":          {"docs/c.md", "# C\n[x]: no.md", "docs/c.md: link to no.md: no such file"},
		"outside":                      {"docs/c.md", "# C\n[x](../../no.md)", "docs/c.md: link to ../../no.md: it leaves the checkout"},
		"the root of the site":         {"docs/c.md", "# C\n[x](/README.md)", "docs/c.md: link to /README.md: it leaves the checkout"},
		"the list for readers of text": {"docs/llms.txt", "[b](b.md) [c](c.md)\n- [x](no.md): no", "docs/llms.txt: link to no.md: no such file"},
		"a page elsewhere":             {"test/README.md", "[x](no.md)", "test/README.md: link to no.md: no such file"},
		"a page without a link":        {"README.md", "# A\n[c](docs/c.md) [r](test/reports/README.md)", "docs/b.md: no link leads to it from README.md"},
		"a page that is not listed":    {"docs/llms.txt", "- [b](b.md): has b\n", "docs/c.md: docs/llms.txt does not list it"},
		"a report without a link":      {"test/reports/s.md", "# S", "test/reports/s.md: no link leads to it from test/reports/README.md"},
		"a figure without a link":      {"test/reports/raw/s.svg", "", "test/reports/raw/s.svg: no link leads to it from test/reports/README.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := fstest.MapFS{}
			for file, text := range good {
				made[file] = &fstest.MapFile{Data: []byte(text)}
			}
			var want []string
			if tt.file != "" {
				made[tt.file] = &fstest.MapFile{Data: []byte(tt.text)}
				want = []string{tt.want}
			}
			got, err := linkFaults(made)
			require.NoError(t, err)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
