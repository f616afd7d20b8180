package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestEveryProblemHasPlaceAndRemedy: whatever is wrong with a file, the problem names line
// and column and says how to fix it.
func TestEveryProblemHasPlaceAndRemedy(t *testing.T) {
	var files []string
	for _, entry := range []string{
		`"command": "", "args": []`, `"url": ""`, `"url": "x"`, `"args": []`, `"serverUrl": "x"`, `"command": "x", "url": "http://x"`, `"command": 7`, `"command": null`,
		`"command": "x", "args": "y"`, `"command": "x", "args": {}`, `"command": "x", "args": [1]`, `"command": "x", "env": []`, `"command": "x", "env": {"A=": "1"}`,
		`"command": "x", "env": {"A": "1", "A": "2"}`, `"command": "x\u0000"`, `"url": "http://x", "headers": {"a b": "x"}`, `"url": "http://x", "headers": {"A": "x\n"}`,
		`"url": "http://x", "headers": {"A": "x", "a": "y"}`, `"url": "http://x", "headers": {"Host": "y", "Accept": "z"}`, `"url": "http://a:b@x"`, `"url": "http://169.254.1.1"`,
		`"command": "x", "disabled": "true"`, `"command": "x", "disabled": 1`, `"command": "x", "type": 7`, `"command": "x", "type": "sse"`, `"url": "http://x", "type": "stdio"`,
		`"command": "x", "type": "cli"`, `"command": "x", "type": "frob"`, `"command": "x", "missingEnv": 1`, `"command": "x", "missingEnv": "frob"`, `"command": "x", "start": "eagre"`,
		`"command": "x", "requestTimeout": 30`, `"command": "x", "requestTimeout": "30"`, `"command": "x", "requestTimeout": "-1s"`, `"command": "x", "requestTimeout": {}`,
		`"command": "x", "minIdleTimeout": "2m", "maxIdleTimeout": "1m"`, `"command": "x", "minIdleTimeout": "2m", "idleTimeout": "1m"`, `"command": "x", "maxMessageBytes": 1`,
		`"command": "x", "maxMessageBytes": "1"`, `"url": "http://x", "cli": true`, `"command": "x", "auth": {}`, `"url": "http://x", "auth": 1`, `"url": "http://x", "auth": {"grant": "frob"}`,
		`"url": "http://x", "args": ["y"]`, `"command": "x", "headers": {}`, `"command": "x", "cliOnly": ["y"]`, `"command": "x", "cli": true, "cliDepth": 99`, `"command": "x", "cli": true, "tools": {"only": []}`, `"command": "x", "tools": "y"`,
		`"command": "x", "cli": true, "tools": [{"frob": 1}]`, `"command": "x", "cli": true, "tools": [1]`, `"command": "x", "comand": 1`, `"command": "x", "frobnicate": 1`, `"command": "x", "cwd": "$HOME"`,
		`"command": "x", "cwd": "${env:HOME}"`, `"command": "x", "cwd": "${"`, `"command": "x", "origin": 1`, `"command": "x", "origin": {"name": 1, "frob": 2}`, `"command": "x", "cwd": "/", "cwd": "/"`,
	} {
		files = append(files, `{"mcpServers": {"a": {`+entry+`}}}`)
	}
	for _, alias := range []string{"", "a b", "a__b", "-", "list", strings.Repeat("x", 65), "\u00e9"} {
		files = append(files, fmt.Sprintf(`{"mcpServers": {%q: {"command": "x"}}}`, alias))
	}
	files = append(files, `[]`, `7`, `{"mcpServers": []}`, `{"mcpServers": {}, "mcpServers": {}}`, `{"servers": {}}`, `{"frobnicate": 1}`, `{"mcpServers": {"a": 7}}`,
		`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `{"mcpServers": {`, `{"a": "x`, `{"a": /* x`, `{"a" 1}`, `{a: 1}`, `{"a": 1 "b": 2}`, `{"a": [1 2]}`, `{} x`, `{"a": x}`, `{"a": "\x"}`,
		"{\"a\": \"x\ny\"}", "{\"a\": \"\x01\"}", `{"a": 'x'}`, "\xff\xfe{", "{\"a\": \"\xff\"}", `{"a": `+strings.Repeat("[", 1001), "{\"a\": 01}", `{"a":,}`, `{,}`, `}`)
	check := func(file string, p *config.Problem) {
		t.Helper()
		if p.File != "f" || p.Line < 1 || p.Column < 1 || p.Message == "" || p.Remedy == "" {
			t.Errorf("%.120q: %+v", file, p)
		}
	}
	for _, file := range files {
		f, err := config.Parse("f", []byte(file))
		if err != nil {
			var p *config.Problem
			if !errors.As(err, &p) {
				t.Errorf("%.120q: %v", file, err)
				continue
			}
			check(file, p)
			continue
		}
		problems := append(f.Faults(), f.Warnings()...)
		if len(problems) == 0 {
			t.Errorf("%.120q: nothing is wrong with it", file)
		}
		for _, p := range problems {
			check(file, &p)
		}
	}
}
