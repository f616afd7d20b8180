package runtime

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a string of format duration, such as "P3DT12H": RFC 3339,
// appendix A (ISO 8601). The last number may have a fraction.
type Duration string

// NewDuration formats a duration in hours, minutes and seconds. ISO 8601 has no
// negative ones; they are written as most parsers accept them, "-PT1S".
func NewDuration(d time.Duration) Duration {
	if d == 0 {
		return "PT0S"
	}
	out, n := []byte("PT"), uint64(d) //nolint:gosec // negative ones are negated next
	if d < 0 {
		out, n = []byte("-PT"), -n
	}
	if h := n / uint64(time.Hour); h > 0 {
		out = append(strconv.AppendUint(out, h, 10), 'H')
	}
	if m := n / uint64(time.Minute) % 60; m > 0 {
		out = append(strconv.AppendUint(out, m, 10), 'M')
	}
	if n %= uint64(time.Minute); n > 0 {
		out = strconv.AppendUint(out, n/uint64(time.Second), 10)
		if frac := n % uint64(time.Second); frac > 0 {
			nine := strconv.FormatUint(uint64(time.Second)+frac, 10)[1:]
			out = append(append(out, '.'), strings.TrimRight(nine, "0")...)
		}
		out = append(out, 'S')
	}
	return Duration(out)
}

// Valid reports whether the text is a duration.
func (d Duration) Valid() bool { _, _, ok := d.parts(); return ok }

// TimeDuration returns the length. A day has 24 hours; years and months have no
// fixed length and are an error, as is overflow of [time.Duration].
func (d Duration) TimeDuration() (time.Duration, error) {
	nanos, calendar, ok := d.parts()
	switch {
	case !ok:
		return 0, formatError("a duration (ISO 8601)", string(d))
	case calendar:
		return 0, formatError("a duration of one length: years and months differ", string(d))
	case math.Abs(nanos) >= math.MaxInt64:
		return 0, formatError("a duration below 292 years", string(d))
	}
	return time.Duration(math.Round(nanos)), nil
}

// parts reads the text; calendar is set where there are years or months.
func (d Duration) parts() (nanos float64, calendar, ok bool) {
	s, neg := strings.CutPrefix(string(d), "-")
	s, ok = strings.CutPrefix(s, "P")
	if !ok || s == "" || strings.HasSuffix(s, "T") {
		return 0, false, false
	}
	date, clock, _ := strings.Cut(s, "T")
	weeks := strings.HasSuffix(date, "W") && clock == ""
	units := "YMD"
	if weeks {
		units = "W"
	}
	sizes := map[byte]float64{'W': 7 * 24 * float64(time.Hour), 'D': 24 * float64(time.Hour)}
	a, cal, aok := durationSum(date, units, sizes)
	b, _, bok := durationSum(clock, "HMS", map[byte]float64{'H': float64(time.Hour), 'M': float64(time.Minute), 'S': float64(time.Second)})
	if !aok || !bok || strings.ContainsAny(date, ".,") && clock != "" {
		return 0, false, false
	}
	nanos = a + b
	if neg {
		nanos = -nanos
	}
	return nanos, cal, true
}

// durationSum adds numbers with units, each unit at most once and in order.
func durationSum(s, units string, sizes map[byte]float64) (total float64, calendar, ok bool) {
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if n < 1 {
			return 0, false, false
		}
		if s[n] == '.' || s[n] == ',' {
			frac := strings.IndexFunc(s[n+1:], func(r rune) bool { return r < '0' || r > '9' })
			if frac < 1 || n+1+frac != len(s)-1 {
				return 0, false, false // only the last number has a fraction
			}
			n += 1 + frac
		}
		value, err := strconv.ParseFloat(strings.Replace(s[:n], ",", ".", 1), 64)
		at := strings.IndexByte(units, s[n])
		if err != nil || at < 0 {
			return 0, false, false
		}
		size, fixed := sizes[s[n]]
		total += value * size
		calendar = calendar || !fixed
		units, s = units[at+1:], s[n+1:]
	}
	return total, calendar, true
}
