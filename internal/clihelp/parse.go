package clihelp

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// section is what the lines under a heading are.
type section int

const (
	prose section = iota
	usageSection
	commandSection
	argSection
	flagSection
	aliasSection
	otherSection // examples and the like: no option and no command is read there
)

// Parse returns what a help text says of the command at path, which are the words after
// the tool's name. It never fails: of a text that is no help it finds little or nothing.
func Parse(text []byte, path []string) Command {
	p := parser{lines: splitColumns(split(clean(text))), cmd: Command{Path: slices.Clone(path)}}
	return p.run()
}

// run reads all lines.
func (p *parser) run() Command {
	for i := 0; i < len(p.lines); {
		i = max(p.step(i), i+1)
	}
	p.finish()
	return p.cmd
}

// parser goes over the lines of one help text.
type parser struct {
	lines   []line
	cmd     Command
	in      section
	heading int // indentation of the heading of the section
	forms   []string
	prog    string // the tool's name as forms of usage have it
	// bracketed are the options that npm lists in brackets.
	bracketed string
	items     []item // of argument sections
	place     string // the name that stands for a subcommand
	// actions are flags that a section of commands lists, as what the tool does, with what
	// they work on; acting reports that the present section lists them.
	actions []string
	acting  bool
	defined map[string]string // the grammar of names, as in OBJECT := { a | b }
	flags   flagSet
	spoken  []Flag // flags of which prose speaks
	text    []string
	// blockEnd is where the block of lines that was looked at last ends, and noTable
	// that it is no table of names.
	blockEnd int
	noTable  bool
	// first is the indentation of the first option of the section, -1 before it. long is
	// that of the long spellings where these have their own column, 0 where not.
	first, long int
}

// step reads the line at i and what belongs to it. It returns the index of the next one.
func (p *parser) step(i int) int {
	l := p.lines[i]
	if l.blank() {
		p.text = append(p.text, "")
		return i + 1
	}
	if next := p.definition(i); next > i {
		return next
	}
	if rest, ok := usageStart(l.text); ok && p.in != otherSection {
		return p.usage(i, rest)
	}
	if kind, ok := p.headingAt(i); ok {
		p.in, p.heading, p.first, p.acting = kind, l.indent, -1, false
		return i + 1
	}
	if p.in == otherSection {
		return i + 1
	}
	if m := aliasLine().FindString(l.text); m != "" {
		p.aliases(l.text[len(m):])
		return i + 1
	}
	if p.in == flagSection && strings.HasPrefix(l.text, "[-") && p.bracketed == "" {
		return p.block(i)
	}
	if next := p.option(i); next > i {
		return next
	}
	switch p.in {
	case flagSection, otherSection:
	case commandSection:
		return p.commands(i)
	case argSection:
		return p.argument(i)
	case aliasSection:
		p.aliases(l.text)
	case prose, usageSection:
		p.prose(i)
	}
	p.flagsInProse(l.text)
	return i + 1
}

var aliasLine = lazy.Regexp(`^alias(?:es)?: \b`)

var (
	usageWord  = lazy.Regexp(`^(?i:usage|syntax|synopsis)\b:? *`)
	usageBelow = lazy.Regexp(`(?i)^usage of \S+:$|[.)] +usage:$`)
)

// usageStart reports that a line opens the forms of usage, and returns what of them
// stands on it.
func usageStart(s string) (string, bool) {
	if usageBelow().MatchString(s) { // the last word of a title, or "Usage of TOOL:" of Go's flag
		return "", true
	}
	m := usageWord().FindString(s)
	rest := s[len(m):]
	switch {
	case m == "":
		return "", false
	case strings.Contains(m, ":"):
		return rest, true
	}
	return "", rest == "" && (strings.ToUpper(s) == s || m == s)
}

// usage collects forms of usage: those on the line at i, on lines that go on with it,
// and on lines below.
func (p *parser) usage(i int, first string) int {
	base := p.lines[i].indent
	if first != "" {
		p.form(first)
	}
	j := i + 1
	if first == "" && j < len(p.lines) && p.lines[j].blank() {
		j++
	}
	for ; j < len(p.lines) && (!p.lines[j].blank() || p.formBehind(j)); j++ {
		l := p.lines[j]
		if l.blank() {
			continue
		}
		switch alternative, ok := p.alternative(l.text); {
		case definition().MatchString(l.text):
			return j
		case ok:
			p.form(alternative)
		case len(p.forms) == 0 && (first == "") && l.text[0] != '-':
			p.form(l.text)
		case (l.indent > base || l.text[0] == '[') && len(p.forms) > 0 && p.continues(j, base):
			if f := &p.forms[len(p.forms)-1]; len(*f) < maxText {
				*f += " " + l.text
			}
		default:
			p.in, p.first = prose, -1
			return j
		}
	}
	p.in, p.first = prose, -1
	return j
}

