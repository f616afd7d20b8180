package clihelp

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// usage is what the forms of usage of one command say.
type usage struct {
	args  []Arg
	flags []Flag
	subs  []item
	// parser is the choice in front of "...": the subcommands of an argparse parser.
	parser []string
	// argsFirst and chained are as in [Command].
	argsFirst, chained bool
	read               bool // there is a form of usage whose arguments can be trusted
}

// most is how many required arguments a form of usage can have. One with more is prose.
const most = 8

// doubtful reports that arguments were read from prose, or that their places cannot be
// known: one that is required behind two that can be left out.
func doubtful(args []Arg) bool {
	words := strings.Fields("a and are be by for from if in is it more not of or see than that the this to when which with you")
	required, optional := 0, 0
	for _, a := range args {
		switch {
		case slices.Contains(words, a.Name):
			return true
		case a.Required && optional > 1:
			return true
		case a.Required:
			required++
		default:
			optional++
		}
	}
	return required > most
}

// takes reports of a flag by its name whether it is known and has a value.
type takes func(name string) (known, value bool)

// readUsage reads the forms of usage of the command at path.
func readUsage(forms []string, path []string, takes takes, group bool, place string) usage {
	var u usage
	var all []form
	for _, text := range forms {
		rest, ok := afterPath(text, path)
		if !ok {
			continue
		}
		r := &formReader{takes: takes, group: group, place: place}
		f := r.alternatives(rest, 0)
		f.word, f.flags, f.keywords = r.firstWord, r.flags, r.keywords
		u.parser = append(u.parser, r.parser...)
		u.argsFirst, u.chained = u.argsFirst || r.argsFirst, u.chained || r.chained
		all = append(all, f)
	}
	if len(all) > 1 {
		var left []form
		behind := map[string][]form{} // by the word they begin with
		for _, f := range all {
			if f.word == "" || strings.ContainsAny(f.word, "|.") && !lowerBars().MatchString(f.word) {
				left = append(left, f)
				continue
			}
			for w := range strings.SplitSeq(f.word, "|") {
				if behind[w] == nil {
					u.subs = append(u.subs, item{name: w})
				}
				behind[w] = append(behind[w], form{args: f.args[min(1, len(f.args)):], keywords: f.keywords})
			}
		}
		for i := range u.subs {
			sub := &u.subs[i]
			sub.args = choose(behind[sub.name]).args
			if sub.unsure = doubtful(sub.args) || slices.ContainsFunc(behind[sub.name], func(f form) bool { return f.keywords }); sub.unsure {
				sub.args = AnyArgs()
			}
		}
		if len(left) == 0 && !group && len(u.subs) == 1 { // many forms that begin alike
			left, u.subs = all, nil
		}
		all = left
	}
	chosen := choose(all)
	u.args = chosen.args
	u.read = len(all) > 0 && !doubtful(chosen.args) && !slices.ContainsFunc(all, func(f form) bool { return f.keywords })
	for _, f := range all {
		u.flags = append(u.flags, f.flags...)
	}
	for i := range u.flags {
		u.flags[i].Required = slices.Contains(chosen.must, u.flags[i].anyName())
	}
	return u
}

var lowerBars = lazy.Regexp(`^[a-z][a-z0-9-]*(?:\|[a-z][a-z0-9-]*)*$`)

func (f Flag) anyName() string {
	if f.Long != "" {
		return f.Long
	}
	return f.Short
}

// afterPath returns a form of usage without the tool's name and path.
func afterPath(text string, path []string) (string, bool) {
	words := strings.Fields(text)
	n := 0
	for n < len(words) && !strings.ContainsAny(words[n][:1], "[<({-$") && n <= len(path)+3 {
		n++
	}
	lead := words[:n]
	if len(lead) == 0 { // without the tool's name
		return text, len(path) == 0 && len(words) > 0 && words[0][0] == '['
	}
	at := 1
	if strings.HasPrefix(lead[0], "python") && len(words) > 2 && words[1] == "-m" {
		lead, at = words[:min(len(words), 3+len(path)+3)], 3
	}
	if len(path) > 0 {
		last := path[len(path)-1]
		if i := slices.IndexFunc(lead, func(w string) bool { return slices.Contains(strings.Split(w, "|"), last) }); i >= 0 {
			at = i + 1
		} else {
			for at < len(lead) && at <= len(path) && lowerWord().MatchString(lead[at]) {
				at++
			}
		}
	}
	if at > len(words) {
		return "", false
	}
	rest := strings.TrimSpace(text)
	for range at {
		_, rest, _ = strings.Cut(rest, " ")
		rest = strings.TrimLeft(rest, " ")
	}
	return rest, true
}

