package ui

import (
	"context"
	"errors"
	"os/exec"
	goruntime "runtime"
	"strings"
)

// OpenBrowser opens a page in the browser: with the command in $BROWSER (with the
// address in place of %s, or appended), or the system's. It returns once the command
// has started; the page is an argument of its own and no shell reads it.
func OpenBrowser(ctx context.Context, getenv func(string) string, page string) error {
	words := browser(getenv("BROWSER"), goruntime.GOOS, page)
	path, err := exec.LookPath(words[0])
	if err != nil {
		return errors.New("no browser was found: set BROWSER")
	}
	// The browser outlives the call.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, words[1:]...)
	cmd.SysProcAttr = newSession()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release() // its exit status is ignored
}

// HasBrowser reports whether OpenBrowser is likely to show a page: there is a command
// for it, and a screen, unless $BROWSER says how.
func HasBrowser(getenv func(string) string) bool {
	chosen := getenv("BROWSER")
	if _, err := exec.LookPath(browser(chosen, goruntime.GOOS, "")[0]); err != nil {
		return false
	}
	desktop := goruntime.GOOS == "darwin" || goruntime.GOOS == "windows"
	return desktop || chosen != "" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}

// browser returns the command that opens a page.
func browser(chosen, system, page string) []string {
	words := strings.Fields(chosen)
	if len(words) == 0 {
		switch system {
		case "darwin":
			return []string{"open", page}
		case "windows":
			return []string{"rundll32", "url.dll,FileProtocolHandler", page}
		}
		return []string{"xdg-open", page}
	}
	named := false
	for i, w := range words {
		if strings.Contains(w, "%s") {
			words[i], named = strings.ReplaceAll(w, "%s", page), true
		}
	}
	if !named {
		words = append(words, page)
	}
	return words
}