// alternative returns the form of usage of a line that has another one: it begins with
// the tool's name, or with the word "or".
func (p *parser) alternative(text string) (string, bool) {
	if rest, ok := strings.CutPrefix(text, "or:"); ok {
		return strings.TrimLeft(rest, " "), true
	}
	rest := strings.TrimLeft(strings.TrimPrefix(text, "or "), " ")
	name, _, _ := strings.Cut(rest, " ")
	if p.prog != "" && name == p.prog {
		return rest, true
	}
	return "", false
}

// formBehind reports that another form of usage stands behind the blank line at i.
func (p *parser) formBehind(i int) bool {
	if i+1 >= len(p.lines) || p.lines[i+1].blank() || p.lines[i+1].indent == 0 {
		return false
	}
	text := p.lines[i+1].text
	return len(p.cmd.Path) > 0 && strings.HasPrefix(text, strings.Join(p.prefix(), " ")+" ") && strings.ContainsAny(text, "[{<")
}

// continues reports that a line under the usage goes on with it: it is neither an option
// with its description nor prose.
func (p *parser) continues(i, base int) bool {
	l := p.lines[i]
	if openBrackets(p.forms[len(p.forms)-1]) {
		return true
	}
	names, _, _ := readOption(l.text)
	return (len(names) == 0 || l.indent >= base+8) && !strings.HasPrefix(l.text, "---") && !siblings().MatchString(l.text) && !sentence().MatchString(l.text)
}

// sentence matches three words of prose in a row.
var sentence = lazy.Regexp(`(?:^| )[A-Za-z][a-z']*,? [a-z][a-z']*,? [a-z][a-z']*[,.;]?(?: |$)`)

func openBrackets(form string) bool {
	return strings.Count(form, "[")+strings.Count(form, "(") > strings.Count(form, "]")+strings.Count(form, ")")
}

func (p *parser) form(s string) {
	if name, _, _ := strings.Cut(s, " "); p.prog == "" {
		p.prog = name
	}
	if i := strings.Index(s, "  "); i > 0 && !strings.ContainsAny(strings.TrimLeft(s[i:], " ")[:1], "[<({|-.") && s[:i] != p.prog && !openBrackets(s[:i]) {
		s = s[:i] // a description beside the form
	}
	s, _, _ = strings.Cut(s, " # ") // a comment
	if len(p.forms) < 50 {
		p.forms = append(p.forms, s)
	}
}

var (
	capitals = lazy.Regexp(`^[A-Z][A-Z0-9 /()&'-]{2,}$`)
	sayOther = lazy.Regexp(`(?i)^(?:[\w ]{0,30} )?examples?(?: [\w ]{0,30})?$|\btopics?\b|\bguides?\b|concept|\bformats\b|protocols|interfaces|^environment|^see also|learn more|exit (status|code)|\bvalues\b|\balias commands|^notes?$|shortcuts`)
	// environmentCommands are of systemctl: commands about the environment.
	environmentCommands = lazy.Regexp(`(?i)^environment commands$`)
	sayExample          = lazy.Regexp(`(?i)^examples?$`)
	sayFlags            = lazy.Regexp(`(?i)\b(options?|flags?|switches)\b`)
	sayArgs             = lazy.Regexp(`(?i)^(positional arguments|arguments?|positionals|parameters|args|operands)$`)
	sayCommand          = lazy.Regexp(`(?i)\b(sub-?)?commands?\b|\bfunctions\b|\bapplets\b`)
	sayHow              = lazy.Regexp(`(?i)\b(?:see|show|for|get) (?:more )?help\b|, (?:use|run|try)\b`)
	sayAliases          = lazy.Regexp(`(?i)^alias(es)?$`)
)

var marked = lazy.Regexp(`^<([A-Z][a-z]+)>$`)

