//go:build attacks && linux

package attacks_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// rogueEnv names the file with a spec: this test binary is a server then.
const rogueEnv = "MCPCTL_ATTACKS_ROGUE"

// spec is what a server offers that its callers tell what to do. The file is
// read again for each list.
type spec struct {
	Name string `json:"name"`
	// Tools, Resources, Templates and Prompts are the items of its lists, as
	// they are to be on the wire; nil tools are act and echo.
	Tools     []string `json:"tools"`
	Resources []string `json:"resources"`
	Templates []string `json:"templates"`
	Prompts   []string `json:"prompts"`
	// Fails has every list answered with an error.
	Fails bool `json:"fails"`
	// Begins are frames that it writes once it is initialized, Stderr a line.
	Begins []string `json:"begins"`
	Stderr string   `json:"stderr"`
	// Exits ends it at once.
	Exits bool `json:"exits"`
	// Instructions are its own.
	Instructions string `json:"instructions"`
	// Heard is a file that gets its environment and every line that comes; "" none.
	Heard string `json:"heard"`
}

// rogue returns the entry of a server.
func rogue(t testing.TB, s spec) map[string]any {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.json")
	s.save(t, path)
	return rogueAt(path)
}

// rogueAt returns the entry of the server whose spec is in a file.
func rogueAt(path string) map[string]any {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return map[string]any{"command": exe, "env": map[string]string{rogueEnv: path}, "requestTimeout": "20s"}
}

// save writes a spec to a file, whole.
func (s spec) save(t testing.TB, path string) {
	t.Helper()
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".new", raw, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// server is a running one.
type server struct {
	path string
	mu   sync.Mutex // held while a frame is written
	out  *os.File
	// heard gets what clients answer.
	heard chan struct{}
}

func rogueMain(path string) int {
	s := &server{path: path, out: os.Stdout, heard: make(chan struct{}, 100)}
	sp := s.spec()
	hear(sp.Heard, strings.Join(os.Environ(), "\n")+"\n")
	if sp.Stderr != "" {
		fmt.Fprintln(os.Stderr, sp.Stderr)
	}
	if sp.Exits {
		return 3
	}
	r := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0
		}
		hear(sp.Heard, line)
		s.handle(strings.TrimSuffix(line, "\n"))
	}
}

// hear adds a text to a file, where there is one.
func hear(path, text string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
}