// form is one way to use a command: its positional arguments, and the flags that it
// must have.
type form struct {
	args  []Arg
	must  []string
	flags []Flag
	word  string // a literal word that the form begins with
	// keywords reports that values have a word in front that says what they are.
	keywords bool
}

func (f form) required() int {
	n := 0
	for _, a := range f.args {
		if a.Required {
			n++
		}
	}
	return n
}

// choose returns the form with the most arguments. Only as many are required as every
// form requires.
func choose(forms []form) form {
	if len(forms) == 0 {
		return form{}
	}
	best, least := forms[0], forms[0].required()
	repeats := func(f form) bool { return slices.ContainsFunc(f.args, func(a Arg) bool { return a.Repeated }) }
	for _, f := range forms[1:] {
		least = min(least, f.required())
		if len(f.args) > len(best.args) || len(f.args) == len(best.args) && repeats(f) && !repeats(best) {
			best = f
		}
	}
	out := form{args: slices.Clone(best.args)}
	for i := range out.args {
		if out.args[i].Required {
			out.args[i].Required = least > 0
			least--
		}
	}
	for _, name := range best.must {
		if !slices.ContainsFunc(forms, func(f form) bool { return !slices.Contains(f.must, name) }) {
			out.must = append(out.must, name)
		}
	}
	return out
}

// formReader reads the grammar of usage lines: words, [optional], (one|of|these) and
// what repeats.
type formReader struct {
	takes takes
	// group reports that the command has subcommands: then COMMAND is the place of one,
	// and so is what is called place.
	group     bool
	place     string
	flags     []Flag
	parser    []string
	firstWord string
	seen      bool // anything but flags and options
	argsFirst bool
	chained   bool
	keywords  bool // a group begins with its own word: [dev NAME]
}

// alternatives reads what stands between brackets: forms with a bar between them.
func (r *formReader) alternatives(s string, depth int) form {
	if depth > maxDepth {
		return form{}
	}
	var forms []form
	parts := bars(s)
	if pair, ok := flagPair(parts); ok {
		parts = pair
	}
	for _, part := range parts {
		forms = append(forms, r.sequence(part, depth, len(parts) > 1))
		if len(forms) > 50 {
			break
		}
	}
	return choose(forms)
}

// bars returns the parts of s between bars outside of brackets that have a space beside
// them.
func bars(s string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte("[({<", c) >= 0:
			if n := closing(s[i:]); n > 0 {
				i += n
			}
		case c == '|' && (i > 0 && s[i-1] == ' ' || i+1 < len(s) && s[i+1] == ' '):
			parts = append(parts, strings.TrimSpace(s[start:i]))
			start = i + 1
		case strings.HasPrefix(s[i:], " or "):
			parts = append(parts, strings.TrimSpace(s[start:i]))
			start = i + len(" or ")
		}
	}
	return append(parts, strings.TrimSpace(s[start:]))
}

// flagPair joins "-p | --paginate" to one part: the two are spellings of one flag.
func flagPair(parts []string) ([]string, bool) {
	var out []string
	for i := 0; i < len(parts); i++ {
		if i+1 < len(parts) && shortOf(parts[i], parts[i+1]) {
			out = append(out, parts[i]+"|"+parts[i+1])
			i++
			continue
		}
		out = append(out, parts[i])
	}
	return out, len(out) < len(parts)
}

func shortOf(short, long string) bool {
	bare := strings.TrimPrefix(strings.TrimPrefix(long, "--no-"), "--")
	return len(short) == 2 && short[0] == '-' && strings.HasPrefix(long, "--") && bare != "" && strings.EqualFold(short[1:], bare[:1])
}

