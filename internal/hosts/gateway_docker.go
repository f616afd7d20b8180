package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// Docker MCP Gateway: docs/catalog.md, docs/profiles.md and docs/server-entry-spec.md of
// docker/mcp-gateway. A file is a catalogue, a profile or one server.

func isDockerServer(doc members) bool {
	return slices.Contains([]string{"server", "remote", "poci"}, doc.text("type")) && doc.has("image", "remote", "tools")
}

func isDocker(docs []members) bool {
	top := docs[0]
	registry := top.object("registry")
	return len(registry.names) > 0 && len(registry.object(registry.names[0]).names) > 0 || // a catalogue
		top.has("version") && top.has("servers") && slices.ContainsFunc(top.objects("servers"), func(s members) bool { return s.has("snapshot", "source", "endpoint", "image") }) ||
		top.has("name") && isDockerServer(top)
}

func gatherDocker(g *gathered, docs []members) {
	top := docs[0]
	switch registry := top.object("registry"); {
	case len(registry.names) > 0:
		for _, name := range registry.names {
			server := dockerServer{of: registry.object(name)}
			if f := server.add(g, name); f.skip == "" {
				server.off(g, name)
				f.notes = append(f.notes, "a catalogue only offers it, so it is disabled")
			}
		}
		g.leave("", top, "registry", "name", "displayName", "version")
	case top.has("servers"):
		for _, of := range top.objects("servers") {
			gatherProfile(g, of)
		}
		g.leave("", top, "version", "id", "name", "servers", "secrets")
	case isDockerServer(top):
		server := dockerServer{of: top}
		server.add(g, top.text("name"))
	}
}

// gatherProfile adds a server of a profile, which has its description as a snapshot.
func gatherProfile(g *gathered, of members) {
	server := dockerServer{of: of.object("snapshot", "server"), config: of.object("config")}
	name := server.of.text("name")
	switch {
	case name != "":
	case of.has("image"):
		name = imageName(of.text("image"))
		server.of.put("image", of.values["image"])
	case of.has("endpoint"):
		name = "remote"
		var remote members
		remote.put("url", of.values["endpoint"])
		server.of.put("remote", remote.raw())
	default:
		g.skip(imageName(of.text("source")), "the profile has no snapshot of it: mcpctl add finds servers of the registry")
		return
	}
	if of.has("tools") && string(of.values["tools"]) != "null" {
		server.allow = append([]string{}, of.texts("tools")...)
	}
	server.add(g, name)
}

// imageName returns the last name in a reference, without tag and digest.
func imageName(ref string) string {
	ref = ref[strings.LastIndexByte(ref, '/')+1:]
	if i := strings.IndexAny(ref, ":@"); i >= 0 {
		ref = ref[:i]
	}
	return ref
}

// dockerServer is a server as catalogues describe it.
type dockerServer struct {
	of members
	// config are the values of a profile, by name; those that are not there are variables.
	config members
	allow  []string
	entry  members
}

var findTemplate = lazy.Regexp(`\{\{\s*([^}|\s]+)\s*(?:\|[^}]*)?\}\}`)

// text returns a text with {{NAME}} as a value of the profile or as a variable.
func (s *dockerServer) text(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range findTemplate().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(escape(text[last:at[0]]))
		last = at[1]
		name := text[at[2]:at[3]]
		own := name[strings.IndexByte(name, '.')+1:]
		switch {
		case s.config.has(name):
			b.WriteString(escape(s.config.text(name)))
		case s.config.has(own):
			b.WriteString(escape(s.config.text(own)))
		default:
			b.WriteString(secretRef(name))
		}
	}
	b.WriteString(escape(text[last:]))
	return b.String()
}

// add adds the server, or why there is none.
func (s *dockerServer) add(g *gathered, name string) *found {
	remote := s.of.object("remote")
	url := remote.text("url")
	if url == "" {
		url = s.of.text("sseEndpoint")
	}
	switch image := s.of.text("image"); {
	case s.of.text("type") == "poci":
		return g.skip(name, "each of its tools is a container of its own: mcpctl add --cli NAME -- docker run … makes tools of a program")
	case url != "":
		s.entry.set("url", escape(url))
		if strings.EqualFold(remote.text("transport_type"), "sse") || remote.text("url") == "" {
			s.entry.set("type", "sse")
		}
		s.entry.set("headers", remote.pairsOf("headers", dollarText))
	case image == "":
		return g.skip(name, "it has no image and no address")
	default:
		s.container(image)
	}
	s.entry.tools(s.allow, nil)
	f := g.add(name, s.entry)
	if s.of.text("longLived") == "true" {
		f.notes = append(f.notes, "longLived is left out: mcpctl keeps servers running by itself")
	}
	if !saysNothing(s.of.values["allowHosts"]) {
		f.lose("allowHosts", asContainer)
	}
	if !saysNothing(s.of.values["oauth"]) && url == "" {
		f.notes = append(f.notes, "oauth is left out: put a token into the variables of env")
	}
	return f
}

// container makes the entry that starts the image, with the flags that the gateway uses.
func (s *dockerServer) container(image string) {
	var env pairs
	for _, secret := range s.of.objects("secrets") {
		env = append(env, pair{secret.text("env"), "${" + secret.text("env") + "}"})
	}
	for _, v := range s.of.objects("env") {
		env = append(env, pair{v.text("name"), s.text(v.text("value"))})
	}
	var network []string
	if s.of.text("disableNetwork") == "true" {
		network = []string{"--network", "none"}
	}
	args := containerRun(env, network...)
	for _, host := range s.of.texts("extraHosts") {
		args = append(args, "--add-host", escape(host))
	}
	if user := s.of.text("user"); user != "" {
		args = append(args, "-u", s.text(user))
	}
	for _, volume := range s.of.texts("volumes") {
		args = append(args, "-v", s.text(readOnly(volume)))
	}
	args = append(args, image)
	for _, word := range s.of.texts("command") {
		args = append(args, s.text(word))
	}
	s.entry.set("command", "docker")
	s.entry.set("args", args)
	s.entry.set("env", env)
}

// containerRun returns the arguments of docker that start a container with the variables of env.
// The image and what follows it are left to the caller.
func containerRun(env pairs, flags ...string) []string {
	args := []string{"run", "-i", "--rm", "--init", "--security-opt", "no-new-privileges"}
	args = append(args, flags...)
	for _, v := range env {
		args = append(args, "-e", v.name)
	}
	return args
}

// readOnly returns a volume as the gateway mounts it: a path of the machine without a mode is
// read only.
func readOnly(volume string) string {
	path := strings.HasPrefix(volume, "/") || strings.HasPrefix(volume, "{{") || strings.HasPrefix(volume, "~")
	if path && !strings.HasSuffix(volume, ":ro") && !strings.HasSuffix(volume, ":rw") {
		return volume + ":ro"
	}
	return volume
}

// off switches a server off that was added.
func (s *dockerServer) off(g *gathered, name string) {
	s.entry.put("disabled", json.RawMessage("true"))
	g.servers.put(name, s.entry.raw())
}
