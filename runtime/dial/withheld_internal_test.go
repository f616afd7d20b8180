package dial

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestWithheld: which variables of ours a failing server may miss, and what passes them.
// Values are never in it.
func TestWithheld(t *testing.T) {
	for name, value := range map[string]string{
		"KUBECONFIG": "s3cret", "AWS_PROFILE": "s3cret", "AWS_REGION": "s3cret", "DOCKER_HOST": "", "SHOP_ID": "s3cret", "PWD": "s3cret", "LC_SHOP": "s3cret",
	} {
		t.Setenv(name, value)
	}
	entry := func(raw string) config.Entry {
		f, err := config.Parse("servers.json", []byte(`{"mcpServers":{"s":`+raw+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.Use("s")
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for name, c := range map[string]struct {
		entry, said string
		call        bool
		want        []string
		hint        string
	}{
		"by name":         {`{"command":"x"}`, "error: set SHOP_ID or PWD or LC_SHOP first", false, []string{"SHOP_ID"}, "mcpctl add s --replace --env SHOP_ID -- x"},
		"part of a word":  {`{"command":"x"}`, "MY_SHOP_ID SHOP_IDS", false, nil, ""},
		"passed":          {`{"command":"x","env":{"SHOP_ID":"1"}}`, "SHOP_ID is wrong", false, nil, ""},
		"empty":           {`{"command":"docker"}`, "DOCKER_HOST", false, nil, ""},
		"by command":      {`{"command":"/opt/kubectl-mcp","args":["a b"]}`, "", false, []string{"KUBECONFIG"}, "mcpctl add s --replace --env KUBECONFIG -- /opt/kubectl-mcp 'a b'"},
		"by package":      {`{"command":"uvx","args":["awslabs.s3@1"],"env":{"A":"b"},"cwd":"/d"}`, "", false, []string{"AWS_PROFILE", "AWS_REGION"}, "mcpctl add s --replace --env A=b --env AWS_PROFILE --env AWS_REGION --cwd /d -- uvx awslabs.s3@1"},
		"a call":          {`{"command":"kubectl"}`, "no such pod", true, nil, ""},
		"a call, access":  {`{"command":"kubectl"}`, "connection refused", true, []string{"KUBECONFIG"}, "mcpctl add s --replace --env KUBECONFIG -- kubectl"},
		"other members":   {`{"command":"kubectl","strict":true}`, "", false, []string{"KUBECONFIG"}, `mcpctl config edit  # in "s": "env": {"KUBECONFIG": "${KUBECONFIG}"}`},
		"a secret in it":  {`{"command":"kubectl","env":{"API_KEY":"hunter2"}}`, "", false, []string{"KUBECONFIG"}, `mcpctl config edit  # in "s": "env": {"KUBECONFIG": "${KUBECONFIG}"}`},
		"a remote server": {`{"url":"https://x.example"}`, "SHOP_ID", false, nil, ""},
	} {
		w := withheldFrom(entry(c.entry), c.said, c.call)
		if (w == nil) != (c.want == nil) || w != nil && (!slices.Equal(w.Names, c.want) || w.Hint() != c.hint) {
			t.Errorf("%s: got %+v", name, w)
		}
		if w != nil && strings.Contains(w.String()+w.Hint(), "s3cret") {
			t.Errorf("%s: a value is shown: %s", name, w)
		}
	}
	why := errors.New("why")
	if err := explained(entry(`{"command":"x"}`), "SHOP_ID", why); !errors.Is(err, why) || err.Error() != "why; SHOP_ID is set here and not passed to the server" {
		t.Errorf("got %v", err)
	}
}
