package clitool

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/clihelp"
)

// What a command does is guessed by its last word, and that of a tool without
// subcommands by the tool's name. A guess errs to the side that exposes less: a command
// that is not here counts as one that writes.

// reads reports whether a command clearly changes nothing.
func reads(tool string, c *clihelp.Command) bool {
	verbs := strings.Fields("get list ls show describe status version view diff log logs search inspect info history explain top cat grep whoami")
	word := tool
	if len(c.Path) > 0 {
		word = c.Path[len(c.Path)-1]
	} else {
		verbs = strings.Fields("ls cat grep egrep fgrep zgrep head tail wc df du stat ps id whoami uname which whereis uptime free lsof dig nslookup host " +
			"sha1sum sha256sum sha512sum md5sum cksum diff cmp cut tr jq readlink realpath basename dirname nproc seq pwd arch lsblk lscpu printenv od strings")
	}
	// "go get" adds what it gets.
	first, _, _ := strings.Cut(strings.ToLower(c.Summary), " ")
	return slices.Contains(verbs, word) && !slices.ContainsFunc(actingWords(), func(w string) bool { return first == w || first == w+"s" })
}

// destroys reports whether a command clearly takes something away.
func destroys(c *clihelp.Command) bool {
	return len(c.Path) > 0 && slices.Contains(strings.Fields("delete del rm remove destroy purge prune uninstall drop"), c.Path[len(c.Path)-1])
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
