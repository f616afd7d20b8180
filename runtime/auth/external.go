package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

const (
	// commandTime bounds a command that prints a token.
	commandTime = 30 * time.Second
	// maxOutput bounds a token and what is around it, in bytes.
	maxOutput = 1 << 20
	// maxShown bounds what is repeated of what a command says, in bytes.
	maxShown = 200
)

// externalToken reads the token that a command prints, or that a file has where there is no
// command: one word, which may have Bearer in front, or an object as an authorization server
// answers with.
func externalToken(ctx context.Context, command []string, file string) (tokenstore.Token, error) {
	var raw []byte
	var err error
	if len(command) > 0 {
		raw, err = output(ctx, command)
	} else {
		raw, err = atomicfile.Read(file, maxOutput)
	}
	if err != nil {
		return tokenstore.Token{}, err
	}
	t := tokenstore.Token{Source: tokenstore.SourceExternal, Obtained: time.Now().UTC().Truncate(time.Second)}
	text := strings.TrimSpace(string(raw))
	if strings.HasPrefix(text, "{") {
		err := readToken(&t, []byte(text))
		return t, err
	}
	if scheme, token, ok := strings.Cut(text, " "); ok && strings.EqualFold(scheme, "Bearer") { // the whole value of a header
		text = token
	}
	if text == "" || strings.ContainsAny(text, " \t\r\n") {
		return tokenstore.Token{}, errors.New("what it has is no token: want one word, or a JSON object with access_token")
	}
	t.Access = text
	return t, nil
}

// readToken takes an object as an authorization server's, or as the tools of clouds print it.
func readToken(t *tokenstore.Token, object []byte) error {
	var a struct {
		Access     string          `json:"access_token"`
		Lifetime   json.RawMessage `json:"expires_in"`
		Token      string          `json:"token"`
		Cloud      string          `json:"accessToken"`
		Expiration time.Time       `json:"expiration"`
		Expiry     time.Time       `json:"expiry"`
		On         time.Time       `json:"expires_at"`
	}
	if err := json.Unmarshal(object, &a); err != nil {
		return errors.New("what it has is no token: the JSON has other types than expected")
	}
	for _, text := range []string{a.Access, a.Token, a.Cloud} {
		if t.Access == "" {
			t.Access = text
		}
	}
	if t.Access == "" {
		return errors.New("what it has is no token: the object has none of access_token, token, accessToken")
	}
	t.Expires = tokenstore.Expiry(a.Lifetime, t.Obtained)
	for _, at := range []time.Time{a.Expiration, a.Expiry, a.On} {
		if t.Expires.IsZero() {
			t.Expires = at
		}
	}
	return nil
}

// output runs a command, no shell between, and returns what it prints.
func output(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{b: &out}, &limited{b: &said}
	if err := cmd.Run(); err != nil {
		last := strings.TrimSpace(said.String())
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			last = last[i+1:]
		}
		if last != "" {
			return nil, fmt.Errorf("auth command %s: %w: %s", argv[0], err, last[:min(len(last), maxShown)])
		}
		return nil, fmt.Errorf("auth command %s: %w", argv[0], err)
	}
	return out.Bytes(), nil
}

// limited keeps the beginning of what is written.
type limited struct{ b *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, maxOutput-l.b.Len()))])
	return len(p), nil
}
