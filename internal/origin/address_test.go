package origin_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/origin"
)

func TestAddressFaults(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://api.example.com/mcp":           "",
		"https://api.example.com:8443/a@b?c=@d": "",
		"http://127.0.0.1:8080/mcp":             "",
		"http://localhost/mcp":                  "",
		"http://[::1]:1/":                       "",
		"https://10.0.0.1/":                     "",
		"https://192.168.1.1/":                  "",
		"https://xn--bcher-kva.example/":        "",
		"https://1password.example/":            "",
		"https://a1/":                           "",
		"https://0x.example/":                   "",
		// Samples of RFC 3492, section 7.1, and well-known names.
		"https://bücher.example/":               "it is xn--bcher-kva.example",
		"https://BÜCHER.example/":               "it is xn--bcher-kva.example",
		"https://münchen.ü/":                    "it is xn--mnchen-3ya.xn--tda",
		"https://他们为什么不说中文/":                    "it is xn--ihqwcrb4cv8a8dqg056pqjye",
		"https://ليهمابتكلموشعربي؟/":            "it is xn--egbpdaj6bu4bxfgehfvwxn",
		"https://なぜみんな日本語を話してくれないのか/":           "it is xn--n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
		"https://почемужеонинеговорятпорусски/": "it is xn--b1abfaaepdrnnbgefbadotcwatmq2g4l",
		"https://3年b組金八先生/":                     "it is xn--3b-ww4c5e180e575a65lsy2b",
		"https://pypаl.com/":                    "it is xn--pypl-73d.com",
		"https://127。0。0。1/":                    "it is 127.0.0.1",
		"https://u:p@h.example/":                "which is h.example",
		"https://169.254.1.1/":                  "link-local",
		"https://[fe80::1%25lo]/":               "link-local",
		"https://[febf::1]/":                    "link-local",
		"https://[::ffff:169.254.169.254]/":     "link-local",
		"https://[::ffff:100.100.100.200]/":     "link-local",
		"https://[64:ff9b::169.254.169.254]/":   "link-local",
		"https://[fd00:ec2::254]/":              "link-local",
		"https://100.100.100.200/":              "link-local",
		"https://METADATA.google.internal./":    "link-local",
		"https://0.0.0.0/":                      "not the address of a server",
		"https://2852039166/":                   "read as an IP address",
		"https://0xA9.0xFE.0xA9.0xFE/":          "read as an IP address",
		"https://169.254.169/":                  "read as an IP address",
		"https://h.example.1/":                  "read as an IP address",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got := strings.Join(origin.AddressFaults(u), "|")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
