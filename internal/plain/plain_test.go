package plain

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a\n\tb é 漢 👩💻", "a\n\tb é 漢 👩💻"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"cursor", "a\x1b[2J\x1b[Hb", "ab"},
		{"title, BEL", "\x1b]0;owned\x07x", "x"},
		{"hyperlink, ST", "\x1b]8;;http://e.example\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"eight-bit CSI", "\u009b31mred", "red"},
		{"eight-bit OSC", "\u009d0;t\u009cx", "x"},
		{"charset", "\x1b(Bx", "x"},
		{"endless OSC keeps the next line", "\x1b]0;t\nnext", "\nnext"},
		{"endless CSI", "\x1b[", ""},
		{"lone escape", "a\x1b", "a"},
		{"bell, backspace, DEL", "a\a\bb\x7fc", "abc"},
		{"CR LF", "a\r\nb", "a\nb"},
		{"overwriting CR", "safe\revil", "safe\nevil"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"tags", "a\U000e0041b", "ab"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"nul", "a\x00b", "ab"},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("%s: Text(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mred", "\x1b]0;t\x07", "\u009b1m", "\xff\x1b", "\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		last := rune(-1)
		for _, r := range got {
			if dropped(r, last) {
				t.Fatalf("Text(%q) = %q keeps %U", s, got, r)
			}
			last = r
		}
		if !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q is not UTF-8", s, got)
		}
		if again := Text(got); again != got {
			t.Fatalf("Text is not idempotent: %q, then %q", got, again)
		}
	})
}

// TestInvisible: each invisible or reordering character is dropped, in any place.
func TestInvisible(t *testing.T) {
	for _, span := range [][2]rune{
		{0x00, 0x08}, {0x0b, 0x0c}, {0x0e, 0x1a}, {0x1c, 0x1f}, {0x7f, 0x7f}, // controls
		{0xad, 0xad},                       // soft hyphen
		{0x034f, 0x034f},                   // combining grapheme joiner
		{0x061c, 0x061c},                   // Arabic letter mark
		{0x115f, 0x1160}, {0x3164, 0x3164}, // Hangul fillers
		{0xffa0, 0xffa0},                   // its half-width one
		{0x17b4, 0x17b5},                   // Khmer vowels without a form
		{0x180b, 0x180f},                   // Mongolian selectors and vowel separator
		{0x200b, 0x200f},                   // zero-width space, joiners, marks
		{0x2028, 0x2029},                   // line ends on which terminals disagree
		{0x202a, 0x202e}, {0x2066, 0x2069}, // bidirectional controls
		{0x2060, 0x2065}, {0x206a, 0x206f}, // word joiner, invisible operators
		{0xfe00, 0xfe0f},   // variation selectors, here where they select nothing
		{0xfeff, 0xfeff},   // byte order mark
		{0xfff0, 0xfffb},   // interlinear annotation
		{0x1bca0, 0x1bca3}, // shorthand
		{0x1d173, 0x1d17a}, // beams and slurs
		{0xe0000, 0xe01ef}, // tags, more variation selectors
		{0xe01f0, 0xe0fff},
	} {
		for r := span[0]; r <= span[1]; r++ {
			for _, in := range []string{"a" + string(r) + "b", "ab" + string(r), string(r) + "ab"} {
				if got := Text(in); got != "ab" {
					t.Errorf("%U: Text(%q) = %q", r, in, got)
				}
				if got := Line(in); got != "ab" {
					t.Errorf("%U: Line(%q) = %q", r, in, got)
				}
			}
		}
	}
}

// TestVisible: ordinary text stays, byte for byte.
func TestVisible(t *testing.T) {
	for name, s := range map[string]string{
		"ASCII":              "\t !\"#$%&'()*+,-./0123456789:;<=>?@AZ[\\]^_`az{|}~\n",
		"Latin":              "Größe, naïve, Łódź, Ångström, Việt",
		"combining accents":  "e\u0301 a\u0308\u0304 Z\u0351\u036b",
		"Greek and Cyrillic": "Ελληνικά, Русский, Ђорђе",
		"Chinese":            "漢字与汉字，𠮷野家。",
		"Japanese":           "ひらがな カタカナ ﾊﾝｶｸ 日本語",
		"Korean":             "한국어 \u1112\u1161\u11ab",
		"Arabic":             "العربية ١٢٣ \u0600١ \u06dd",
		"Hebrew":             "עברית שָׁלוֹם",
		"Persian":            "فارسی",
		"Hindi":              "हिन्दी",
		"Thai":               "ภาษาไทย",
		"emoji":              "😀 👍🏽 🇪🇺 🤷🏿",
		"emoji style":        "❤\ufe0f ☎\ufe0e ©\ufe0f 1\ufe0f\u20e3 #\ufe0f\u20e3 ‼\ufe0f ℹ\ufe0f ↔\ufe0f ㊗\ufe0f",
		"spaces":             "a\u00a0b\u2003c\u3000d",
		"symbols":            "→ ≤ ∑ € ½ ␛ ● └── █ ⠿",
		"private use":        "\ue0b0",
		"replacement":        "\ufffd",
	} {
		if got := Text(s); got != s {
			t.Errorf("%s: Text(%q) = %q", name, s, got)
		}
	}
}

// TestStyle: one selector of a style behind a symbol, and no more: a row of
// them may carry hidden text.
func TestStyle(t *testing.T) {
	for in, want := range map[string]string{
		"❤\ufe0f\ufe0f\ufe0e": "❤\ufe0f",
		"❤\u200b\ufe0f":       "❤\ufe0f",
		"tool\ufe0f":          "tool",
		"漢\ufe0f":             "漢",
		"\ufe0f":              "",
		"❤\x1b[1m\ufe0f":      "❤\ufe0f",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzEscape: JSON says the same afterwards, and nothing in it is dropped by
// Text.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{`{"a":"\u200b"}`, "{\r\"a\u009b\":[1,\"\U000e0041\u202e\"]}\r\n", "\"\xff\u2028❤\ufe0f\ufe0f\"", `"\\\u200b"`, "\"\\\\\u200b\x7f\"", "\"0\u034f\ufe0f\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var before, after any
		if json.Unmarshal([]byte(s), &before) != nil {
			return
		}
		escaped := Escape([]byte(s))
		if err := json.Unmarshal(escaped, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("Escape(%q) = %q, which says %q, %v", s, escaped, after, err)
		}
		if again := Text(string(escaped)); again != string(escaped) {
			t.Fatalf("Escape(%q) = %q, of which Text leaves %q", s, escaped, again)
		}
	})
}
