package hostile

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Faults are the names that -fault takes. Each is a way to misbehave; those
// that go together can be combined with commas.
func Faults() []string {
	return []string{
		"exit-on-probe", "exit-random", "exit-on-call", "exit-on-list", "exit-at-once",
		"ignore-term", "linger",
		"flood-notifications", "flood-changes", "flood-garbage", "flood-endless", "flood-stderr", "flood-requests", "flood-progress",
		"half-line", "never-reads", "long-answer", "too-long", "deep-answer", "bad-utf8", "huge-list", "endless-pages", "hang-second-page",
		"grandchild", "grandchild-stubborn", "grandchild-session", "grandchild-left",
		"wrong-ids", "twice", "after-cancel", "ask-pending-id", "null-id",
		"close-stdout", "close-stdin", "slow-start", "hang-initialize", "hang-list", "hang-call",
	}
}

// Env makes a test binary act as this program; see [Main].
const Env = "MCPCTL_HOSTILE"

// Main is the program. It returns the exit code.
//
//	-leak-at M   with a fault of [ProgramLeaks]: the method (tools/call)
//	-fault A,B   what to do, see [Faults]; random is one of these, or none
//	-name NAME   what its answers call it
//	-seed N      of what is random; 0 is the time
//	-log FILE    gets a line with the fault, when it starts
//	-burn D      uses so much processor time before it reads anything
//	-until FILE  reads nothing before there is that file
//	-sleep D     is no server: stays for D, deaf to SIGTERM with -deaf
func Main(args []string, stdin io.ReadCloser, stdout, stderr io.WriteCloser) int {
	fs := flag.NewFlagSet("hostile", flag.ContinueOnError)
	fs.SetOutput(stderr)
	faults := fs.String("fault", "", "")
	name := fs.String("name", "hostile", "")
	leakAt := fs.String("leak-at", "tools/call", "")
	_ = fs.String("token", "", "") // for what is repeated
	seed := fs.Uint64("seed", 0, "")
	log := fs.String("log", "", "")
	sleep := fs.Duration("sleep", 0, "")
	burnt := fs.Duration("burn", 0, "")
	until := fs.String("until", "", "")
	deaf := fs.Bool("deaf", false, "")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if *deaf {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	if *sleep > 0 {
		fmt.Fprintln(stderr, "up")
		time.Sleep(*sleep)
		return 0
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	s := &server{
		name: *name, leaksAt: *leakAt, faults: map[string]bool{}, in: stdin, out: stdout, stderr: stderr,
		ended: make(chan int, 1), cancelled: map[string]chan struct{}{},
		random: rand.New(rand.NewPCG(*seed, 0)),
	}
	if *faults == "random" {
		all := append(Faults(), "", "", "", "", "", "")
		*faults = all[s.random.IntN(len(all))]
	}
	if *log != "" {
		if f, err := os.OpenFile(*log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, *faults) // in one write: others do, too
			_ = f.Close()
		}
	}
	for f := range strings.SplitSeq(*faults, ",") {
		if f != "" {
			s.faults[f] = true
		}
	}
	burn(*burnt)
	for *until != "" {
		if _, err := os.Stat(*until); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return s.run()
}

// server is one running program.
type server struct {
	name    string
	leaksAt string
	faults  map[string]bool
	in      io.ReadCloser
	stderr  io.Writer
	ended   chan int // exit code
	random  *rand.Rand

	mu        sync.Mutex // guards what follows, and is held while a frame is written
	out       io.WriteCloser
	mute      bool // nothing more is written
	cancelled map[string]chan struct{}
	once      bool
}

func (s *server) has(fault string) bool { return s.faults[fault] }

func (s *server) run() int {
	switch {
	case s.has("exit-at-once"):
		fmt.Fprintln(s.stderr, "it does not start today")
		return 3
	case s.has("ignore-term"):
		signal.Ignore(syscall.SIGTERM)
	case s.has("slow-start"):
		time.Sleep(2 * time.Second)
	}
	if s.has("exit-random") {
		after := 5*time.Millisecond + time.Duration(s.random.Int64N(int64(250*time.Millisecond)))
		time.AfterFunc(after, func() { s.exit(4) })
	}
	s.spawn()
	go s.read()
	code := <-s.ended
	if s.has("ignore-term") || s.has("linger") {
		time.Sleep(time.Minute) // the bound in case nobody kills it
	}
	return code
}

// exit ends the program.
func (s *server) exit(code int) {
	select {
	case s.ended <- code:
	default:
	}
}

// message is what comes.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string                                  `json:"name"`
		Cursor    string                                  `json:"cursor"`
		Arguments arguments                               `json:"arguments"`
		RequestID json.RawMessage                         `json:"requestId"`
		Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
	} `json:"params"`
}

// arguments are those of the tools.
type arguments struct {
	Message string `json:"message"`
	Ms      int    `json:"ms"`
}

func (s *server) read() {
	r := bufio.NewReaderSize(s.in, 64<<10)
	for first := true; ; first = false {
		line, err := r.ReadBytes('\n')
		var m message
		if len(line) > 0 && json.Unmarshal(line, &m) == nil {
			if first && s.has("exit-on-probe") && m.Method != "initialize" {
				s.exit(1)
				return
			}
			s.handle(&m)
			if s.has("never-reads") && (m.Method == "tools/call" || m.Method == invoke) {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.ErrClosedPipe) {
				s.exit(0)
			}
			return
		}
	}
}

func (s *server) handle(m *message) {
	if s.leaksAt == m.Method && s.leak(m) {
		return
	}
	switch m.Method {
	case "initialize":
		if !s.has("hang-initialize") {
			s.answer(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"`+s.name+`","version":"1"}}`)
		}
	case "notifications/initialized":
		s.flood()
	case "notifications/cancelled":
		s.mu.Lock()
		c := s.cancelled[string(m.Params.RequestID)]
		delete(s.cancelled, string(m.Params.RequestID))
		s.mu.Unlock()
		if c != nil {
			close(c)
		}
	case "ping":
		s.answer(m, `{}`)
	case "tools/list", "interceptors/list":
		s.list(m)
	case "tools/call", invoke:
		go s.call(m) // ends with the program
	default:
		if len(m.ID) > 0 && m.Method != "" {
			s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"method not found"}}` + "\n")
		}
	}
}

// answer writes a result.
func (s *server) answer(m *message, result string) {
	s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + "}\n")
}

// write writes one frame, or a part of one. What cannot be written is lost.
func (s *server) write(frame string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mute {
		_, _ = io.WriteString(s.out, frame) // there is nobody to tell
	}
}

// Text is the result of a call of echo or slow.
func Text(server, message string) string {
	raw, err := json.Marshal(server + ": " + message)
	if err != nil {
		panic("hostile: " + err.Error()) // a string
	}
	return `{"content":[{"type":"text","text":` + string(raw) + `}]}`
}
