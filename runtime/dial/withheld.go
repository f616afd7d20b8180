package dial

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// withheld are variables of our environment that a server does not get, and that may be
// why it fails. Only their names are known here.
type withheld struct {
	Names []string
	entry config.Entry
}

// withheldFrom returns the variables that the server of an entry may miss: those whose
// name is in what it said, and well-known ones of the program that it is about. With
// call, it has been started, and the latter count only where what it said is about
// access. It is nil for none, and for a remote server.
func withheldFrom(entry config.Entry, said string, call bool) *withheld {
	if entry.Command == "" {
		return nil
	}
	hidden := hiddenVariables(entry, os.Environ())
	names := slices.DeleteFunc(variableWord().FindAllString(said, -1), func(word string) bool { return !hidden[word] })
	if !call || aboutAccess().MatchString(said) {
		names = append(names, slices.DeleteFunc(wellKnown(entry), func(name string) bool { return !hidden[name] })...)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return &withheld{slices.Compact(names), entry}
}

var (
	variableWord = lazy.Regexp(`\b[A-Za-z_][A-Za-z0-9_]{2,}\b`)
	aboutAccess  = lazy.Regexp(`(?i)credential|config|connect|auth|denied|forbidden|permission|region|profile|daemon|socket|\bhost|\bkey\b`)
)

// hiddenVariables returns the names of variables of ours that the entry's server does
// not get. The shell's own say nothing to a server.
func hiddenVariables(entry config.Entry, ours []string) map[string]bool {
	hidden := map[string]bool{}
	for _, line := range ours {
		if name, value, _ := strings.Cut(line, "="); value != "" {
			hidden[name] = true
		}
	}
	for _, line := range proc.ChildEnv(goruntime.GOOS, ours, entry.Env) {
		name, _, _ := strings.Cut(line, "=")
		delete(hidden, name)
	}
	for _, name := range []string{"PWD", "OLDPWD", "SHLVL", "_"} {
		delete(hidden, name)
	}
	return hidden
}

// wellKnown returns the variables that programs of the entry's kind read: a word of its
// command line tells the kind.
func wellKnown(entry config.Entry) []string {
	words := strings.FieldsFunc(strings.ToLower(filepath.Base(entry.Command)+" "+strings.Join(entry.Args, " ")), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	var names []string
	for _, kind := range []struct{ words, variables string }{
		{"kubectl kubernetes k8s helm k9s openshift istioctl argocd flux", "KUBECONFIG KUBE_CONTEXT"},
		{"aws awslabs amazon dynamodb s3 bedrock", "AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE"},
		{"docker podman testcontainers compose", "DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY CONTAINER_HOST"},
		{"ssh git sftp rsync ansible", "SSH_AUTH_SOCK GIT_SSH_COMMAND"},
		{"gcloud google gcp bigquery firebase vertex gke", "GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT CLOUDSDK_CONFIG"},
		{"azure az azmcp", "AZURE_TENANT_ID AZURE_CLIENT_ID AZURE_CLIENT_SECRET AZURE_SUBSCRIPTION_ID AZURE_CONFIG_DIR"},
		{"github gh", "GITHUB_TOKEN GITHUB_PERSONAL_ACCESS_TOKEN GH_TOKEN GH_HOST"},
		{"gitlab glab", "GITLAB_TOKEN GITLAB_HOST"},
		{"postgres postgresql psql", "DATABASE_URL PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGPASSFILE PGSERVICE"},
		{"redis", "REDIS_URL REDIS_HOST"},
		{"terraform tofu vault consul nomad", "VAULT_ADDR VAULT_TOKEN TF_CLI_CONFIG_FILE CONSUL_HTTP_ADDR NOMAD_ADDR"},
		{"playwright puppeteer chrome chromium browser selenium", "DISPLAY WAYLAND_DISPLAY PLAYWRIGHT_BROWSERS_PATH CHROME_PATH"},
	} {
		if slices.ContainsFunc(strings.Fields(kind.words), func(w string) bool { return slices.Contains(words, w) }) {
			names = append(names, strings.Fields(kind.variables)...)
		}
	}
	return names
}

// String says which variables are not passed.
func (w *withheld) String() string {
	if len(w.Names) == 1 {
		return w.Names[0] + " is set here and not passed to the server"
	}
	return strings.Join(w.Names, ", ") + " are set here and not passed to the server"
}

// Hint returns the command that passes them.
func (w *withheld) Hint() string {
	if line := w.addCommand(); line != "" {
		return line
	}
	env := make([]string, len(w.Names))
	for i, name := range w.Names {
		env[i] = `"` + name + `": "${` + name + `}"`
	}
	return `mcpctl config edit  # in "` + w.entry.Name + `": "env": {` + strings.Join(env, ", ") + "}"
}

// addCommand returns the command that writes the entry again with the variables, "" where
// add cannot write such an entry, or where its text may be secret.
func (w *withheld) addCommand() string {
	e := w.entry
	if !writtenByAdd(e) {
		return ""
	}
	words := []string{"mcpctl", "add", e.Name, "--replace"}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		if value := e.Env[name]; value == "${"+name+"}" {
			words = append(words, "--env", name)
		} else {
			words = append(words, "--env", name+"="+value)
		}
	}
	for _, name := range w.Names {
		words = append(words, "--env", name)
	}
	if e.Cwd != "" {
		words = append(words, "--cwd", e.Cwd)
	}
	words = append(append(words, "--", e.Command), e.Args...)
	return commandLine(config.Entry{Command: words[0], Args: words[1:]})
}

// writtenByAdd reports whether an entry of servers.json has nothing but what add writes
// of a command, and nothing that looks secret.
func writtenByAdd(e config.Entry) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(e.Raw, &members) != nil || !bytes.Equal(config.MaskEntry(e.Raw), e.Raw) {
		return false
	}
	for name := range members {
		if !slices.Contains([]string{"type", "command", "args", "env", "cwd"}, name) {
			return false
		}
	}
	return config.CheckAlias(e.Name) == nil
}

// notPassed is a failure that variables we withhold may explain.
type notPassed struct {
	error
	missed *withheld
}

// Error names the variables behind the failure.
func (e *notPassed) Error() string { return e.error.Error() + "; " + e.missed.String() }
func (e *notPassed) Unwrap() error { return e.error }

// Missed says which variables are not passed.
func (e *notPassed) Missed() string { return e.missed.String() }

// Hint returns the command that passes them.
func (e *notPassed) Hint() string { return e.missed.Hint() }

// withVariables adds to why connecting to a started server failed which variables of
// ours it may miss.
func (d *dialer) withVariables(err error) error {
	if d.last == nil {
		return err
	}
	return explained(d.Entry, d.last.Stderr(), err)
}

// ExplainCall adds to a failed call of an entry's server, connected with these options,
// which variables of ours it may miss, or which credential it refuses.
func ExplainCall(entry config.Entry, o Options, c *runtime.Client, err error) error {
	o.defaults()
	if x, bad := entry.Expand(o.Lookup); bad == nil {
		err = refusedCredential(x, o.HTTP.Headers, err)
	}
	said := ""
	if s, ok := unwrap(c.Transport()).(interface{ Stderr() string }); ok {
		said = s.Stderr()
	}
	return explained(entry, said, err)
}

func explained(entry config.Entry, said string, err error) error {
	var hinted interface{ Hint() string }
	if err == nil || errors.As(err, &hinted) && hinted.Hint() != "" {
		return err
	}
	if w := withheldFrom(entry, said+"\n"+err.Error(), true); w != nil {
		return &notPassed{err, w}
	}
	return err
}
