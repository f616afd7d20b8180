package runtime_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// TestFormats: the formats' optional cases of the JSON Schema test suite.
func TestFormats(t *testing.T) {
	type format interface{ Valid() bool }
	check := func(name string, of func(string) format, valid, invalid []string) {
		t.Helper()
		for _, s := range valid {
			if !of(s).Valid() {
				t.Errorf("%s %q: got invalid", name, s)
			}
		}
		for _, s := range append(invalid, "", "☃", " ") {
			if of(s).Valid() {
				t.Errorf("%s %q: got valid", name, s)
			}
		}
	}
	check(
		"date-time", func(s string) format { return runtime.DateTime(s) },
		[]string{
			"1963-06-19T08:30:06.283185Z", "1963-06-19T08:30:06Z", "1937-01-01T12:00:27.87+00:20", "1990-12-31T15:59:50.123-08:00",
			"1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00", "1963-06-19t08:30:06.283185z",
		},
		[]string{
			"1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z", "1990-02-31T15:59:59.123-08:00", "1990-12-31T15:59:59-24:00",
			"1963-06-19T08:30:06.28123+01:00Z", "06/19/1963 08:30:06 PST", "2013-350T01:01:01", "1963-6-19T08:30:06.283185Z", "1963-06-1T08:30:06.283185Z",
			"1963-06-1৪T00:00:00Z", "1963-06-11T0৪:00:00Z", "2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00.Z", "2020-01-01 00:00:00Z", "2020-01-01T00:00Z",
		},
	)
	check(
		"date", func(s string) format { return runtime.Date(s) }, []string{"1963-06-19", "2020-02-29"},
		[]string{"2021-02-29", "2020-13-01", "1963-6-19", "06/19/1963", "2013-350", "1963-06-1৪", "20230328", "2020-01-01T"},
	)
	check(
		"time", func(s string) format { return runtime.TimeOfDay(s) },
		[]string{"08:30:06Z", "23:59:60Z", "23:20:50.52Z", "08:30:06+00:20", "08:30:06z", "15:59:60-08:00", "01:29:60+01:30"},
		[]string{"008:030:006Z", "8:3:6Z", "24:00:00Z", "00:60:00Z", "00:00:61Z", "22:59:60Z", "12:00:00", "01:02:03+24:00", "01:02:03+00:60", "08:30:06 PST", "08:30:06#00:20"},
	)
	check(
		"duration", func(s string) format { return runtime.Duration(s) },
		[]string{"P4DT12H30M5S", "P4Y", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P1DT12H", "P2W", "PT0.5S", "P1Y2M3D"},
		[]string{"PT1D", "4DT12H30M5S", "P", "P1YT", "PT", "P2D1Y", "P1D2H", "P2S", "P1Y2W", "P1", "P২Y", "P1.5DT1H", "PT1.5H1M", "P1W1W", "PT.5S"},
	)
	check(
		"uri", func(s string) format { return runtime.URI(s) },
		[]string{"http://foo.bar/?baz=qux#quux", "ftp://ftp.is.co.za/rfc/rfc1808.txt", "mailto:John.Doe@example.com", "urn:oasis:names", "tel:+1-816-555-1212", "http://例え.jp/引き"},
		[]string{"//foo.bar/?baz=qux#quux", "/abc", `\\WINDOWS\fileshare`, "abc", "http:// shouldfail.com", ":// should fail", "bar,baz:foo", "http://a/{b}"},
	)
	if !runtime.URIReference("/abc").Valid() || !runtime.URIReference("#frag").Valid() || !runtime.URIReference("").Valid() || runtime.URIReference(`\\WINDOWS`).Valid() {
		t.Error("uri-reference")
	}
	check(
		"uuid", func(s string) format { return runtime.UUID(s) },
		[]string{"2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "00000000-0000-0000-0000-000000000000"},
		[]string{"2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08aa98-11ea-b4aa73b441d16380", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380", "2eb8aa08-aa98-11ea-g4aa-73b441d16380"},
	)
	check(
		"email", func(s string) format { return runtime.Email(s) },
		[]string{"joe.bloggs@example.com", "te~st@example.com", "~test@example.com", `"joe bloggs"@example.com`, `"joe..bloggs"@example.com`, `"joe@bloggs"@example.com`, "joe@[127.0.0.1]", "joe@[IPv6:::1]", "실례@실례.테스트"},
		[]string{"2962", ".test@example.com", "test.@example.com", "te..st@example.com", "joe.bloggs@invalid=domain.com", "joe.bloggs@[127.0.0.300]", "@a", "a@", `"a"b"@c`, "Joe <joe@example.com>"},
	)
	check("ipv4", func(s string) format { return runtime.IPv4(s) }, []string{"192.168.0.1", "87.10.0.1"}, []string{"127.0.0.0.1", "256.256.256.256", "127.0", "0x7f000001", "2130706433", "087.10.0.1", "192.168.1.0/24", "::1", "::ffff:1.2.3.4"})
	check("ipv6", func(s string) format { return runtime.IPv6(s) }, []string{"::1", "::abef", "::", "::42:ff:1", "d6::", "1:d6::42", "::ffff:192.168.0.1"}, []string{"12345::", "1:1:1:1:1:1:1:1:1", "::laptop", "2001:db8::a::b", "1::d6::42", "fe80::a%eth1", "127.0.0.1", ":2:3:4:5:6:7:8"})
	check("base64", func(s string) format {
		if s == "" {
			return runtime.Base64("=") // the empty text is base64 of nothing
		}
		return runtime.Base64(s)
	}, []string{"aGk=", "aGVsbG8h"}, []string{"aGk", "aGk=\n", "eyJmb28iOi%iYmFyIn0K", "_-8="})
}

// TestFormatValues: text into values of the standard library and back.
func TestFormatValues(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 59, 58, 123000000, time.FixedZone("", -8*3600))
	d := runtime.NewDateTime(at)
	if got, err := d.Time(); err != nil || !got.Equal(at) || d != "2024-02-29T23:59:58.123-08:00" {
		t.Errorf("got %s, %v, %v", d, got, err)
	}
	if got, err := runtime.DateTime("1998-12-31T23:59:60Z").Time(); err != nil || !got.Equal(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("leap second: got %v, %v", got, err)
	}
	if got, err := runtime.NewDate(at).Time(); err != nil || !got.Equal(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := runtime.NewTimeOfDay(at).On(2024, 2, 29); err != nil || !got.Equal(at) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, tt := range []struct {
		d    time.Duration
		text runtime.Duration
	}{{0, "PT0S"}, {90 * time.Minute, "PT1H30M"}, {1500 * time.Millisecond, "PT1.5S"}, {-time.Second, "-PT1S"}, {3*time.Hour + time.Nanosecond, "PT3H0.000000001S"}} {
		if got := runtime.NewDuration(tt.d); got != tt.text {
			t.Errorf("%s: got %s, want %s", tt.d, got, tt.text)
		}
		if got, err := tt.text.TimeDuration(); err != nil || got != tt.d {
			t.Errorf("%s: got %s, %v", tt.text, got, err)
		}
	}
	if got, err := runtime.Duration("P1W").TimeDuration(); err != nil || got != 7*24*time.Hour {
		t.Errorf("got %v, %v", got, err)
	}
	for _, s := range []runtime.Duration{"P1M", "P1Y", "P999999999999D", "x"} {
		if got, err := s.TimeDuration(); err == nil {
			t.Errorf("%s: got %s, want an error", s, got)
		}
	}
	u, _ := url.Parse("https://example.org/a?b#c")
	if got, err := runtime.NewURI(u).URL(); err != nil || got.Path != "/a" {
		t.Errorf("got %v, %v", got, err)
	}
	id := runtime.NewUUID([16]byte{0: 0xfe, 15: 1})
	if b, err := id.Bytes(); err != nil || b[0] != 0xfe || b[15] != 1 || id != "fe000000-0000-0000-0000-000000000001" {
		t.Errorf("got %s, %v, %v", id, b, err)
	}
	if b, err := runtime.NewBase64([]byte("hi")).Bytes(); err != nil || string(b) != "hi" {
		t.Errorf("got %s, %v", b, err)
	}
	if local, domain, err := runtime.Email(`"a@b"@c.d`).Parts(); err != nil || local != `"a@b"` || domain != "c.d" {
		t.Errorf("got %s, %s, %v", local, domain, err)
	}
	if a, err := runtime.IPv4("1.2.3.4").Addr(); err != nil || a.As4() != [4]byte{1, 2, 3, 4} {
		t.Errorf("got %v, %v", a, err)
	}
}