// headingAt reports whether a line is the heading of a section, and of which.
func (p *parser) headingAt(i int) (section, bool) {
	l := p.lines[i]
	title, colon := strings.CutSuffix(l.text, ":")
	if m := marked().FindStringSubmatch(l.text); m != nil && l.indent == 0 { // <Commands>
		title, colon = m[1], true
	}
	bare := !colon && l.indent == 0 && p.plainHeading(i)
	deep := 3
	if p.in == otherSection {
		deep = max(1, p.heading)
	}
	if l.indent > deep || l.text[0] == '-' || len(title) > 100 || !colon && !bare && !(l.indent == 0 && capitals().MatchString(l.text)) {
		return prose, false
	}
	if colon && p.in == commandSection && !strings.Contains(title, " ") && l.indent > p.heading && !sayExample().MatchString(title) {
		return prose, false
	}
	title = strings.TrimSpace(title)
	switch {
	case sayAliases().MatchString(title):
		return aliasSection, true
	case sayArgs().MatchString(title):
		return argSection, true
	case sayFlags().MatchString(title) && !strings.Contains(strings.ToLower(title), "example"):
		return flagSection, true
	case sayOther().MatchString(title) && !environmentCommands().MatchString(title):
		return otherSection, true
	case sayCommand().MatchString(title) && !sayHow().MatchString(title):
		return commandSection, true
	case p.in == argSection, p.in == aliasSection:
		return flagSection, true
	case p.in == commandSection && colon && l.indent == 0:
		return p.in, true // another group of commands
	}
	if p.in == otherSection {
		return flagSection, true
	}
	return p.in, p.in != prose
}

// plainHeading reports that a line without a colon is a heading of commands: it stands
// after a blank line and in front of a list.
func (p *parser) plainHeading(i int) bool {
	s := p.lines[i].text
	if i+1 >= len(p.lines) || p.lines[i+1].blank() || i > 0 && !p.lines[i-1].blank() || strings.HasSuffix(s, ".") || wide().MatchString(s) {
		return false
	}
	next := p.lines[i+1]
	listed := len(columns(next.text)) >= 3
	if next.indent > 0 {
		_, command := readCommand(next.text, nil)
		listed = listed || command && len(columns(next.text)) > 1
	}
	return listed && (sayCommand().MatchString(s) || p.in == commandSection && sayOther().MatchString(s))
}

// option reads the option at line i with its description. It returns i where there is
// none.
func (p *parser) option(i int) int {
	l := p.lines[i]
	if m := plus().FindString(l.text); m != "" { // +s, --no-sort
		l.text = l.text[len(m):]
	}
	if m := counted().FindString(l.text); m != "" { // -<number>, -n <number>
		l.text = l.text[len(m):]
	}
	if l.text[0] != '-' || p.inParagraph(i) || p.first >= 0 && l.indent > p.first+6 && l.indent != p.long {
		return i
	}
	if at := strings.Index(l.text, "  --"); at > 0 && !strings.HasPrefix(l.text, "--") {
		if names, _, _ := readOption(l.text); len(names) > 1 {
			p.long = l.indent + at + 2
		}
	}
	if flags := several(l.text); flags != nil {
		for _, f := range flags {
			p.flags.add(f)
		}
		return i + 1
	}
	if m := digits().FindStringSubmatch(l.text); m != nil {
		for c := m[1][0]; c <= m[2][0]; c++ {
			p.flags.add(Flag{Short: "-" + string(c), Kind: Bool, Summary: m[3]})
		}
		return i + 1
	}
	if m := siblings().FindStringSubmatch(l.text); m != nil {
		for name := range strings.SplitSeq(m[2], "/") {
			if names, desc, _ := readOption(m[1] + name + m[3]); len(names) > 0 {
				f := newFlag(names)
				f.describe(desc)
				p.flags.add(f)
			}
		}
		return i + 1
	}
	start, text := i, l.text
	for strings.HasSuffix(text, ",") && i+1 < len(p.lines) && strings.HasPrefix(p.lines[i+1].text, "-") && i < start+8 {
		i++ // spellings on several lines
		text += " " + p.lines[i].text
	}
	names, desc, at := readOption(text)
	if len(names) == 0 {
		return start
	}
	if i > start {
		at = -1
	}
	if at > 0 && p.ofGo(i, names, desc) {
		names[0].value, desc, at = desc, "", -1
	}
	if p.first < 0 {
		p.first = l.indent
	}
	p.first = min(p.first, l.indent)
	column := -1
	if at >= 0 {
		column = l.indent + at
	}
	j := i + 1
	for ; j < len(p.lines); j++ {
		next := p.lines[j]
		if next.blank() {
			k := nextText(p.lines, j)
			if k < 0 || column < 0 && k > i+1 || p.lines[k].indent < column || p.lines[k].indent <= l.indent+2 {
				break
			}
			j = k - 1
			continue
		}
		if next.indent <= l.indent {
			break
		}
		if next.text[0] == '-' && (next.indent == p.long || (column < 0 || next.indent < column) && next.indent <= p.first+6) {
			if other, _, _ := readOption(next.text); len(other) > 0 {
				break
			}
		}
		if column < 0 {
			column = next.indent
		}
		desc = join(desc, next.text)
	}
	f := newFlag(names)
	f.describe(desc)
	p.flags.add(f)
	if p.in == commandSection && len(p.cmd.Sub) == 0 {
		p.in, p.acting = flagSection, true
	}
	if last := names[len(names)-1]; p.acting && last.value != "" && !last.glued {
		p.actions = append(p.actions, f.names()...)
	}
	if p.in == usageSection {
		p.in = prose
	}
	return j
}

