//go:build integration

package login_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// evil is a name of this machine that a web page of others has, to the browser.
const evil = "evil.example"

// chromiumPath is where Debian's package has it.
const chromiumPath = "/usr/bin/chromium"

// chromium is one page of a browser, which is driven over the DevTools protocol: a
// message of JSON and a zero byte at a time, over its file descriptors 3 and 4.
type chromium struct {
	t       *testing.T
	process *wire.Process
	to      *os.File
	from    *os.File
	answers *bufio.Reader
	last    int    // id of a request
	session string // of the page
	// complaints are what the browser says of violated policies, asked the URLs that it
	// has asked for.
	complaints, asked []string
}

// newChromium starts a browser, which ends with the test. words are more flags of it.
func newChromium(t *testing.T, words ...string) *chromium {
	t.Helper()
	if _, err := os.Stat(chromiumPath); err != nil {
		t.Skipf("%s is not there: install Debian's package chromium", chromiumPath)
	}
	commands, to, err := os.Pipe()
	require.NoError(t, err)
	from, answers, err := os.Pipe()
	require.NoError(t, err)
	home := t.TempDir()
	cmd := exec.Command(chromiumPath, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--host-resolver-rules=MAP "+evil+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // pages may name fonts on other machines
		"--user-data-dir="+filepath.Join(home, "profile"), "--remote-debugging-pipe")
	cmd.Args = append(cmd.Args, words...)
	cmd.Env, cmd.WaitDelay = append(cmd.Environ(), "HOME="+home), 10*time.Second
	cmd.ExtraFiles = []*os.File{commands, answers}
	b := &chromium{t: t, to: to, from: from, answers: bufio.NewReader(from)}
	b.process, err = wire.Start(cmd)
	_, _ = commands.Close(), answers.Close() // they are the browser's
	require.NoError(t, err)
	t.Cleanup(b.close)
	var target struct{ TargetID string }
	b.ask("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var page struct{ SessionID string }
	b.ask("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &page)
	b.session = page.SessionID
	b.ask("Audits.enable", nil, nil)
	b.ask("Network.enable", nil, nil)
	return b
}

func (b *chromium) close() {
	_, _ = b.to.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00")
	if !b.process.End(wire.Limit) {
		b.t.Error("the browser does not end")
	}
	_, _ = b.to.Close(), b.from.Close()
}

// try sends a request, waits for its answer and returns the error that it has.
func (b *chromium) try(method string, params map[string]any, into any) error {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	raw, err := json.Marshal(request)
	require.NoError(b.t, err)
	_, err = b.to.Write(append(raw, 0))
	require.NoError(b.t, err)
	require.NoError(b.t, b.from.SetReadDeadline(wait.Deadline(b.t)))
	for {
		raw, err := b.answers.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v\n%s", method, err, b.process.Stderr.Tail())
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
			Method string
			Params json.RawMessage
		}
		require.NoError(b.t, json.Unmarshal(raw[:len(raw)-1], &answer))
		b.note(answer.Method, answer.Params)
		switch {
		case answer.ID != b.last: // an event
		case answer.Error != nil:
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		case into == nil:
			return nil
		default:
			return json.Unmarshal(answer.Result, into)
		}
	}
}

// note remembers what an event says.
func (b *chromium) note(method string, params json.RawMessage) {
	switch method {
	case "Audits.issueAdded":
		b.complaints = append(b.complaints, string(params))
	case "Network.requestWillBeSent":
		var sent struct{ Request struct{ URL string } }
		require.NoError(b.t, json.Unmarshal(params, &sent))
		b.asked = append(b.asked, sent.Request.URL)
	}
}

func (b *chromium) ask(method string, params map[string]any, into any) {
	b.t.Helper()
	require.NoError(b.t, b.try(method, params, into))
}

func (b *chromium) open(page string) {
	b.t.Helper()
	b.ask("Page.navigate", map[string]any{"url": page}, nil)
}

// value returns what an expression is in the page, nil where it is left at the moment.
func (b *chromium) value(expression string) any {
	b.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	if err != nil || got.ExceptionDetails != nil {
		return nil
	}
	return got.Result.Value
}

// await waits until an expression is true in the page.
func (b *chromium) await(expression string) {
	b.t.Helper()
	wait.Until(b.t, awaited{b, expression}, func() bool { return b.value(expression) == true })
}

// awaited is what a page has to come to. It prints what is there.
type awaited struct {
	b          *chromium
	expression string
}

func (a awaited) String() string {
	return fmt.Sprintf("%s\n%v", a.expression, a.b.value("location.href + '\\n' + document.documentElement.outerHTML"))
}

// click waits for an element, scrolls to it and clicks it, as the mouse does.
func (b *chromium) click(selector string) {
	b.t.Helper()
	element := "document.querySelector(" + wire.Quote(selector) + ")"
	b.await("document.readyState == 'complete' && " + element + " != null")
	at, _ := b.value("(e => { e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2} })(" + element + ")").(map[string]any)
	for _, what := range []string{"mousePressed", "mouseReleased"} {
		b.ask("Input.dispatchMouseEvent", map[string]any{"type": what, "x": at["x"], "y": at["y"], "button": "left", "clickCount": 1}, nil)
	}
}

func (b *chromium) enter(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.ask("Input.insertText", map[string]any{"text": text}, nil)
}

// show has the page shown as on a screen of some width, light or dark.
func (b *chromium) show(width int, scheme string) {
	b.t.Helper()
	b.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 600, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.ask("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// picture writes the page as it is shown into a folder.
func (b *chromium) picture(folder, name string) {
	b.t.Helper()
	var got struct{ Data string }
	b.ask("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	raw, err := base64.StdEncoding.DecodeString(got.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.MkdirAll(folder, 0o750))
	require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".png"), raw, 0o600))
}
