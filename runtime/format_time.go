package runtime

import (
	"strings"
	"time"
)

// DateTime is a string of format date-time: a point in time with a time zone,
// as in RFC 3339, section 5.6.
type DateTime string

// NewDateTime formats a time to the nanosecond.
func NewDateTime(t time.Time) DateTime { return DateTime(t.Format(time.RFC3339Nano)) }

// Valid reports whether the text is a date-time.
func (d DateTime) Valid() bool { _, err := d.Time(); return err == nil }

// Time returns the point in time. A leap second becomes the next second, digits
// beyond nanoseconds are dropped.
func (d DateTime) Time() (time.Time, error) {
	s := string(d)
	if len(s) > 11 && (s[10] == 'T' || s[10] == 't') {
		if day, err := Date(s[:10]).Time(); err == nil {
			if since, zone, ok := clockTime(s[11:]); ok {
				at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone).Add(since)
				return at, nil
			}
		}
	}
	return time.Time{}, formatError("a date-time (RFC 3339)", s)
}

// Date is a string of format date: full-date in RFC 3339, section 5.6.
type Date string

// NewDate formats a time's day, in its own time zone.
func NewDate(t time.Time) Date { return Date(t.Format(time.DateOnly)) }

// Valid reports whether the text is a date.
func (d Date) Valid() bool { _, err := d.Time(); return err == nil }

// Time returns the beginning of the day in UTC.
func (d Date) Time() (time.Time, error) {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return time.Time{}, formatError("a date (RFC 3339)", string(d))
	}
	return t, nil
}

// TimeOfDay is a string of format time: full-time in RFC 3339, section 5.6,
// which has a time zone.
type TimeOfDay string

// NewTimeOfDay formats the time of day, to the nanosecond.
func NewTimeOfDay(t time.Time) TimeOfDay { return TimeOfDay(t.Format("15:04:05.999999999Z07:00")) }

// Valid reports whether the text is a time of day.
func (d TimeOfDay) Valid() bool { _, _, ok := clockTime(string(d)); return ok }

// On returns the point in time on a day in d's time zone.
func (d TimeOfDay) On(year int, month time.Month, day int) (time.Time, error) {
	since, zone, ok := clockTime(string(d))
	if !ok {
		return time.Time{}, formatError("a time of day (RFC 3339)", string(d))
	}
	return time.Date(year, month, day, 0, 0, 0, 0, zone).Add(since), nil
}

// clockTime parses full-time: the time since midnight, and the zone. Package time
// accepts a comma for the point and refuses second 60.
func clockTime(s string) (since time.Duration, zone *time.Location, ok bool) {
	two := func(at, below int) int {
		if at+2 > len(s) || !onlyDigits(s[at:at+2]) {
			return -1
		}
		if n := int(s[at]-'0')*10 + int(s[at+1]-'0'); n < below {
			return n
		}
		return -1
	}
	hour, minute, second := two(0, 24), two(3, 60), two(6, 61)
	if len(s) < 9 || hour < 0 || minute < 0 || second < 0 || s[2] != ':' || s[5] != ':' {
		return 0, nil, false
	}
	since = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	rest := 8
	if s[rest] == '.' {
		unit := time.Second
		for rest++; rest < len(s) && isDigit(s[rest]); rest++ {
			unit /= 10
			since += time.Duration(s[rest]-'0') * unit
		}
		if rest == 9 {
			return 0, nil, false
		}
	}
	offset := 0
	switch {
	case s[rest:] == "Z" || s[rest:] == "z":
		zone = time.UTC
	case len(s) == rest+6 && strings.IndexByte("+-", s[rest]) >= 0 && s[rest+3] == ':':
		h, m := two(rest+1, 24), two(rest+4, 60)
		if h < 0 || m < 0 {
			return 0, nil, false
		}
		if offset = h*3600 + m*60; s[rest] == '-' {
			offset = -offset
		}
		zone = time.FixedZone("", offset)
	default:
		return 0, nil, false
	}
	if second == 60 && ((hour*60+minute)*60-offset+2*86400)%86400 != 86340 {
		return 0, nil, false // leap seconds are at the end of a day in UTC
	}
	return since, zone, true
}