// ofGo reports that what stands beside an option is its value, as Go's package flag writes
// it: "-tags build tags", with the description on the next line.
func (p *parser) ofGo(i int, names []spelling, desc string) bool {
	name := names[0].name
	return len(names) == 1 && names[0].value == "" && len(name) > 2 && name[1] != '-' && p.lines[i].text == name+" "+desc &&
		len(strings.Fields(desc)) <= 3 && i+1 < len(p.lines) && p.lines[i].indent == 2 && p.lines[i+1].indent == 8
}

// siblings matches flags that share their dashes and the rest of the line: -sN/sF/sX: Scans
var siblings = lazy.Regexp(`^(--?)([A-Za-z][A-Za-z-]*(?:/[A-Za-z][A-Za-z-]*)+)((?:[:\[ ]).*)$`)

var counted = lazy.Regexp(`^-<[a-z]+>, `)

var plus = lazy.Regexp(`^\+\w, `)

// digits matches a range of switches: -0 ... -9  compression level
var digits = lazy.Regexp(`^-(\d) ?\.\.\.? ?-(\d)\b *(.*)$`)

// inParagraph reports that the line at i goes on with a paragraph of prose.
func (p *parser) inParagraph(i int) bool {
	if i == 0 || p.lines[i-1].blank() || p.in == flagSection {
		return false
	}
	if next := p.lines[min(i+1, len(p.lines)-1)]; i+1 < len(p.lines) && next.indent == p.lines[i].indent && strings.HasPrefix(next.text, "-") {
		return false // a list of options
	}
	before := p.lines[i-1]
	return before.indent == p.lines[i].indent && before.text[0] != '-' && !strings.HasSuffix(before.text, ":") && p.in == prose && len(before.text) > 40
}

// nextText returns the index of the next line with text from i on, -1 for none.
func nextText(lines []line, i int) int {
	for ; i < len(lines); i++ {
		if !lines[i].blank() {
			return i
		}
	}
	return -1
}

// block reads lines of options in brackets, as a usage has them.
func (p *parser) block(i int) int {
	var all strings.Builder
	for ; i < len(p.lines) && !p.lines[i].blank(); i++ {
		all.WriteString(p.lines[i].text + " ")
	}
	p.bracketed = cut(all.String(), maxText)
	return i
}

// prose notes a line of the description.
func (p *parser) prose(i int) {
	l := p.lines[i]
	if len(p.forms) == 0 && len(p.text) == 0 && looksLikeUsage().MatchString(l.text) {
		p.form(l.text) // systemctl, yargs: the usage without the word
		return
	}
	if i+1 < len(p.lines) && p.lines[i+1].indent > l.indent {
		if names, _, _ := readOption(p.lines[i+1].text); len(names) > 0 {
			return // a heading of options without a colon
		}
	}
	if len(p.flags.list) == 0 && len(p.cmd.Sub) == 0 {
		p.text = append(p.text, l.text)
	}
}