// sequence reads items one after another.
func (r *formReader) sequence(s string, depth int, alternative bool) form {
	var f form
	behind := false
	flag := false // the item before is a flag
	owned := false
	value := false // the item before is a choice of flags that take a value
	for range 200 {
		s = strings.TrimLeft(s, " ,")
		if s == "" {
			break
		}
		item := nextItem(s)
		if item == "" {
			s = s[1:]
			continue
		}
		s = s[len(item):]
		count := len(f.args)
		repeated := false
		if rest := strings.TrimLeft(s, " "); strings.HasPrefix(rest, "...") && !(strings.HasPrefix(item, "{") && len(s) != len(rest)) {
			repeated, s = true, strings.TrimLeft(rest, ".")
		}
		switch {
		case item == "..." || item == "…":
			f.repeat()
		case item[0] == '-' && len(strings.Trim(item, "-")) > 0:
			name := r.flag(item, s, depth)
			if name.value > 0 {
				s = s[min(len(s), name.value):]
			}
			if len(r.flags) > 0 && repeated {
				r.flags[len(r.flags)-1].Repeated = true
			}
			if depth == 0 && !alternative && name.name != "" {
				f.must = append(f.must, name.name)
			}
			flag, value = true, false
			// Inside of brackets, what follows a flag with a value is its value, too.
			owned = depth > 0 && (name.value > 0 || strings.HasPrefix(strings.TrimLeft(s, " "), "[") && !strings.HasPrefix(strings.TrimLeft(s, " "), "[-"))
			continue
		case item == "-" && alternative:
			f.add(Arg{Name: item, Required: true}) // standard input in place of a file
		case item == "--":
			behind = true
		case item[0] == '-' || item[0] == '+':
			owned = depth > 0 && item[0] == '+' // [+c c]
			f.behind(count, behind)
			continue
		case value && item[0] == '<':
		case owned && !strings.HasPrefix(item, "[-"):
		case flag && strings.Contains(item, "-") && item[0] == '[' && strings.HasPrefix(item[1:], "-") && strings.HasSuffix(item, "...]"):
			r.brackets(&f, item, depth, false)
			if len(r.flags) > 0 {
				r.flags[len(r.flags)-1].Repeated = true
			}
		case depth == 0 && !alternative && !r.seen && len(f.args) == 0 && len(f.must) == 0 && verbs(item) != "":
			r.firstWord, r.seen = verbs(item), true
			f.add(Arg{Name: r.firstWord, Enum: strings.Split(r.firstWord, "|"), Required: true, Repeated: repeated})
		case item[0] == '[' || item[0] == '(' || alternating(item):
			before := len(r.flags)
			r.brackets(&f, item, depth, repeated)
			value = item[0] == '(' && len(r.flags) > before && !slices.ContainsFunc(r.flags[before:], r.isSwitch)
			flag = false
			f.behind(count, behind)
			continue
		default:
			r.positional(&f, item, s, repeated, depth)
		}
		f.behind(count, behind)
		flag, value = false, false
	}
	return f
}

// behind notes that the arguments from the one at i on stand behind a word --.
func (f *form) behind(i int, yes bool) {
	for ; yes && i < len(f.args); i++ {
		f.args[i].Behind = true
	}
}

func (r *formReader) isSwitch(f Flag) bool {
	_, value := r.takes(f.anyName())
	return !value
}

// nextItem returns the next item of a sequence with the brackets around or in it.
func nextItem(s string) string {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte("[({<", c) >= 0:
			n := closing(s[i:])
			if n < 0 {
				return s[:i]
			}
			i += n
			if end := i + 1; end == len(s) || strings.IndexByte(" .,|", s[end]) >= 0 && !strings.HasPrefix(s[end:], ".[") {
				if end < len(s) && s[end] == '|' {
					continue
				}
				return s[:end]
			}
		case c == ' ' || c == ']' || c == ')' || c == '}' || c == '>':
			return s[:i]
		case c == '.' && strings.HasPrefix(s[i:], "..."):
			if i == 0 {
				return "..."
			}
			return s[:i]
		}
	}
	return s
}

// brackets reads an item in brackets.
func (r *formReader) brackets(f *form, item string, depth int, repeated bool) {
	end := closing(item)
	if end != len(item)-1 { // brackets inside of a word: [user@]host
		r.positional(f, item, "", repeated, depth)
		return
	}
	inner := strings.TrimSpace(item[1:end])
	if inner == "" || inner[0] != '-' && generic(inner) || allOptions().MatchString(inner) || r.chained {
		return
	}
	if remark().MatchString(inner) {
		return
	}
	optional := item[0] == '['
	if cluster(inner) {
		for _, c := range inner[1:] {
			r.flags = append(r.flags, Flag{Short: "-" + string(c), Kind: Bool})
		}
		return
	}
	if enum := choices(inner); enum != nil && !strings.HasPrefix(inner, "{") && !strings.HasPrefix(inner, "<") {
		if r.group && item[0] == '(' {
			return
		}
		f.add(Arg{Name: strings.ReplaceAll(strings.Trim(inner, "[]()"), " ", ""), Enum: enum, Required: !optional, Repeated: repeated})
		return
	}
	before := len(r.flags)
	got := r.alternatives(inner, depth+1)
	for i := range got.args {
		if optional {
			got.args[i].Required = false
		}
		got.args[i].Repeated = got.args[i].Repeated || repeated
		f.add(got.args[i])
	}
	if repeated {
		for i := before; i < len(r.flags); i++ {
			r.flags[i].Repeated = true
		}
	}
}

