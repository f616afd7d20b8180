package clihelp

import (
	"strings"
	"testing"
)

// TestForms: what is read of usage lines and lists that programs of many kinds have, each
// made small.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		help string
		path string
		args string // as render writes them
		subs string
		want string // flags: key and render, with commas between; "" for none looked at
	}{
		"systemctl: arguments in the list": {help: "Usage: x [OPTION]... COMMAND\n\nUnit Commands:\n  start UNIT...   Start units\n  show [UNIT...]  Show\n  reload          Reload\n", subs: "start(UNIT...) show([UNIT...]) reload()"},
		"systemctl: one space":             {help: "x [OPTIONS...] COMMAND ...\n\nUnit Commands:\n  get                  Get it\n  set-property UNIT VALUE... Sets properties\n", subs: "get() set-property(UNIT VALUE...)"},
		"rsync: or without a colon":        {help: "Usage: x [OPTION]... SRC [SRC]... DEST\n  or   x [OPTION]... SRC [SRC]... [USER@]HOST:DEST\n  or   x [OPTION]... [USER@]HOST:SRC [DEST]\nThe ':' usages connect by a shell.\n", args: "SRC... [DEST]"},
		"unzip: prose behind the usage":    {help: "Usage: x [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist]\n  Default action is to extract files in list, except those in xlist;\n  file[.zip] may be a wildcard.\n\n  -l  list\n", args: "file [list...]"},
		"two columns of options":           {help: "Usage: x [file]\n\n  -p  to a pipe, no messages     -l  list files\n  -f  freshen what is there      -t  test data\n  -u  update, create             -z  show comment\n", args: "[file]", want: "-p boolean, -l boolean, -f boolean, -t boolean, -u boolean, -z boolean"},
		"dpkg: flags are the commands":     {help: "Usage: x [<option>...] <command>\n\nCommands:\n  -i|--install <file>...   Install\n  -l|--list [<pattern>...] List\n\nOptions:\n  --root=<directory>       Where\n", args: "[args...]", want: "-i --install boolean, -l --list boolean, --root string"},
		"mypy: a remark in brackets":       {help: "usage: x [-h] [-v] [more options; see below]\n         [-m MODULE] [files ...]\n\noptions:\n  -v, --verbose  more\n", args: "[files...]"},
		"zip: usage at the end of a title": {help: "X 3.0 (July 2008). Usage:\nx [-options] [-b path] [zipfile list] [-xi list]\n  The default action is to add.\n  -f   freshen\n  -x   exclude\n  -i   include\n", args: "[zipfile] [list...]", want: "-f boolean, -x string, -i string, -b string"},
		"gpg: Syntax":                      {help: "Syntax: x [options] [files]\nSign or check\n\nCommands:\n \n -s, --sign   sign\n", args: "[files...]", want: "-s --sign boolean"},
		"ssh-keygen: many forms":           {help: "usage: x [-q] [-f file]\n       x -k -f list [-u] file ...\n       x -Q [-l] -f list [file ...]\n", args: "[file...]", subs: ""},
		"psql: a spelling read aloud":      {help: "Usage:\n  x [OPTION]...\n\nOptions:\n  -1 (\"one\"), --single  as one\n  -v, --set=, --variable=NAME=VALUE\n                       set it\n", want: "-1 --single boolean, -v --set --variable string"},
		"jq: a value of two words":         {help: "Usage: x [options] <jq filter> [file...]\n\n  --arg a v        set $a to <v>;\n  --args           the rest;\n", args: "jq-filter [file...]", want: "--arg string, --args boolean"},
		"strace: a choice in braces":       {help: "Usage: x [-f] { -p PID | [-D] [-u NAME] PROG [ARGS] }\n   or: x -c[dfw] { -p PID | PROG [ARGS] }\n\n  -c, --summary-only\n             count\n  -I N       how\n", args: "[PROG] [ARGS...]", want: "-c --summary-only boolean, -I integer, -f boolean, -p string, -D boolean, -u string"},
		"ip: a grammar in capitals":        {help: "Usage: x [ OPTIONS ] OBJECT { COMMAND | help }\nwhere  OBJECT := { address | link |\n                   route }\n       OPTIONS := { -s[tatistics] | -f[amily] { inet | link } }\n", subs: "address() link() route()", want: "-s -statistics boolean, -f -family string"},
		"ip: verbs in braces":              {help: "Usage: x route { list | flush } SELECTOR\n       x route get ADDRESS [ from ADDRESS ]\n\n       x route { add | del } ROUTE\n", path: "route", subs: "list(SELECTOR) flush(SELECTOR) get([args...]) add(ROUTE) del(ROUTE)"},
		"ansible: a metavar as the place":  {help: "usage: x [-h] TYPE ...\n\npositional arguments:\n  TYPE\n    collection  Manage a collection.\n    role        Manage a role.\n", subs: "collection() role()"},
		"pandoc: long spellings apart":     {help: "x [OPTIONS] [FILES]\n  -f FORMAT, -r FORMAT  --from=FORMAT, --read=FORMAT\n                        --data-dir=DIRECTORY\n  -s                    --standalone\n", args: "[FILES...]", want: "-f --from -r --read string, --data-dir string, -s --standalone boolean"},
		"uv: an argument or a flag":        {help: "Usage: x add [OPTIONS] <PACKAGES|--requirements <REQUIREMENTS>>\n", path: "add", args: "[PACKAGES]"},
		"7z: sections in angle brackets":   {help: "Usage: x <command> [<switches>...] <archive> [<files>...]\n\n<Commands>\n  l : List\n  t : Test\n\n<Switches>\n  -o{Dir} : output\n  -y : yes\n", args: "archive [files...]", subs: "l() t()", want: "-o string, -y boolean"},
		"dig: places that cannot be known": {help: "Usage: x [@server] [domain] [q-type] host [@local]\n\n  -4   only IPv4\n", args: "[args...]"},
		"gdb: or in brackets":              {help: "This is it.  Usage:\n\n    x [options] [program [core or pid]]\n\n  --write  write\n", args: "[program] [core]"},
		"no usage":                         {help: "x: a compiler\n\nFLAGS\n\n--help, -h\nPrint this.\n\n--watch, -w\nWatch.\n", args: "[args...]"},
		"Go's flag":                        {help: "Usage of x:\n\tx [flags] -type T [directory]\n\tx [flags] -type T files... # one package\nFlags:\n  -tags build tags\n    \tList of tags\n", args: "[files...]", want: "-tags string, -type string required"},
		"less: dots between spellings":     {help: "  -b _N  .... --buffers=_N\n             Number.\n  -c  ........  --clear-screen\n             Repaint.\n", args: "[args...]", want: "-b --buffers string, -c --clear-screen boolean"},
		"nmap: one line for several":       {help: "Usage: x {target}\n  -sN/sF/sX: Scans\n  --min-rate/max-rate <number>: Rates\n", args: "[target]", want: "-sN boolean, -sF boolean, -sX boolean, --min-rate integer, --max-rate integer"},
		"a man page: several spellings":    {help: "GIT-LOG(1)   Git Manual   GIT-LOG(1)\n\nSYNOPSIS\n       git log [<options>] [[--] <path>...]\n\nOPTIONS\n       --no-decorate, --decorate[=short|full]\n           Print names.\n\n       -<number>, -n <number>, --max-count=<number>\n           Limit it.\n", path: "log", args: "[path...]", want: "--decorate --no-decorate string, -n --max-count integer"},
		"xz: a range of switches":          {help: "Usage: x [FILE]...\n\n  -0 ... -2   preset\n", args: "[FILE...]", want: "-0 boolean, -1 boolean, -2 boolean"},
		"mypy: the other form in words":    {help: "usage: x\n\noptions:\n  --no-warn   do not warn (inverse: --warn)\n", want: "--no-warn --warn boolean"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Parse([]byte(tt.help), strings.Fields(tt.path))
			if got := renderArgs(c.Args); got != tt.args {
				t.Errorf("arguments %s, want %s", got, tt.args)
			}
			var subs []string
			for _, s := range c.Sub {
				subs = append(subs, s.Path[len(s.Path)-1]+"("+renderArgs(s.Args)+")")
			}
			if got := strings.Join(subs, " "); got != tt.subs {
				t.Errorf("subcommands %s, want %s", got, tt.subs)
			}
			var flags []string
			for _, f := range c.Flags {
				f.Enum, f.Repeated, f.Optional = nil, false, false
				flags = append(flags, f.key()+" "+f.render())
			}
			if got := strings.Join(flags, ", "); tt.want != "" && got != tt.want {
				t.Errorf("flags %s, want %s", got, tt.want)
			}
		})
	}
}

func renderArgs(args []Arg) string {
	var out []string
	for _, a := range args {
		a.Enum = nil
		out = append(out, a.render())
	}
	return strings.Join(out, " ")
}
