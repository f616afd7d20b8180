// Package kit is a command-line tool for tests, built with cobra as many tools are.
package kit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Asked is the variable with the name of a file that gets a line for each help of the
// tool itself.
const Asked = "KIT_ASKED"

// New returns the tool. Each of its commands calls run.
func New(run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	root := &cobra.Command{Use: "kit", Short: "Kit keeps things for tests", SilenceUsage: true, SilenceErrors: true}
	add := func(parent *cobra.Command, use, short string, aliases ...string) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Aliases: aliases, RunE: run}
		parent.AddCommand(c)
		return c
	}
	get := add(root, "get NAME... [flags]", "Show things", "g")
	get.Flags().StringP("output", "o", "", "the form of the output")
	get.Flags().BoolP("all", "a", false, "hidden things, too")
	get.Flags().Int("limit", 10, "how many")
	get.Flags().StringArrayP("label", "l", nil, "only those with this label")
	get.Flags().String("color", "auto", "when to use colors")
	get.Flags().Lookup("color").NoOptDefVal = "always"
	get.Flags().String("output-file", "", "write into this `FILE`")
	get.Flags().Bool("cache", true, "use what was kept")
	apply := add(root, "apply FILE [flags]", "Change things")
	apply.Flags().BoolP("force", "f", false, "whatever stands against it")
	apply.Flags().Bool("server-side", false, "over there")
	apply.Flags().String("field", "", "one field")
	add(root, "delete NAME [flags]", "Delete a thing", "rm")
	add(root, "act WORD... [flags]", "Does what its words say")
	config := &cobra.Command{Use: "config", Short: "Settings", Aliases: []string{"cfg"}}
	root.AddCommand(config)
	add(config, "view [flags]", "Print the settings")
	add(config, "set KEY VALUE [flags]", "Change a setting")
	store := add(root, "store [PLACE] [flags]", "Where things are, and what to do there")
	add(store, "drop [flags]", "Empty the store", "wipe")
	root.PersistentFlags().Bool("trace", false, "say more")
	return root
}

// Main is the life of the tool: it prints its words, except that act does what they say.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	code := 0
	root := New(func(cmd *cobra.Command, words []string) error {
		if cmd.Name() == "act" {
			code = act(words, in, out, errOut)
			return nil
		}
		fmt.Fprintln(out, cmd.CommandPath()+" "+strings.Join(words, " "))
		return nil
	})
	if path := os.Getenv(Asked); path != "" && len(args) == 1 {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, "asked")
			f.Close()
		}
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	if err := root.Execute(); err != nil {
		fmt.Fprintln(errOut, "Error:", err)
		return 1
	}
	return code
}

// act does what words say, one after the other:
//
//	say=TEXT, err=TEXT  writes a line
//	json=TEXT           writes JSON
//	read                prints how many bytes standard input has
//	tty                 prints whether there is a terminal to open
//	many=N              writes N lines of 64 bytes
//	flood               writes without end
//	pause=DURATION      waits
//	sleep               waits for a minute, the bound in case nobody ends it
//	fork                starts a child that sleeps and holds the output
//	pid                 prints its process id
//	env=NAME            prints a variable
//	cwd                 prints the working directory
//	kill                ends by a signal
//	exit=N              ends
func act(words []string, in io.Reader, out, errOut io.Writer) int {
	for _, word := range words {
		verb, arg, _ := strings.Cut(word, "=")
		switch verb {
		case "say":
			fmt.Fprintln(out, arg)
		case "err":
			fmt.Fprintln(errOut, arg)
		case "json":
			var v any
			if json.Unmarshal([]byte(arg), &v) == nil {
				fmt.Fprintln(out, arg)
			}
		case "read":
			n, _ := io.Copy(io.Discard, in)
			fmt.Fprintln(out, "read", n)
		case "tty":
			f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
			if err == nil {
				f.Close()
			}
			fmt.Fprintln(out, "terminal", err == nil)
		case "many":
			n := 0
			fmt.Sscan(arg, &n)
			for range n {
				fmt.Fprintln(out, strings.Repeat("x", 63))
			}
		case "flood":
			for {
				if _, err := fmt.Fprintln(out, strings.Repeat("y", 4095)); err != nil {
					return 1
				}
			}
		case "pause":
			if d, err := time.ParseDuration(arg); err == nil {
				time.Sleep(d)
			}
		case "sleep":
			time.Sleep(time.Hour)
		case "fork":
			cmd := exec.Command(os.Args[0], "act", "sleep")
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Start(); err != nil {
				return 1
			}
			fmt.Fprintln(out, "child", cmd.Process.Pid)
		case "pid":
			fmt.Fprintln(out, "pid", os.Getpid())
		case "env":
			fmt.Fprintln(out, arg+"="+os.Getenv(arg))
		case "cwd":
			dir, err := os.Getwd()
			if err != nil {
				return 1
			}
			fmt.Fprintln(out, dir)
		case "kill":
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				_ = p.Kill()
			}
			time.Sleep(time.Minute)
		case "exit":
			n := 0
			fmt.Sscan(arg, &n)
			return n
		}
	}
	return 0
}
