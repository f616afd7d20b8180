package proc

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// psArgs ask for the columns that parsePS reads, without headings. On BSD a
// column with "=" is the last of its option.
func psArgs() []string {
	args := []string{"-A"}
	for _, column := range []string{"pid", "ppid", "pgid", "state", "rss", "time", "lstart"} {
		args = append(args, "-o", column+"=")
	}
	return args
}

// parsePS reads what ps with psArgs prints in the C locale: numbers, memory
// in KiB, time as [[D-]H:]M:S[.cc], start as "Fri Nov 20 13:37:00 2026" in
// local time. Lines of another form and zombies are left out.
func parsePS(text string) []sample {
	var out []sample
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 11 || f[3][0] == 'Z' {
			continue
		}
		var p sample
		var errs [4]error
		p.pid, errs[0] = strconv.Atoi(f[0])
		p.parent, errs[1] = strconv.Atoi(f[1])
		p.group, errs[2] = strconv.Atoi(f[2])
		p.rss, errs[3] = strconv.ParseInt(f[4], 10, 64)
		if errs != [4]error{} {
			continue
		}
		p.rss <<= 10
		p.cpu = psTime(f[5])
		if at, err := time.ParseInLocation("Mon Jan 2 15:04:05 2006", strings.Join(f[6:], " "), time.Local); err == nil {
			p.started = at
		}
		out = append(out, p)
	}
	return out
}

// psTime reads [[D-]H:]M:S[.cc]; -1 for another form.
func psTime(text string) time.Duration {
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", text
	}
	d, err := strconv.Atoi(days)
	if err != nil {
		return -1
	}
	total := time.Duration(d) * 24 * time.Hour
	parts := strings.Split(rest, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return -1
	}
	unit := time.Second
	for _, part := range slices.Backward(parts) {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 {
			return -1
		}
		total += time.Duration(n * float64(unit))
		unit *= 60
	}
	return total
}