var (
	theFlag  = lazy.Regexp(`^The ((?:-[a-z][\w-]*(?:=[^\s,]+)?(?:, and |, | and )?)+) flags?('s value)?(?: |$)`)
	flagWord = lazy.Regexp(`-[a-z][\w-]*(?:=[^\s,]+)?`)
)

// flagsInProse notes flags of which a paragraph speaks, as go's help does: "The -m flag
// causes ...".
func (p *parser) flagsInProse(s string) {
	m := theFlag().FindStringSubmatch(s)
	if m == nil {
		return
	}
	for _, w := range flagWord().FindAllString(m[1], -1) {
		if name, n := readSpelling(w); n == len(w) {
			if m[2] != "" {
				name.value = "value"
			}
			p.spoken = append(p.spoken, newFlag([]spelling{name}))
		}
	}
}

var looksLikeUsage = lazy.Regexp(`^[a-z][\w.-]*(?: [a-z][\w.-]*)* (?:\[[^\]]+\]|<[^>]+>)(?: |$|\.)`)

// aliases notes other names of the command itself: "list, ls", or whole paths.
func (p *parser) aliases(s string) {
	own := ""
	if n := len(p.cmd.Path); n > 0 {
		own = p.cmd.Path[n-1]
	}
	for part := range strings.SplitSeq(s, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		name := words[len(words)-1]
		if len(words) > 1 && len(words) != len(p.cmd.Path)+1 {
			continue
		}
		if validName(name) && name != own && !slices.Contains(p.cmd.Aliases, name) && len(p.cmd.Aliases) < 50 {
			p.cmd.Aliases = append(p.cmd.Aliases, name)
		}
	}
}

var definition = lazy.Regexp(`^(?:where +)?([A-Z][A-Z_-]*) +:= +\{`)

// definition reads the grammar of a name from the line at i on.
func (p *parser) definition(i int) int {
	m := definition().FindStringSubmatch(p.lines[i].text)
	if m == nil {
		return i
	}
	_, text, _ := strings.Cut(p.lines[i].text, ":= ")
	j := i + 1
	for ; closing(text) < 0 && j < len(p.lines) && !p.lines[j].blank() && len(text) < maxText; j++ {
		text += " " + p.lines[j].text
	}
	if end := closing(text); end > 0 {
		if p.defined == nil {
			p.defined = map[string]string{}
		}
		p.defined[m[1]] = strings.TrimSpace(text[1:end])
	}
	return j
}

// define takes the subcommands and the options that definitions name.
func (p *parser) define() {
	usage := strings.Join(p.forms, " ")
	for _, name := range slices.Sorted(maps.Keys(p.defined)) {
		parts := bars(p.defined[name])
		switch {
		case !strings.Contains(usage, name):
		case strings.HasPrefix(parts[0], "-"):
			p.bracketed = p.defined[name]
		case len(p.cmd.Sub) == 0 && p.leads(name) && !slices.ContainsFunc(parts, func(s string) bool { return !lowerWord().MatchString(s) }):
			p.place = name
			for _, s := range parts {
				p.sub(item{name: s})
			}
		}
	}
}

// leads reports that a form of usage has a name behind the tool and its options.
func (p *parser) leads(name string) bool {
	return slices.ContainsFunc(p.forms, func(form string) bool {
		rest, ok := afterPath(form, p.cmd.Path)
		if end := closing(rest); ok && end > 0 && rest[0] == '[' {
			rest = strings.TrimLeft(rest[end+1:], " ")
		}
		return ok && strings.HasPrefix(rest, name+" ")
	})
}

// prefix are the words that some libraries put in front of each command they list.
func (p *parser) prefix() []string {
	if p.prog == "" {
		return nil
	}
	return append([]string{p.prog}, p.cmd.Path...)
}

// commands reads the block of a list of commands that begins at i.
func (p *parser) commands(i int) int {
	if i >= p.blockEnd {
		p.blockEnd = i
		for p.blockEnd < len(p.lines) && !p.lines[p.blockEnd].blank() {
			p.blockEnd++
		}
		p.noTable = false
	}
	end := p.blockEnd
	var names []string
	if !p.noTable {
		names = table(p.lines[i:end])
		p.noTable = names == nil
	}
	if names != nil {
		for _, name := range names {
			p.sub(item{name: name})
		}
		return end
	}
	if l := p.lines[i]; l.indent <= p.heading && l.indent == 0 {
		if i+1 < end && p.lines[i+1].indent > 0 && !sayOther().MatchString(l.text) {
			return i + 1 // a group: its list follows
		}
		p.in, p.first = otherSection, -1
		if l.indent == 0 && i+1 >= end {
			p.in = prose
		}
		return i + 1
	}
	return p.list(i, end)
}

