package clitool

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/clihelp"
)

// What a command does is guessed by its last word, and that of a tool without
// subcommands by the tool's name. A guess errs to the side that exposes less: a command
// that is not here counts as one that writes.

// reads reports whether a command clearly changes nothing. A word that writes in one
// program and reads in another is not among the verbs: "npm version 2.0.0" edits a file, and
// "arch", on macOS, runs a program.
func reads(tool string, c *clihelp.Command) bool {
	verbs := strings.Fields("get list ls show describe status view diff log logs search inspect info history explain top cat grep whoami")
	word := tool
	if len(c.Path) > 0 {
		word = c.Path[len(c.Path)-1]
	} else {
		verbs = strings.Fields("ls cat grep egrep fgrep zgrep head tail wc df du stat ps id whoami uname which whereis uptime free lsof dig nslookup host " +
			"sha1sum sha256sum sha512sum md5sum cksum diff cmp cut tr jq readlink realpath basename dirname nproc seq pwd lsblk lscpu printenv od strings")
	}
	words := strings.FieldsFunc(strings.ToLower(c.Summary), func(r rune) bool { return !unicode.IsLetter(r) })
	if !slices.Contains(verbs, word) || len(words) > 0 && slices.ContainsFunc(actingWords(), func(w string) bool { return words[0] == w || words[0] == w+"s" }) {
		return false
	}
	// "kubectl get" shows, "go get" and "dart pub get" add what they get, "s3cmd get" writes it.
	return word != "get" || !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(gotten(), w) })
}

// gotten are words that say where something is got from, or what it is, of a command "get"
// that stores it.
func gotten() []string {
	return strings.Fields("dependencies dependency download downloads fetch fetches file files install installs module modules package packages save saves store stores")
}

// destroys reports whether a command clearly takes something away.
func destroys(c *clihelp.Command) bool {
	return len(c.Path) > 0 && slices.Contains(destroyingWords(), c.Path[len(c.Path)-1])
}

func destroyingWords() []string {
	return strings.Fields("delete del rm remove destroy purge prune uninstall drop")
}

// acting reports whether a value could be a command that changes something.
func acting(word string) bool {
	word = strings.ToLower(word)
	return slices.Contains(actingWords(), word) || slices.Contains(destroyingWords(), word)
}

func actingWords() []string {
	return strings.Fields("add apply clear create delete destroy download drop edit exec execute fix force install merge move overwrite patch prune " +
		"purge push put remove replace reset restart rm run save set start stop sync uninstall update upgrade upload write")
}

// acts reports whether a flag of a command that reads seems to do more: to write a file,
// or to run a program.
func acts(f clihelp.Flag) bool {
	name := strings.TrimLeft(f.Long, "-")
	for word := range strings.SplitSeq(name, "-") {
		if slices.Contains(actingWords(), word) || slices.Contains([]string{"open", "web", "ext", "textconv", "pager", "pre", "place"}, word) {
			return true
		}
	}
	value := strings.ToLower(strings.Trim(f.Value, "<>[]{}"))
	file := slices.ContainsFunc([]string{"file", "path", "dir", "folder"}, func(w string) bool { return strings.Contains(value, w) })
	return file && (strings.Contains(name, "out") || strings.Contains(name, "dump") || strings.Contains(name, "log"))
}
