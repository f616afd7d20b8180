package sessions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// Line returns a sentence about a session that runs.
func (i Info) Line() string {
	text := fmt.Sprintf("%s is running (process %d)", plain.Line(i.Server), i.PID)
	if i.Idle == 0 {
		return text
	}
	return text + fmt.Sprintf("; it ends after %s without a call", short(i.idle()))
}

// Rows returns the table of sessions, its headers first.
func Rows(all []Info, now time.Time) (headers []string, rows [][]string) {
	rows = make([][]string, len(all))
	for n, i := range all {
		left := "never"
		if i.Idle > 0 {
			left = "in " + short(max(0, i.LastUsed.Add(i.idle()).Sub(now)))
		}
		rows[n] = []string{i.Server, fmt.Sprint(i.PID), short(now.Sub(i.Started)), left, i.Config}
	}
	return []string{"SERVER", "PROCESS", "AGE", "ENDS", "CONFIG"}, rows
}

// Of returns the sessions of servers, all of them for none, and the first server that has
// none, "" if each has.
func Of(servers []string, all []Info) (chosen []Info, missing string) {
	chosen = []Info{}
	for _, i := range all {
		if len(servers) == 0 || slices.Contains(servers, i.Server) {
			chosen = append(chosen, i)
		}
	}
	for _, server := range servers {
		if !slices.ContainsFunc(chosen, func(i Info) bool { return i.Server == server }) {
			return nil, server
		}
	}
	return chosen, ""
}

func (i Info) idle() time.Duration { return time.Duration(i.Idle * float64(time.Second)) }

// short returns a duration in whole seconds, or minutes where these are whole.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if minutes, ok := strings.CutSuffix(text, "m0s"); ok {
		return minutes + "m"
	}
	return text
}