// list reads commands one a line, up to a blank line or the next heading.
func (p *parser) list(i, end int) int {
	at := p.lines[i].indent
	var last *Command
	for j := i; j < end; j++ {
		l := p.lines[j]
		if j > i && l.indent <= p.heading {
			return j
		}
		if l.text[0] == '-' && !strings.HasPrefix(l.text, "- ") && (last == nil || l.indent <= at) {
			return j
		}
		if l.indent > at {
			if last != nil {
				last.Summary = join(last.Summary, strings.TrimPrefix(l.text, "- "))
			}
			continue
		}
		it, ok := readCommand(l.text, p.prefix())
		last = nil
		switch {
		case !ok:
		case it.choices != nil && j+1 < end && p.lines[j+1].indent > at:
			at = p.lines[j+1].indent
		case it.choices != nil:
			for _, name := range it.choices {
				p.sub(item{name: name})
			}
		case it.mark == it.name && end-i > 1 && !p.nameAlone(j, end, at):
		default:
			at = l.indent
			last = p.sub(it)
		}
	}
	return end
}

// nameAlone reports that the single word at j is a command rather than a wrapped line:
// its neighbours are commands or it has a description below.
func (p *parser) nameAlone(j, end, at int) bool {
	if j+1 < end && p.lines[j+1].indent > at {
		return true
	}
	for _, k := range []int{j - 1, j + 1} {
		if k >= 0 && k < end && p.lines[k].indent == at {
			if _, ok := readCommand(p.lines[k].text, p.prefix()); ok {
				return true
			}
		}
	}
	return false
}

// sub adds a subcommand, and returns it. An alias of another one is noted there.
func (p *parser) sub(it item) *Command {
	if m := aliasOf().FindString(it.summary); m != "" {
		of := strings.Trim(strings.TrimSpace(it.summary[len(m):]), "\"'`")
		for k := range p.cmd.Sub {
			if s := &p.cmd.Sub[k]; s.Path[len(s.Path)-1] == of {
				s.Aliases = append(s.Aliases, it.name)
			}
		}
		return nil
	}
	if len(p.cmd.Sub) >= maxItems || p.has(it.name) {
		return nil
	}
	p.cmd.Sub = append(p.cmd.Sub, Command{
		Path:       append(slices.Clone(p.cmd.Path), it.name),
		Summary:    cut(it.summary, maxSummary),
		Aliases:    it.aliases,
		Args:       it.args,
		Unsure:     it.unsure,
		Deprecated: outdated().MatchString(it.summary),
	})
	return &p.cmd.Sub[len(p.cmd.Sub)-1]
}

// has reports that the command has a subcommand of this name or alias.
func (p *parser) has(name string) bool {
	return slices.ContainsFunc(p.cmd.Sub, func(s Command) bool {
		return s.Path[len(s.Path)-1] == name || slices.Contains(s.Aliases, name)
	})
}

// argument reads an entry of a list of arguments.
func (p *parser) argument(i int) int {
	l := p.lines[i]
	if l.indent <= p.heading {
		p.in = prose
		return i + 1
	}
	cells := columns(l.text)
	mark, desc := cells[0], strings.Join(cells[1:], " ")
	if h, d, ok := strings.Cut(mark, " : "); ok {
		mark, desc = h, d
	}
	if strings.Contains(mark, " ") && !strings.ContainsAny(mark[:1], "<[{") && !strings.HasSuffix(mark, "...") {
		return i + 1
	}
	it := item{name: argName(mark), mark: mark, choices: choices(mark)}
	parser := len(p.forms) > 0 && strings.HasSuffix(p.forms[0], " "+mark+" ...") // of argparse
	nested := parser || slices.Contains([]string{"command", "subcommand", "action", "cmd"}, strings.ToLower(it.name))
	j := i + 1
	for ; j < len(p.lines); j++ {
		next := p.lines[j]
		if next.blank() {
			k := nextText(p.lines, j)
			if k < 0 || p.lines[k].indent <= l.indent+4 {
				break
			}
			j = k - 1
			continue
		}
		if next.indent <= l.indent {
			break
		}
		sub, ok := readCommand(next.text, nil)
		if ok && next.indent <= l.indent+4 && (slices.Contains(it.choices, sub.name) || nested && len(columns(next.text)) > 1) {
			return p.choices(j, it)
		}
		desc = join(desc, next.text)
	}
	it.summary = cut(desc, maxSummary)
	if len(p.items) < 100 {
		p.items = append(p.items, it)
	}
	return j
}