func (s *server) spec() (sp spec) {
	raw, err := os.ReadFile(s.path)
	if err == nil {
		err = json.Unmarshal(raw, &sp)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	return sp
}

func (s *server) write(frame string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.WriteString(frame) // there is nobody to tell
}

// incoming is what comes.
type incoming struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

func (s *server) handle(line string) {
	var m incoming
	switch err := json.Unmarshal([]byte(line), &m); {
	case err != nil:
		return
	case m.Method == "":
		s.heard <- struct{}{}
		return
	}
	sp := s.spec()
	list := func(member string, items []string) {
		if sp.Fails {
			s.fail(m.ID, -32000, "no list today")
			return
		}
		s.result(m.ID, `{"`+member+`":[`+strings.Join(items, ",")+`]}`)
	}
	switch m.Method {
	case "initialize":
		s.result(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"prompts":{"listChanged":true},"logging":{},"completions":{}},"serverInfo":{"name":"`+sp.Name+`","version":"1"},"instructions":`+wire.Quote(sp.Instructions)+`}`)
	case "notifications/initialized":
		for _, f := range sp.Begins {
			s.write(f + "\n")
		}
	case "tools/list":
		if sp.Tools == nil {
			sp.Tools = []string{plainTool("act"), plainTool("echo")}
		}
		list("tools", sp.Tools)
	case "resources/list":
		list("resources", sp.Resources)
	case "resources/templates/list":
		list("resourceTemplates", sp.Templates)
	case "prompts/list":
		list("prompts", sp.Prompts)
	case "tools/call":
		go s.call(sp, m, line) // ends with the program
	case "resources/read":
		var p struct{ URI string }
		_ = json.Unmarshal(m.Params, &p) // "" where there is none
		s.result(m.ID, `{"contents":[{"uri":`+wire.Quote(p.URI)+`,"text":`+wire.Quote(sp.Name+" read "+p.URI)+`}]}`)
	case "prompts/get":
		s.result(m.ID, `{"messages":[{"role":"user","content":{"type":"text","text":`+wire.Quote(sp.Name+" prompt "+string(m.Params))+`}}]}`)
	case "completion/complete":
		s.result(m.ID, `{"completion":{"values":[`+wire.Quote(sp.Name+" completes")+`]}}`)
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		s.result(m.ID, `{}`)
	default:
		if m.ID != nil {
			s.fail(m.ID, -32601, "method not found")
		}
	}
}

func (s *server) result(id json.RawMessage, result string) {
	s.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + "}\n")
}

func (s *server) fail(id json.RawMessage, code int, message string) {
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, code, wire.Quote(message)))
}

// said is the result that names who was called, and with what.
func said(name, text string) string {
	return `{"content":[{"type":"text","text":` + wire.Quote(name+" "+text) + `}]}`
}

// call serves tools/call: act does what its arguments say, any other tool says
// what it was called with.
//
// In frames, $ID is the request's id, $TOKEN its progress token and $OK the result
// that is right. A frame that begins with "!" is no frame: !sleep D, !stderr TEXT,
// !exit, !raw TEXT (no line end), !wait (for what a client answers), and what gives
// the answer: !env NAME (a variable), !open (what it has open), !group (whether its
// process group is its own), !pid, !args (what it was started with).
func (s *server) call(sp spec, m incoming, line string) {
	var p struct {
		Name      string
		Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
		Arguments struct{ Frames []string }
	}
	_ = json.Unmarshal(m.Params, &p) // none then
	if p.Name != "act" {
		s.result(m.ID, said(sp.Name, line))
		return
	}
	replace := strings.NewReplacer("$ID", string(m.ID), "$TOKEN", string(p.Meta.ProgressToken), "$OK", said(sp.Name, "right"))
	for _, f := range p.Arguments.Frames {
		word, rest, _ := strings.Cut(f, " ")
		switch word {
		case "!sleep":
			if d, err := time.ParseDuration(rest); err == nil {
				time.Sleep(d)
			}
		case "!stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "!exit":
			os.Exit(5)
		case "!wait":
			<-s.heard
		case "!env":
			s.result(m.ID, said(sp.Name, fmt.Sprintf("%s=%s.", rest, os.Getenv(rest))))
		case "!open":
			s.result(m.ID, said(sp.Name, "open: "+opened()+"."))
		case "!group":
			s.result(m.ID, said(sp.Name, fmt.Sprint("of its own: ", syscall.Getpgrp() == os.Getpid())))
		case "!pid":
			s.result(m.ID, said(sp.Name, fmt.Sprintf("process %d.", os.Getpid())))
		case "!args":
			raw, _ := json.Marshal(os.Args[1:]) // strings
			s.result(m.ID, said(sp.Name, "args: "+string(raw)))
		case "!raw":
			s.write(replace.Replace(rest))
		default:
			s.write(replace.Replace(f) + "\n")
		}
	}
}

func plainTool(name string) string {
	return `{"name":` + wire.Quote(name) + `,"inputSchema":{"type":"object"}}`
}

// acting is a call of a server's tool act with these frames.
func acting(id, server string, frames ...string) string {
	raw, err := json.Marshal(frames)
	if err != nil {
		panic(err) // strings
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"_meta":{"progressToken":"` + server + `"},"name":"` + server + `__act","arguments":{"frames":` + string(raw) + `}}}`
}

// opened is what this process has open beside its standard streams.
func opened() string {
	var out []string
	dir, _ := os.ReadDir("/proc/self/fd") // then it says nothing
	for _, f := range dir {
		to, err := os.Readlink("/proc/self/fd/" + f.Name())
		if err != nil || f.Name() < "3" && len(f.Name()) == 1 || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/") || to == os.Getenv(rogueEnv) {
			continue // of the Go runtime, and what another call reads
		}
		out = append(out, to)
	}
	return strings.Join(out, " ")
}
