package packages_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/packages"
)

// TestOf: the package of the command lines that people have, and none where it is not
// certain which one that is.
func TestOf(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a", 64)
	for line, want := range map[string]string{
		"npx -y @acme/notes@1.2.3 --flag x":             "npm @acme/notes@1.2.3",
		"npx notes":                                     "npm notes",
		"/usr/bin/npx --yes notes@latest":               "npm notes@latest",
		`C:\node\npx.cmd -y notes@1`:                    "npm notes@1",
		"npx -y --package=@acme/notes@2 notes-mcp":      "npm @acme/notes@2",
		"npx -p notes@1 -- run":                         "npm notes@1",
		"npx --registry http://127.0.0.1:1/ -y notes@1": "npm notes@1 http://127.0.0.1:1/",
		"bunx notes@1":                                  "npm notes@1",
		"npm exec -y -- notes@1 a":                      "npm notes@1",
		"pnpm dlx notes":                                "npm notes",
		"npm run start":                                 "",
		"npx -y github:acme/notes":                      "",
		"npx -y ./notes":                                "",
		"npx -y ${PACKAGE}":                             "",
		"npx":                                           "",
		"npx -y":                                        "",
		"node server.js":                                "",
		"uvx acme-notes":                                "pypi acme-notes",
		"uvx acme-notes==1.2":                           "pypi acme-notes==1.2",
		"uvx acme-notes@1.2 serve":                      "pypi acme-notes==1.2",
		"uvx acme-notes@latest":                         "pypi acme-notes",
		"uvx --from acme[cli]==2 notes":                 "pypi acme[cli]==2",
		"uvx --python 3.12 --with x acme-notes":         "pypi acme-notes",
		"uv tool run acme-notes":                        "pypi acme-notes",
		"uv run server.py":                              "",
		"uvx git+https://example.com/x":                 "",
		"uvx acme>=2":                                   "",
		"pipx run --spec acme-notes==1 notes":           "pypi acme-notes==1",
		"docker run -i --rm acme/notes":                 "oci acme/notes",
		"docker run -i --rm -e A=b --mount type=bind,src=/a acme/notes:1":  "oci acme/notes:1",
		"docker run --rm -it -v /a:/b --network=host ghcr.io/acme/notes:1": "oci ghcr.io/acme/notes:1",
		"docker run -i localhost:5000/notes":                               "oci localhost:5000/notes",
		"podman run -i acme/notes:1@" + digest:                             "oci acme/notes@" + digest,
		"docker exec x":                                                    "",
		"docker run":                                                       "",
	} {
		words := strings.Fields(line)
		p, ok := packages.Of(words[0], words[1:])
		got := ""
		if ok {
			got = strings.TrimSpace(p.Type + " " + p.String() + " " + p.Base)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