// alternating reports that an item is a choice of forms in braces: { -p PID | PROG [ARGS] }.
func alternating(item string) bool {
	return item[0] == '{' && closing(item) == len(item)-1 && len(bars(item[1:len(item)-1])) > 1
}

// verbs returns the words of { list | flush } with bars between, "" for any other item.
func verbs(item string) string {
	if !alternating(item) {
		return ""
	}
	words := bars(strings.TrimSpace(item[1 : len(item)-1]))
	joined := strings.Join(words, "|")
	if !lowerBars().MatchString(joined) {
		return ""
	}
	return joined
}

// remark matches what brackets hold that is no grammar: [more options; see below]
var remark = lazy.Regexp(`;|\bsee \w+`)

// cluster reports whether a group lists switches of one letter each: [-46AaCf].
func cluster(s string) bool {
	s = strings.Replace(s, "?", "", 1) // -?
	if len(s) < 3 || s[0] != '-' || !plainLetters().MatchString(s[1:]) {
		return false
	}
	letters := []byte(s[1:])
	mixed := s != strings.ToLower(s) && s != strings.ToUpper(s) && !stuck().MatchString(s)
	return mixed || strings.ContainsAny(s, "0123456789") || slices.IsSorted(letters) && len(letters) > 2
}

var plainLetters = lazy.Regexp(`^[A-Za-z0-9]+$`)

var abbreviated = lazy.Regexp(`^(-[A-Za-z]{1,3})\[([a-z-]{2,})\]$`)

var stuck = lazy.Regexp(`^(-[A-Z])([a-z]{3,})$`)

// flagRead is a flag of a usage line, and how many bytes after it its value took.
type flagRead struct {
	name  string
	value int
}

// flag reads a flag and its value, which may be the next item.
func (r *formReader) flag(item, rest string, depth int) flagRead {
	var names []spelling
	for part := range strings.SplitSeq(item, "|") {
		s, n := readSpelling(part)
		if n == 0 || n != len(part) || s.name == "" {
			if len(names) == 0 {
				return flagRead{}
			}
			break
		}
		names = append(names, s)
	}
	last := &names[len(names)-1]
	if known, value := r.takes(last.name); known && !value && last.glued && last.value[0] == '[' && last.value[1] != '=' { // -c[dfw]: more switches
		last.value, last.glued = "", false
	}
	if m := abbreviated().FindStringSubmatch(last.name + last.value); m != nil && len(names) == 1 { // -s[tatistics]
		names = append(names, spelling{name: m[1] + m[2]})
		names[0].value = ""
		last = &names[1]
	}
	if m := stuck().FindStringSubmatch(last.name); m != nil { // -Olevel
		last.name, last.value, last.glued = m[1], m[2], true
	}
	took := 0
	known, value := r.takes(last.name)
	if r.cluster(item) {
		next := strings.TrimLeft(rest, " ")
		value := nextItem(next)
		for _, c := range item[1:] {
			if value != "" && depth > 0 { // [-xi list]: each takes one
				r.flags = append(r.flags, newFlag([]spelling{{name: "-" + string(c), value: value}}))
			}
		}
		return flagRead{"", len(rest) - len(next) + len(value)}
	}
	if next := strings.TrimLeft(rest, " "); last.value == "" && strings.HasPrefix(rest, " ") && (!known || value) && next != "" {
		if v := nextItem(next); v != "" && v[0] != '-' && v[0] != '(' && v != "..." && (v[0] != '[' || v[1:] != "" && v[1] != '-' && (depth > 0 || closing(v) < len(v)-1)) {
			last.value, took = v, len(rest)-len(next)+len(v)
		}
	}
	if len(names) > 1 && !(len(names) == 2 && len(names[0].name) == 2) {
		for _, s := range names { // [--save|--no-save]: several flags
			r.flags = append(r.flags, newFlag([]spelling{s}))
		}
		if len(names[0].name) == 2 {
			r.flags[len(r.flags)-len(names)+1].Short = names[0].name
			r.flags = slices.Delete(r.flags, len(r.flags)-len(names), len(r.flags)-len(names)+1)
		}
		return flagRead{"", took}
	}
	f := newFlag(names)
	r.flags = append(r.flags, f)
	return flagRead{f.anyName(), took}
}

