package wire

import "os"

// Viewed reports whether suites run with a view that shows everything, for every client, and with
// hooks that look at all arguments and results of calls. MCPCTL_TEST_VIEWS=1 turns it on.
func Viewed() bool { return os.Getenv("MCPCTL_TEST_VIEWS") != "" }

// viewed is the section serve where suites run with a view and hooks.
func viewed() string {
	if !Viewed() {
		return ""
	}
	return `serve:
  view: everything
  views:
    everything: {tools: ["*"], prompts: ["*"], resources: ["*"]}
  hooks:
    - {name: arguments, match: {in: arguments, pattern: nobodyHasThis}, action: label}
    - {name: results, match: {in: result, pattern: nobodyHasThis}, action: label}
`
}