// choices reads the subcommands that argparse lists under a positional argument.
func (p *parser) choices(i int, of item) int {
	p.place = of.name
	end := i
	for end < len(p.lines) && p.lines[end].indent >= p.lines[i].indent && !p.lines[end].blank() {
		end++
	}
	p.list(i, end)
	for _, name := range of.choices {
		if !p.has(name) {
			p.sub(item{name: name})
		}
	}
	return end
}

// finish puts together what the lines said.
func (p *parser) finish() {
	p.define()
	if len(p.cmd.Sub) == 0 && len(p.forms) > 0 {
		p.subsFromUsage()
	}
	u := p.readUsage()
	r := &formReader{takes: p.flags.takes}
	r.alternatives(p.bracketed, 1)
	for _, f := range append(u.flags, r.flags...) {
		p.flags.addFromUsage(f)
	}
	for _, f := range p.spoken {
		p.flags.add(f)
	}
	p.cmd.Args, p.cmd.ArgsFirst, p.cmd.Chained = u.args, u.argsFirst, u.chained
	p.describeArgs()
	switch known := len(p.flags.list) > 0 || len(p.forms) > 0; {
	case len(p.cmd.Sub) > 0 || !known:
	case len(p.actions) > 0 && len(p.cmd.Args) == 1 && commandWord(p.cmd.Args[0].Name):
		p.flags.act(p.actions)
		p.unsure()
	case !u.read && !(len(p.items) > 0 && len(p.cmd.Args) > 0):
		p.unsure()
	}
	p.cmd.Flags = p.flags.finish(suffixes().MatchString(whole(p.lines)))
	text := strings.TrimSpace(strings.Join(p.text, "\n"))
	p.cmd.Text = cut(text, maxText)
	p.cmd.Summary, _, _ = strings.Cut(p.cmd.Text, "\n")
	p.cmd.Summary = cut(p.cmd.Summary, maxSummary)
	p.cmd.Deprecated = outdated().MatchString(p.cmd.Summary)
}

// unsure gives the command arguments that take any words.
func (p *parser) unsure() { p.cmd.Args, p.cmd.Unsure = AnyArgs(), true }

var suffixes = lazy.Regexp(`(?i)multipl\w+ suffix|\+N\b`)

func whole(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func (p *parser) readUsage() usage {
	return readUsage(p.forms, p.cmd.Path, p.flags.takes, len(p.cmd.Sub) > 0, p.place)
}

// subsFromUsage takes the subcommands that forms of usage name, where no list does.
func (p *parser) subsFromUsage() {
	u := p.readUsage()
	for _, name := range u.parser {
		p.sub(item{name: name})
	}
	if len(u.parser) > 0 {
		return
	}
	for _, it := range u.subs {
		p.sub(it)
	}
}

// describeArgs adds what argument sections say to the arguments of the usage. One that
// the usage does not have is added, unless it is the place of a subcommand.
func (p *parser) describeArgs() {
	for _, it := range p.items {
		i := slices.IndexFunc(p.cmd.Args, func(a Arg) bool { return sameName(a.Name, it.name) })
		if i < 0 {
			if generic(it.name) || len(p.cmd.Sub) > 0 && commandWord(it.name) || len(p.cmd.Args) > 0 || !strings.HasPrefix(it.mark, "<") && !mustGive().MatchString(it.summary) {
				continue
			}
			p.cmd.Args = append(p.cmd.Args, Arg{Name: it.name, Required: true, Repeated: strings.Contains(it.mark, "...")})
			i = len(p.cmd.Args) - 1
		}
		a := &p.cmd.Args[i]
		a.Summary = it.summary
		if a.Enum == nil {
			a.Enum = it.choices
		}
		if a.Enum == nil {
			a.Enum = listedValues(it.summary)
		}
	}
}

func sameName(a, b string) bool {
	fold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("-_ .", r) {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	return fold(a) == fold(b)
}
