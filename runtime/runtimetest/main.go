package runtimetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Main is the program fake-mcp: a [New] server on stdin and stdout whose faults
// are chosen by flags. It returns the exit code. A test binary becomes one by
// calling it from TestMain; see [Command].
//
//	-exit, -exit-on-probe   Faults.ExitAtOnce, ExitOnProbe; -code N the code (1)
//	-silent, -silent-probe  Faults.Silent, SilentProbe
//	-silent-method M        Faults.SilentMethods, several with commas
//	-rubbish                a line of rubbish before the first message
//	-rubbish-only           nothing but rubbish
//	-rubbish-between        rubbish before each answer
//	-half                   half an answer to tools/call, then the end
//	-flood-stderr N         N kB on stderr before anything is read
//	-stderr TEXT            one line on stderr before anything else
//	-start-delay D, -linger D, -delay D (every answer)
//	-modern, -both          2026-07-28 only; or all revisions
//	-unsupported JSON       Faults.Unsupported
//	-versions A,B           Versions
//	-full A,B               [Full] with these versions in place of New
//	-invalid-probe, -legacy-discover, -modern-discover, -exit-on-initialize
//	                        Faults.InvalidProbe, LegacyDiscover, ModernDiscover,
//	                        ExitOnInitialize
//	-control ADDR           connects there and takes [Server.Command] lines
//	-grease, -page N, -bad-cursor, -twice, -unknown-ids
//	-ask METHOD             Faults.Ask, several with commas
//	-ignore-term            SIGTERM is ignored
//	-grandchild FILE        starts a child that ignores SIGTERM and writes its
//	                        process id to FILE; it keeps the file open, so the
//	                        reader of a named pipe sees its end
//	-log FILE               appends every message that arrives
//	-tools FILE             Tools, a JSON array of definitions; calls return the name
//
// Beside New's tools it has "env" (the value of one variable, or its absence)
// and "pid" (of the process).
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stderr: stderr}
	s, err := p.parse(args)
	if err != nil {
		return 2 // the flag package has said why
	}
	if p.sleeper != "" {
		return sleeper(p.sleeper)
	}
	if p.ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	if p.line != "" {
		fmt.Fprintln(stderr, p.line)
	}
	for range p.flood {
		fmt.Fprintln(stderr, strings.Repeat("noise ", 170))
	}
	if p.log != "" {
		if err := p.openLog(s); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	if p.grandchild != "" {
		if err := startGrandchild(p.grandchild); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	if p.control != "" {
		if err := s.control(p.control); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	err = s.Serve(context.Background(), stdin, stdout)
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		return exit.Code
	case err != nil:
		return 1
	}
	return 0
}

type program struct {
	stderr              io.Writer
	line, log           string
	control             string
	flood               int
	ignoreTerm          bool
	grandchild, sleeper string
}

func (p *program) parse(args []string) (*Server, error) {
	s := New()
	if i := slices.Index(args, "-full"); i >= 0 && i+1 < len(args) {
		s = Full(strings.Split(args[i+1], ",")...)
	}
	s.Tools = append(s.Tools,
		Tool{Definition: wireRaw(`{"name":"env","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
			v, ok := os.LookupEnv(wireField(c.Arguments, "name"))
			return wireObject("content", wireRaw(`[]`), "structuredContent", wireObject("set", ok, "value", v)), nil
		}},
		Tool{Definition: wireRaw(`{"name":"pid","inputSchema":{"type":"object"}}`), Call: func(context.Context, *Call) (json.RawMessage, error) {
			return Text(strconv.Itoa(os.Getpid())), nil
		}})
	f := &s.Faults
	fs := flag.NewFlagSet("fake-mcp", flag.ContinueOnError)
	fs.SetOutput(p.stderr)
	fs.BoolVar(&f.ExitAtOnce, "exit", false, "")
	fs.BoolVar(&f.ExitOnProbe, "exit-on-probe", false, "")
	fs.IntVar(&f.ExitCode, "code", 1, "")
	fs.BoolVar(&f.Silent, "silent", false, "")
	fs.BoolVar(&f.SilentProbe, "silent-probe", false, "")
	rubbish := fs.Bool("rubbish", false, "")
	fs.BoolVar(&f.RubbishOnly, "rubbish-only", false, "")
	fs.BoolVar(&f.RubbishBetween, "rubbish-between", false, "")
	fs.BoolVar(&f.HalfAnswer, "half", false, "")
	fs.BoolVar(&f.UnknownIDs, "unknown-ids", false, "")
	fs.BoolVar(&f.Twice, "twice", false, "")
	fs.BoolVar(&f.BadCursor, "bad-cursor", false, "")
	fs.DurationVar(&f.StartDelay, "start-delay", 0, "")
	fs.DurationVar(&f.Linger, "linger", 0, "")
	fs.BoolVar(&s.Grease, "grease", false, "")
	fs.IntVar(&s.PageSize, "page", 0, "")
	fs.StringVar(&p.line, "stderr", "", "")
	fs.IntVar(&p.flood, "flood-stderr", 0, "")
	fs.StringVar(&p.log, "log", "", "")
	fs.BoolVar(&p.ignoreTerm, "ignore-term", false, "")
	fs.StringVar(&p.grandchild, "grandchild", "", "")
	fs.StringVar(&p.sleeper, "sleeper", "", "")
	words := func(name string, to *[]string) {
		fs.Func(name, "", func(v string) error { *to = strings.Split(v, ","); return nil })
	}
	words("silent-method", &f.SilentMethods)
	words("ask", &f.Ask)
	words("versions", &s.Versions)
	fs.BoolFunc("modern", "", func(string) error { s.Versions = []string{RevJuly}; return nil })
	fs.BoolFunc("both", "", func(string) error { s.Versions = []string{RevJuly, RevNov, RevJune, RevMar, Rev2024}; return nil })
	fs.Func("unsupported", "", func(v string) error { f.Unsupported = wireRaw(v); return nil })
	fs.Func("delay", "", func(v string) error {
		d, err := time.ParseDuration(v)
		s.Delay = func(string) time.Duration { return d }
		return err
	})
	fs.String("full", "", "") // seen above
	fs.BoolVar(&f.InvalidProbe, "invalid-probe", false, "")
	fs.BoolVar(&f.LegacyDiscover, "legacy-discover", false, "")
	fs.BoolVar(&f.ModernDiscover, "modern-discover", false, "")
	fs.BoolVar(&f.ExitOnInitialize, "exit-on-initialize", false, "")
	fs.StringVar(&p.control, "control", "", "")
	fs.Func("tools", "", func(path string) (err error) {
		s.Tools, err = toolsOf(path)
		return err
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if *rubbish || f.RubbishOnly || f.RubbishBetween {
		f.Rubbish = []string{"Server is starting, please wait ...", `{"level":"info","msg":"a log line that is JSON"}`}
	}
	return s, nil
}

// toolsOf reads tools from a file.
func toolsOf(path string) ([]Tool, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var definitions []json.RawMessage
	if err := json.Unmarshal(raw, &definitions); err != nil {
		return nil, err
	}
	tools := make([]Tool, len(definitions))
	for i, d := range definitions {
		tools[i] = Tool{Definition: d, Call: func(context.Context, *Call) (json.RawMessage, error) { return Text(wireField(d, "name")), nil }}
	}
	return tools, nil
}

func (p *program) openLog(s *Server) error {
	f, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s.Seen = func(frame []byte) { _, _ = f.Write(append(slices.Clip(frame), '\n')) }
	return nil
}

// startGrandchild starts this program again as a process that only SIGKILL
// ends, and returns when it is up. It is left behind on purpose: the test is
// whether the client's group kill reaches it.
func startGrandchild(pidFile string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, "-sleeper", pidFile) //nolint:noctx // outlives this process on purpose
	cmd.Args[0] = "fake-mcp"
	cmd.Env = append(os.Environ(), fakeEnv+"=1")
	up, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.ReadFull(up, make([]byte, 1))
	return err
}

// sleeper ignores SIGTERM and stays for a minute, the bound in case nobody
// kills it.
func sleeper(pidFile string) int {
	signal.Ignore(syscall.SIGTERM, os.Interrupt)
	f, err := os.OpenFile(pidFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 1
	}
	defer f.Close()
	_, _ = fmt.Fprintln(f, os.Getpid())
	up := os.NewFile(1, "up") // startGrandchild's pipe
	_, _ = up.WriteString("x")
	_ = up.Close()
	time.Sleep(time.Minute)
	return 0
}

// fakeEnv makes a test binary act as fake-mcp.
const fakeEnv = "MCPCTL_FAKE_MCP"

// IsFake reports whether this process was started by [Command] and should
// return [Main]'s code from TestMain in place of running tests.
func IsFake() bool { return os.Getenv(fakeEnv) != "" }

// Command is the command line and the extra environment that run the current
// test binary as fake-mcp with the given flags. Its TestMain must begin:
//
//	if runtimetest.IsFake() {
//		os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
//	}
func Command(flags ...string) (command []string, env map[string]string) {
	exe, err := os.Executable()
	if err != nil {
		panic("runtimetest: the test binary has no path: " + err.Error())
	}
	return append([]string{filepath.Clean(exe)}, flags...), map[string]string{fakeEnv: "1"}
}

// Command does what a line says and returns the answer, for servers in other
// processes (fake-mcp -control):
//
//	status              → Status as JSON
//	change KIND         → Change
//	touch URI           → Touch
//	ask METHOD          → AskOutside
//	drop                → Drop
func (s *Server) Command(line string) string {
	word, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case "status":
		return string(wireMarshal(s.Status()))
	case "change":
		s.Change(arg)
	case "touch":
		s.Touch(arg)
	case "ask":
		s.AskOutside(context.Background(), arg) // ends with the connection that is asked
	case "drop":
		s.Drop()
	default:
		return `{"error":"unknown command"}`
	}
	return "{}"
}

// control connects to a test and does what its lines say, until it ends.
func (s *Server) control(addr string) error {
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	go func() { // ends with the process
		defer c.Close()
		lines := bufio.NewScanner(c)
		for lines.Scan() {
			if _, err := fmt.Fprintln(c, s.Command(lines.Text())); err != nil {
				return
			}
		}
	}()
	return nil
}
