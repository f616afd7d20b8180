package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// Server is one server of an overview.
type Server struct {
	Name string
	// State is "listed", or what is the matter, with the command that mends it in Mend.
	State, Fix string
	// Age is how long ago the tools were listed, zero for now.
	Age   time.Duration
	Tools []Tool
}

// Overview returns the tools of several servers, each under its server's name.
func Overview(servers []Server, width int, p Palette) string {
	var b strings.Builder
	for i, s := range servers {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.Bold(s.Name) + "  ")
		if s.State != "listed" {
			b.WriteString(p.State(s.State))
			if s.Fix != "" {
				b.WriteString(": " + s.Fix)
			}
			b.WriteString("\n")
			continue
		}
		b.WriteString(p.Green(plain.Count(len(s.Tools), "tool")))
		if s.Age > 0 {
			b.WriteString(", listed " + Since(s.Age) + " ago")
		}
		b.WriteString("\n")
		if len(s.Tools) > 0 {
			b.WriteString(Tools("TOOL", s.Tools, width, p))
		}
	}
	return b.String()
}

// Since formats a time in at most two units: 12s, 5m10s, 2h13m, 3d4h.
func Since(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d, 0).Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}
