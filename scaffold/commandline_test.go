package scaffold_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

// The options that a command line may have, listed independently of the
// product's own tables: those in the first text take no value.
type grammar struct {
	flags, values string
	clusters      bool
}

func grammarOf(command string) grammar {
	switch command {
	case "npx":
		return grammar{"-y -q --quiet -s --silent -d --verbose --prefer-offline --prefer-online --offline --ignore-scripts", "--loglevel --cache -p --package --registry", false}
	case "bunx":
		return grammar{"--bun --silent --verbose --no-install", "-p --package", false}
	case "pnpm":
		return grammar{"", "--registry", false}
	case "yarn":
		return grammar{"-q --quiet", "-p --package", false}
	case "uvx":
		return grammar{
			"-q --quiet -v --verbose --no-progress --isolated -n --no-cache --offline --refresh -U --upgrade --reinstall --no-config --no-env-file --no-build --compile-bytecode --native-tls --managed-python --no-managed-python --no-python-downloads",
			"-p --python --refresh-package --upgrade-package -P --reinstall-package --no-build-package --prerelease --resolution --link-mode --color --exclude-newer --cache-dir --directory -w --with --from --index-url", true,
		}
	case "dnx":
		return grammar{"--prerelease --allow-roll-forward --ignore-failed-sources --disable-parallel --no-http-cache", "-v --verbosity --framework -a --arch --source", false}
	}
	return grammar{
		"-i --interactive --rm --init --read-only -q --quiet --no-healthcheck --sig-proxy",
		"-e --env -v --volume --mount --network --net -p --publish --tmpfs --name --network-alias -h --hostname --platform -u --user -w --workdir --entrypoint -m --memory --memory-reservation --shm-size --memory-swap --cpus -c --cpu-shares --stop-timeout --pids-limit --cpuset-cpus --ulimit --cap-drop --security-opt --pull --add-host --dns --expose --log-driver --gpus", true,
	}
}

// setting is one option of a command line, with its value.
type setting struct{ name, val string }

// read reads a command line like its runner and returns its options and the
// first other word; bad is an option that is not allowed.
func (g grammar) read(args []string) (options []setting, operand, bad string) {
	flags, values := strings.Fields(g.flags), strings.Fields(g.values)
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !strings.HasPrefix(w, "-") {
			return options, w, ""
		}
		name, val, joined := strings.Cut(w, "=")
		switch {
		case slices.Contains(flags, name) && (g.clusters || !joined):
			continue
		case slices.Contains(values, name):
		case g.clusters && !strings.HasPrefix(w, "--"):
			j := 1
			for j < len(w)-1 && slices.Contains(flags, "-"+w[j:j+1]) {
				j++
			}
			if name = "-" + w[j:j+1]; slices.Contains(flags, name) {
				continue
			}
			if !slices.Contains(values, name) {
				return nil, "", w
			}
			val, joined = strings.TrimPrefix(w[j+1:], "="), j < len(w)-1
		default:
			return nil, "", w
		}
		if !joined {
			if i++; i == len(args) {
				return nil, "", w + " without a value"
			}
			val = args[i]
		}
		options = append(options, setting{name, val})
	}
	return nil, "", "no operand"
}

// hostPath reports whether a source is neither one placeholder nor a volume's
// name.
func hostPath(src string) bool {
	names, _ := config.Variables(src)
	whole := len(names) == 1 && src == "${"+names[0]+"}"
	return !whole && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]+$`).MatchString(src)
}

// showsTheMachine reports whether an option shows a container a part of the
// machine that the user did not name.
func showsTheMachine(o setting) bool {
	switch o.name {
	case "-v", "--volume":
		src, _, two := strings.Cut(o.val, ":")
		return two && hostPath(src)
	case "--mount":
		for part := range strings.SplitSeq(strings.ReplaceAll(o.val, `"`, ""), ",") {
			key, src, _ := strings.Cut(strings.ToLower(part), "=")
			if key != "readonly" && strings.Contains(key, "opt") || (key == "src" || key == "source") && hostPath(src) {
				return true
			}
		}
	case "--network", "--net":
		return strings.ContainsAny(o.val, ":=/")
	}
	return false
}

