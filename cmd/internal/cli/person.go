package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// Prompter is the user at the terminal. It implements [auth.TerminalPrompter].
type Prompter struct {
	UI     *ui.UI
	Getenv func(string) string
	// NoBrowser opens none: the page's address is printed.
	NoBrowser bool
	// Device has the user enter a code on another device, and nothing else.
	Device bool
	// Asker replaces the terminal in tests; nil is the real one.
	Asker ui.Asker
}

// Show opens a page in the browser, or prints its address.
func (p *Prompter) Show(ctx context.Context, page string) (paste bool, err error) {
	if p.NoBrowser || !ui.HasBrowser(p.Getenv) {
		_, err := fmt.Fprintf(p.UI.Err, "Open this page to log in:\n\n  %s\n\n", ui.CleanLine(page))
		return p.UI.CanAsk(), err
	}
	if err := ui.OpenBrowser(ctx, p.Getenv, page); err != nil {
		_, err = fmt.Fprintf(p.UI.Err, "No browser could be opened (%v). Open this page to log in:\n\n  %s\n\n", err, ui.CleanLine(page))
		return p.UI.CanAsk(), err
	}
	p.UI.Info("Log in with the browser that has been opened. If there is none, open this page:\n\n  %s\n", ui.CleanLine(page))
	return false, nil
}

// Paste asks for the address that the browser has ended at.
func (p *Prompter) Paste(ctx context.Context) (string, error) {
	return p.asker().Input(ctx, ui.Question{Message: "The address that the browser ends at, if it cannot reach this machine"})
}

// OtherDevice reports whether a code is shown in the place of a page: where the user
// wants that, or where there is neither a browser nor a terminal to paste an address into.
func (p *Prompter) OtherDevice() (offered, only bool) {
	return !p.NoBrowser && !p.UI.CanAsk() && !ui.HasBrowser(p.Getenv), p.Device
}

// ShowCode prints where to enter a code.
func (p *Prompter) ShowCode(_ context.Context, c auth.DeviceCode) error {
	text := fmt.Sprintf("Open this page on any device, and enter the code %s:\n\n  %s\n\n", ui.CleanLine(c.Code), ui.CleanLine(c.Page))
	if c.Complete != "" {
		text += fmt.Sprintf("Or open this one, which has the code:\n\n  %s\n\n", ui.CleanLine(c.Complete))
	}
	_, err := io.WriteString(p.UI.Err, text)
	return err
}

// Token asks for a token that is made by hand.
func (p *Prompter) Token(ctx context.Context, h auth.TokenHint) (string, error) {
	if p.Asker == nil && !p.UI.CanAsk() {
		return "", nil
	}
	if _, err := io.WriteString(p.UI.Err, tokenHelp(h)); err != nil {
		return "", err
	}
	text, err := p.asker().Secret(ctx, ui.Question{
		Message: "Token of " + h.Server + " (not shown)",
		Check: func(text string) error {
			_, err := auth.CheckToken(text)
			return err
		},
	})
	if errors.Is(err, ui.ErrNoAnswer) {
		return "", nil
	}
	return text, err
}

// tokenHelp says why a token is asked for, and where to make one.
func tokenHelp(h auth.TokenHint) string {
	if h.Refused {
		return ui.CleanLine(h.Server) + " refuses the token.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "There is no login in the browser: %s.\n", ui.CleanLine(h.Why.Error()))
	if h.Service != "" {
		fmt.Fprintf(&b, "A token of %s is made at %s\nIt needs: %s\n", h.Service, h.Page, h.Rights)
	}
	return b.String()
}

func (p *Prompter) asker() ui.Asker {
	if p.Asker != nil {
		return p.Asker
	}
	return p.UI.Asker()
}