// cluster reports that an item is several known switches in one word: -xi.
func (r *formReader) cluster(item string) bool {
	if known, _ := r.takes(item); known || len(item) < 3 || !plainLetters().MatchString(item[1:]) {
		return false
	}
	for _, c := range item[1:] {
		if known, _ := r.takes("-" + string(c)); !known {
			return false
		}
	}
	return true
}

// positional reads a word that stands for an argument, or is a subcommand.
func (r *formReader) positional(f *form, item, rest string, repeated bool, depth int) {
	if strings.HasPrefix(item, "{") && strings.HasPrefix(strings.TrimLeft(rest, " "), "...") {
		for name := range strings.SplitSeq(strings.Trim(item, "{}"), ",") {
			if validName(name) && len(r.parser) < maxItems {
				r.parser = append(r.parser, name)
			}
		}
		r.seen = true
		r.argsFirst = r.argsFirst || len(f.args) > 0
		return
	}
	if first, _, ok := strings.Cut(strings.Trim(item, "<>"), "|-"); ok && item[0] == '<' { // <RULE|--all>
		f.add(Arg{Name: argName(first), Repeated: repeated})
		r.seen = true
		return
	}
	name := argName(item)
	if item == "COMMAND1" && strings.Contains(rest, "[COMMAND2 ") {
		r.seen, r.chained = true, true
		return
	}
	if strings.HasPrefix(item, "(-") || strings.HasPrefix(item, "[-") || name == "" || generic(name) {
		return
	}
	bare := lowerBars().MatchString(item) && len(f.must) == 0
	if r.group && (commandWord(name) || name == r.place || name == "help") {
		// A tool that reads [PLACE] [COMMAND] looks for the command first.
		needed := slices.ContainsFunc(f.args, func(a Arg) bool { return a.Required })
		r.argsFirst = r.argsFirst || needed || item == "COMMAND" && len(f.args) > 0
		r.seen = true
		return
	}
	if next := nextItem(strings.TrimLeft(rest, " ")); depth > 0 && bare && metavar(next) {
		r.keywords = true
	}
	if depth == 0 && bare && !r.seen && len(f.args) == 0 && !commandWord(name) {
		r.firstWord = item
	}
	r.seen = true
	// {x} without a choice is what some commands need and others do not: sed's script.
	f.add(Arg{Name: name, Enum: choices(item), Required: item[0] != '{' || strings.ContainsAny(item, ",|"), Repeated: repeated || strings.Contains(item, "...") || manyOf().MatchString(name)})
}

// manyOf matches the names of arguments that are several words: files, dot-files, ARGS.
var manyOf = lazy.Regexp(`(?i)^(?:list|(?:[\w-]*-)?(?:args|arguments|directories|dirs|files|hosts|names|objects|packages|paths|patterns|strings|targets|urls|words))$`)

// commandWord reports that a placeholder stands for a subcommand, or for what follows it.
func commandWord(name string) bool {
	switch strings.ToLower(strings.Trim(name, ".")) {
	case "command", "subcommand", "sub-command", "cmd", "commands", "action", "function", "applet", "args", "arg", "arguments", "argument", "verb":
		return true
	}
	return false
}

var (
	genericWords = lazy.Regexp(`(?i)^[<\[]?(?:[\w/& -]*[ -])?(?:options?|flags?|opts?|switches)(?:\(s\))?[>\]]?(?:\.\.\.)?[>\]]?(?: *\.\.\.)?$`)
	// allOptions matches [-options] and [-opts[modifiers]].
	allOptions = lazy.Regexp(`^-(?:options?|flags|opts|switches)\b`)
)

// generic reports that an item stands for options as such.
func generic(s string) bool {
	return genericWords().MatchString(s) || strings.Trim(s, ".-") == ""
}

// argName returns the name of an argument as written without its marks.
func argName(item string) string {
	if strings.IndexByte("[({", item[0]) >= 0 && closing(item) == len(item)-1 {
		item = item[1 : len(item)-1]
	}
	if i := strings.IndexByte(item, '['); i > 0 {
		item = item[:i] // TYPE[.VERSION]
	}
	return strings.ReplaceAll(valueName(strings.TrimRight(item, ".,;:")), " ", "-")
}

// add appends an argument. One of the same name again says that it repeats.
func (f *form) add(a Arg) {
	if n := len(f.args); n > 0 && f.args[n-1].Name == a.Name {
		f.args[n-1].Repeated = true
		return
	}
	if len(f.args) < 50 {
		f.args = append(f.args, a)
	}
}

func (f *form) repeat() {
	if n := len(f.args); n > 0 {
		f.args[n-1].Repeated = true
	}
}