// checkCommandLine checks what is true of every command line of a record without
// --force: only options of the list, nothing of the machine that the user did
// not name, and the first other word is the record's own package.
func checkCommandLine(t *testing.T, s *registry.Server, p *scaffold.Plan) {
	t.Helper()
	var e struct {
		Command string
		Args    []string
	}
	require.NoError(t, json.Unmarshal(p.Entry, &e))
	argv := append([]string{e.Command}, e.Args...)
	if p.Start != nil {
		argv = p.Start
	}
	command, rest := argv[0], argv[1:]
	switch command {
	case "docker", "podman", "nerdctl", "pnpm", "yarn":
		if len(rest) == 0 || rest[0] != "run" && rest[0] != "dlx" {
			t.Fatalf("%q does not run anything", argv)
		}
		rest = rest[1:]
	case "npx", "bunx", "uvx", "dnx":
	default:
		return // a remote or an installed program
	}
	options, operand, bad := grammarOf(command).read(rest)
	if bad != "" {
		t.Fatalf("%q holds %q", argv, bad)
	}
	operand = strings.ReplaceAll(operand, "$$", "$")
	if !slices.ContainsFunc(s.Packages, func(p registry.Package) bool { return strings.Contains(operand, bareName(p.Identifier)) }) {
		t.Errorf("%q runs %q, which is no package of the record", argv, operand)
	}
	for _, o := range options {
		if showsTheMachine(o) {
			t.Errorf("%q: %s %s", argv, o.name, o.val)
		}
	}
}

func bareName(id string) string {
	if at := strings.IndexByte(id, '['); at > 0 {
		id = id[:at]
	}
	return id
}

// FuzzCommandLine: whatever the arguments of a record, what it adds without
// --force runs the record's package, with options of the lists only.
func FuzzCommandLine(f *testing.F) {
	for _, seed := range []string{
		"-it\n--rm", "-iv\n/:/h", "--name\n-e\nA\nalpine", "-e\nA=1\n--privileged", "-p\n1:1\n--mount\nSRC=/,dst=/h", "--registry\nhttp://x",
		"--from\nacme\nacme", "-eA=1", "--", "-", "-v=/:/h", "--network=name=host", "-qp3.12", "{v}", "-{v}", "-\xab0", "--quiet=true", "--volume\n{v}:/x", "run\nghcr.io/acme/notes\nx",
	} {
		for kind := range byte(8) {
			f.Add(kind, kind%3, seed)
		}
	}
	f.Fuzz(func(t *testing.T, kind, form byte, text string) {
		p := registry.Package{RegistryType: "oci", Identifier: "ghcr.io/acme/notes:1", RuntimeHint: "docker"}
		switch kind % 8 {
		case 1:
			p.RuntimeHint = "podman"
		case 2:
			p = registry.Package{RegistryType: "npm", Identifier: "acme", Version: "1.0.0"}
		case 3:
			p = registry.Package{RegistryType: "npm", Identifier: "acme", Version: "1.0.0", RuntimeHint: "bunx"}
		case 4:
			p = registry.Package{RegistryType: "npm", Identifier: "acme", Version: "1.0.0", RuntimeHint: "yarn"}
		case 5:
			p = registry.Package{RegistryType: "npm", Identifier: "acme", Version: "1.0.0", RuntimeHint: "pnpm"}
		case 6:
			p = registry.Package{RegistryType: "pypi", Identifier: "acme", Version: "1.0.0"}
		case 7:
			p = registry.Package{RegistryType: "nuget", Identifier: "acme", Version: "1.0.0"}
		}
		variables := []registry.KeyValueInput{{Name: "v", Input: registry.Input{Required: true}}}
		lines := strings.Split(text, "\n")
		for i := 0; i < len(lines); i++ {
			a := registry.Argument{Input: registry.Input{Value: &lines[i], Required: form&1 == 1, Variables: variables}}
			if form&2 == 2 && strings.HasPrefix(lines[i], "-") {
				a.Named, a.Name, a.Value = true, lines[i], nil
				if i+1 < len(lines) {
					a.Value = &lines[i+1]
					i++
				}
			}
			p.RuntimeArguments = append(p.RuntimeArguments, a)
		}
		s := registry.Server{Name: "a.b/thing", Version: "1", Packages: []registry.Package{p}}
		plan, err := scaffold.New(s, scaffold.Options{})
		if err == nil && utf8.ValidString(text) { // as every document is
			checkPlan(t, &s, plan)
			checkCommandLine(t, &s, plan)
		}
	})
}
