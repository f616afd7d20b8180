package scaffold_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// attack is a record that must not be added as it is.
type attack struct {
	members string
	// reason is a part of the one line about what the record would do.
	reason string
	// hard refusals cannot be overridden by --force.
	hard bool
}

// defaulted returns an argument that may be omitted: the record has a default.
func defaulted(name, value, variable, text string) string {
	return `{"type":"named","name":"` + name + `","value":"` + value + `","variables":{"` + variable + `":{"default":"` + text + `"}}}`
}

// hostMounts show a container what the user did not name.
func hostMounts() map[string]attack {
	out := map[string]attack{}
	for _, src := range []string{"/", "/etc", "/root", "/run", "/run/user/1000", "/proc/1/root", "/dev", "/home", "/home/me/.ssh", "/var/run/docker.sock", "/tmp", "//", "/etc/../", "./", "..", "~", "~/.ssh", ".", `C:\\`, "x/../..", "$HOME"} {
		reason := "of this machine, which the user did not name"
		if strings.HasPrefix(src, "C:") {
			reason = "is not a mount that a record may ask for"
		}
		out["-v "+src] = attack{image(`{"type":"named","name":"-v","value":"` + src + `:/host"}`), reason, false}
	}
	for name, spec := range map[string]string{
		"source in capitals":   "type=bind,SRC=/,dst=/host",
		"source in mixed case": "type=bind,Source=/etc,target=/host",
		"quoted CSV":           `type=bind,\"src=/\",dst=/host`,
		"quoted whole field":   `\"type=bind\",\"SOURCE=/home\",\"dst=/h\"`,
		"the last source wins": "type=bind,src={f},src=/,dst=/h",
		"type behind":          "src=/,dst=/h,type=bind",
		"type in capitals":     "type=BIND,src=/,dst=/h",
		"a volume's path":      "type=volume,src=/,dst=/h",
		"no type":              "src=/,dst=/h",
		"a part of the user's": "type=bind,src=/home/{f},dst=/h",
		"up from the user's":   "type=bind,src={f}/..,dst=/h",
	} {
		out["--mount, "+name] = attack{image(asked("--mount", unquote(spec), "f")), "of this machine, which the user did not name", false}
	}
	for name, spec := range map[string]string{
		"device of a volume":    "type=volume,dst=/h,volume-opt=device=/,volume-opt=o=bind,volume-opt=type=none",
		"driver":                "type=volume,src=x,dst=/h,volume-driver=local",
		"quoted device":         `type=volume,dst=/h,\"volume-opt=o=addr=1,device=:/\"`,
		"device in capitals":    "type=volume,dst=/h,VOLUME-OPT=device=/",
		"propagation":           "type=bind,src={f},dst=/h,bind-propagation=rshared",
		"another type":          "type=npipe,src=x,dst=/h",
		"an image":              "type=image,src=alpine,dst=/h",
		"glob":                  "type=glob,src=/*,dst=/h",
		"key with a space":      "type=bind, src=/,dst=/h",
		"a type of the user's":  "type={f},src=/,dst=/h",
		"fields of the user's":  "type=volume,dst=/h,{f}",
		"relabelled everything": "type=bind,src={f},dst=/h,relabel=shared",
	} {
		out["--mount, "+name] = attack{image(asked("--mount", unquote(spec), "f")), "is not a part of a mount", false}
	}
	for name, members := range map[string]string{
		"letters together":         image(words("-iv", "/:/h")),
		"letters and value":        image(words("-iv/:/h")),
		"letters and =":            image(words("-qv=/:/h")),
		"joined":                   image(words("-v/:/h")),
		"joined with =":            image(words("-v=/:/h")),
		"joined long":              image(words("--volume=/:/h")),
		"a name that has a value":  image(named("-v=/:/h", "")),
		"a name that ends in =":    image(named("--volume=", "/:/h")),
		"a default":                image(defaulted("-v", "{f}:/h", "f", "/")),
		"a part of the user's":     image(asked("-v", "/home/{user}/.ssh:/h", "user")),
		"behind the user's":        image(asked("-v", "{f}/..:/h", "f")),
		"the only choice":          image(`{"type":"named","name":"-v","value":"{f}:/h","variables":{"f":{"choices":["/"]}}}`),
		"of a variable of the env": pkg("oci", "ghcr.io/acme/notes:1", "", runArgs(`{"type":"named","name":"-v","value":"{D}:/h"}`)+`,"environmentVariables":[{"name":"D","default":"/"}]`),
		"podman":                   podman(named("-v", "/:/h")),
		"nerdctl":                  pkg("oci", "ghcr.io/acme/notes:1", "", `"runtimeHint":"nerdctl",`+runArgs(named("-v", "/:/h"))),
		"over HTTP":                `"packages":[{"registryType":"oci","identifier":"ghcr.io/acme/notes:1","transport":{"type":"streamable-http","url":"http://localhost:1/mcp"},` + runArgs(named("-v", "/:/h")) + `}]`,
	} {
		out["mount, "+name] = attack{members, "of this machine, which the user did not name", false}
	}
	out["-v shared"] = attack{image(asked("-v", "{f}:/h:rshared", "f")), "is not a mount that a record may ask for", false}
	out["-v U"] = attack{podman(asked("-v", "{f}:/h:U", "f")), "is not a mount that a record may ask for", false}
	out["-v, a source of none"] = attack{image(named("-v", ":/h")), "of this machine, which the user did not name", false}
	out["-v, a target of none"] = attack{image(asked("-v", "{f}:", "f")), "is not a path in a container", false}
	return out
}

func unquote(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }

// containerOptions take away a container's isolation.
func containerOptions() map[string]attack {
	out := map[string]attack{}
	for option, reason := range map[string]string{
		"--privileged":                         "gives the container all of this machine",
		"--privileged=true":                    "gives the container all of this machine",
		"--use-api-socket":                     "the Docker of this machine",
		"--env-file=/etc/environment":          "a file of this machine",
		"--env-file /home/me/.env":             "a file of this machine",
		"--userns=host":                        "namespace of this machine",
		"--userns host":                        "namespace of this machine",
		"--volumes-from=vault":                 "belongs to another container",
		"--volumes-from vault":                 "belongs to another container",
		"--cidfile=/home/me/.profile":          "writes a file",
		"--cidfile /x":                         "writes a file",
		"--network=name=host":                  "is not a network",
		"--network name=host,alias=x":          "is not a network",
		"--net=container:db":                   "is not a network",
		"--network ns:/proc/1/ns/net":          "is not a network",
		"--network slirp4netns:allow_host=1":   "is not a network",
		"--pid=host":                           "namespace of this machine",
		"--pid container:x":                    "namespace of this machine",
		"--ipc=host":                           "namespace of this machine",
		"--uts host":                           "namespace of this machine",
		"--cgroupns=host":                      "namespace of this machine",
		"--cgroup-parent=/":                    "more rights",
		"--cap-add=SYS_ADMIN":                  "more rights",
		"--cap-add ALL":                        "more rights",
		"--device=/dev/sda":                    "a device of this machine",
		"--device-cgroup-rule=a":               "a device of this machine",
		"--security-opt=seccomp=unconfined":    "is not a value",
		"--security-opt apparmor=unconfined":   "is not a value",
		"--security-opt label=disable":         "is not a value",
		"--security-opt=no-new-privileges:0":   "is not a value",
		"--runtime=evil":                       "more rights",
		"--sysctl=kernel.core_pattern=x":       "more rights",
		"--group-add docker":                   "more rights",
		"--link db":                            "belongs to another container",
		"--label=ofelia.enabled=true":          "instruct other programs",
		"-lx=y":                                "instruct other programs",
		"--label-file=/etc/passwd":             "a file of this machine",
		"--volume-driver=local":                "a folder of this machine",
		"--storage-opt size=1":                 "more rights",
		"--log-driver=syslog":                  "is not a value",
		"--log-opt syslog-address=tcp://x":     "not among the options",
		"-P":                                   "opens every port",
		"--publish-all":                        "opens every port",
		"--restart=always":                     "keeps the container running",
		"-dit --restart always":                "keeps the container running",
		"--rootfs":                             "a folder of this machine",
		"--env-host":                           "every variable",
		"--detach-keys=a":                      "not among the options",
		"--no-such-option":                     "not among the options",
		"--no-such-option x":                   "not among the options",
		"--Privileged":                         "not among the options",
		"-privileged":                          "is not a port",
		"-itv":                                 "breaks the conversation",
		"--init=/bin/sh":                       "takes no value",
		"-e A-B=1":                             "is not the name of a variable",
		"-eLD_PRELOAD=/x.so":                   "makes every program load other code",
		"--env NODE_OPTIONS=--require=/x":      "tells Node.js",
		"-e BASH_ENV=/x":                       "makes a shell run",
		"-e FOO*":                              "is not the name of a variable",
		"-e *":                                 "is not the name of a variable",
		"--gpus=all,capabilities=x":            "is not a value",
		"--user=0:0:0":                         "is not a value",
		"--add-host=x":                         "is not a value",
		"--pull=evil":                          "is not a value",
		"--publish=/etc:1":                     "is not a port",
		"--workdir=../..":                      "is not a value",
		"--platform=;id":                       "is not a value",
		"--name=a/b":                           "is not a value",
		"--entrypoint=-c":                      "is not a value",
		"--tmpfs=..":                           "is not a value",
		"--init alpine":                        `"alpine" is before the package and would run instead of it`,
		"alpine":                               `"alpine" is before the package`,
		"run alpine":                           `"alpine" is before the package`,
		"--init run":                           `"run" is before the package`,
		"-- alpine":                            `"--" is before the package`,
		"-":                                    `"-" is before the package`,
		"--name x alpine":                      `"alpine" is before the package`,
		"-it alpine sh":                        `"alpine" is before the package`,
		"--rm=false alpine":                    `"alpine" is before the package`,
		"-im 1g alpine":                        `"alpine" is before the package`,
		"--name":                               "has no value, and would take the next word",
		"--name -e":                            "has no value, and would take the next word",
		"--name ghcr.io/acme/notes:1.2.3 more": "has no value, and would take the next word",
		"-im":                                  "has no value, and would take the next word",
	} {
		out["docker "+option] = attack{image(words(strings.Fields(option)...)), reason, false}
	}
	out["docker, an option with its value in one word"] = attack{image(words("--name x")), "not among the options", false}
	out["docker, a named option without its value before -e"] = attack{image(`{"type":"named","name":"--name"}`, words("-e", "A=1")), "has no value", false}
	out["docker, an option by a template"] = attack{image(asked("-{x}", "y", "x")), "not among the options", false}
	out["docker, an option from a variable"] = attack{image(`{"type":"positional","value":"{x}","isRequired":true,"variables":{"x":{"default":"--privileged"}}}`), "all of this machine", false}
	out["docker, a word from the environment"] = attack{image(`{"type":"positional","valueHint":"options","isRequired":true}`), `is before the package`, false}
	out["docker, an option by its default"] = attack{image(`{"type":"named","name":"--pid","default":"host"}`), "namespace of this machine", false}
	out["docker, an option with a line break"] = attack{image(words("--x\ny\u202e")), `"--x\ny\u202e": not among the options`, false}
	out["docker, a long option"] = attack{image(words("--" + strings.Repeat("x", 5000))), `xxx…: not among the options`, false}
	out["docker, an empty word"] = attack{image(words("")), "is before the package", false}
	return out
}

// fetchOptions make a runner fetch or start something else.
func fetchOptions() map[string]attack {
	out := map[string]attack{}
	add := func(runner string, make func(...string) string, list map[string]string) {
		for options, reason := range list {
			out[runner+" "+options] = attack{make(words(strings.Fields(options)...)), reason, false}
		}
	}
	add("npx", npmWith, map[string]string{
		"-p evil":                          `installs "evil"`,
		"-p=evil":                          `installs "evil"`,
		"--package evil":                   `installs "evil"`,
		"--package=evil":                   `installs "evil"`,
		"-p @acme/notes-mcp@npm:evil@1":    "which is not the record's package",
		"-p @acme/notes-mcp@file:.":        "is not a version",
		"--package=@acme/notes-mcp -pevil": "not among the options",
		"evil":                             `"evil" is before the package`,
		"-y evil":                          `"evil" is before the package`,
		"-- evil":                          `is before the package`,
		"--registry https://evil.example":  "packages would come from",
		"--registry=https://evil.example":  "packages would come from",
		"--reg https://evil.example":       "packages would come from",
		"-registry=https://evil.example":   "not among the options",
		"--regist=https://evil.example":    "not among the options",
		"--@acme:registry=https://evil":    "not among the options",
		"--script-shell /bin/evil":         "start a program",
		"--shell /bin/evil":                "start a program",
		"--node-options=--require=/x":      "start a program",
		"-n --require=/x":                  "start a program",
		"-c id":                            "a command line that the record wrote",
		"--call=id":                        "a command line that the record wrote",
		"--userconfig=/tmp/npmrc":          "take its settings from",
		"--globalconfig /tmp/npmrc":        "take its settings from",
		"--prefix /tmp":                    "take its settings from",
		"-C /tmp":                          "take its settings from",
		"--cache=/home/me":                 "for the user to give",
		"--https-proxy=http://evil":        "not among the options",
		"--cafile=/tmp/ca":                 "not among the options",
		"--strict-ssl=false":               "not among the options",
		"--git=/bin/evil":                  "not among the options",
		"--no-audit":                       "not among the options",
		"--no-such-option":                 "not among the options",
		"--loglevel":                       "has no value, and would take the next word",
		"--loglevel -q":                    "has no value, and would take the next word",
		"--loglevel evil":                  "is not a value",
		"--quiet=true":                     "takes no value",
		"--prefer-offline=true":            "takes no value",
		"--audit=false":                    "not among the options",
		"--quiet=evil":                     "takes no value",
		"-qy":                              "not among the options",
	})
	add("bunx", func(list ...string) string { return hinted("bunx", list...) }, map[string]string{
		"-p evil": `installs "evil"`, "--package=evil": `installs "evil"`, "evil": "is before the package", "--cwd=/": "not among the options", "--config=/x": "not among the options",
	})
	add("yarn", func(list ...string) string { return hinted("yarn", list...) }, map[string]string{
		"dlx -p evil": `installs "evil"`, "evil": "is before the package", "dlx dlx": `"dlx" is before the package`, "--cwd /": "not among the options",
	})
	add("pnpm", func(list ...string) string { return hinted("pnpm", list...) }, map[string]string{
		"dlx --package=evil": "not among the options", "-c": "not among the options", "evil": "is before the package", "--silent": "not among the options",
	})
	add("uvx", pypiWith, map[string]string{
		"--from git+https://evil.example/x":      "which is not the record's package",
		"--from=git+https://evil.example/x":      "which is not the record's package",
		"--from evil":                            `installs "evil"`,
		"--from acme-notes@git+https://evil":     "is not a version",
		"--from ./acme-notes":                    "which is not the record's package",
		"evil":                                   `"evil" is before the package`,
		"--from acme-notes evil":                 `"evil" is before the package`,
		"--index-url https://evil.example":       "packages would come from",
		"-i https://evil.example":                "packages would come from",
		"-ihttps://evil.example":                 "packages would come from",
		"-qihttps://evil.example":                "packages would come from",
		"--default-index=https://evil.example":   "packages would come from",
		"--index https://evil.example":           "packages would come from",
		"--extra-index-url=https://evil.example": "packages would come from",
		"-f /tmp":                                "packages would come from",
		"--find-links=/tmp":                      "packages would come from",
		"--with git+https://evil.example/x":      "is not a value",
		"--with https://evil.example/x.whl":      "is not a value",
		"--with ./x":                             "is not a value",
		"-w ../x":                                "is not a value",
		"--with=x@https://evil.example":          "is not a value",
		"--with-editable /tmp/x":                 "a folder or an address",
		"--with-requirements=/tmp/x":             "read a file",
		"--constraints /tmp/x":                   "read a file",
		"--overrides=/tmp/x":                     "read a file",
		"--env-file=/home/me/.env":               "read a file",
		"--config-file=/tmp/uv.toml":             "take its settings from",
		"--project /tmp":                         "take its settings from",
		"--directory=/tmp":                       "for the user to give",
		"--cache-dir /tmp":                       "for the user to give",
		"--allow-insecure-host evil.example":     "would not be checked",
		"--python /tmp/evil":                     "is not a value",
		"-p ./evil":                              "is not a value",
		"-p../evil":                              "is not a value",
		"--python-preference system":             "not among the options",
		"--python":                               "has no value, and would take the next word",
		"--no-such-option":                       "not among the options",
	})
	add("dnx", nugetWith, map[string]string{
		"--source https://evil.example": "packages would come from", "--add-source=https://evil": "packages would come from", "--source:https://evil": "not among the options",
		"--configfile /tmp/x": "take its settings from", "Evil": "is before the package", "@/tmp/args": "is before the package", "--verbosity evil": "is not a value",
	})
	return out
}

// badNames are identifiers and versions of something outside the registry.
func badNames() map[string]attack {
	out := map[string]attack{}
	for _, id := range []string{
		"https://evil.example/x.tgz", "git+https://evil.example/x", "git+ssh://git@evil.example/x", "git://evil.example/x", "github:evil/x", "evil/x",
		"file:../x", "file:x", "./x", "../x", "/tmp/x", "~/x", "x.tgz", "x.tar.gz", "@a/b.tgz", "npm:evil", "@a/b/c", "@/x", "a@file:x@1", "C:\\\\x", ".x", "_x", "x;id", "x|y", "$(id)", "{name}", "${HOME}", "x%2fy", "xé",
	} {
		out["npm identifier "+id] = attack{pkg("npm", id, "1.0.0", ""), "is not the name of a package in a registry (npm)", false}
	}
	for _, v := range []string{"npm:evil@1", "file:x", "https://evil.example/x.tgz", "git+https://evil.example", "evil/x", "next", "x.tgz", "^1", ">=1", "*", "1.x", "1||2", "../x", "{version}"} {
		out["npm version "+v] = attack{pkg("npm", "acme", v, ""), "is not a version (npm)", false}
	}
	for _, id := range []string{"https://evil.example/x.whl", "git+https://evil.example/x", "evil/x", "./x", "/tmp/x", "x@y@z", "x[a;b]", "x;id", "file:x", "-x-"[1:]} {
		out["pypi identifier "+id] = attack{pkg("pypi", id, "1.0.0", ""), "is not the name of a package in a registry (pypi)", false}
	}
	for _, v := range []string{"https://evil.example/x.whl", "git+https://evil", ">=1", "1.*", "next", "file:///x"} {
		out["pypi version "+v] = attack{pkg("pypi", "acme", v, ""), "is not a version (pypi)", false}
	}
	out["pypi, an address behind the name"] = attack{pkg("pypi", "acme@git+https://evil.example/x", "", ""), "is not a version", false}
	for _, id := range []string{
		"docker-archive:/tmp/x", "oci:/etc", "oci-archive:x", "dir:x", "containers-storage:x", "docker://evil", "https://evil.example/x", "Evil/x", "a//b", "../x", "./x", "/x", "a.io/x:", "a.io/x:a:b",
		"a.io/x@sha256:abc", "a.io/x@md5:d41d8cd98f00b204e9800998ecf8427e", "a.io/x:t@", "a.io/x,y", "user@a.io/x", "$IMAGE",
	} {
		out["oci identifier "+id] = attack{pkg("oci", id, "", ""), "is not the name of an image in a registry", false}
	}
	out["oci version"] = attack{pkg("oci", "a.io/x", "../../y", ""), "is not the name of an image", false}
	out["oci base"] = attack{pkg("oci", "x", "1", `"registryBaseUrl":"https://user@evil.example/a?b"`), "is not the name of an image", false}
	for _, id := range []string{"Acme/Notes", "https://evil.example", "../x", "Acme..Notes", "@Acme"} {
		out["nuget identifier "+id] = attack{pkg("nuget", id, "1.0.0", ""), "is not the name of a package in a registry (nuget)", false}
	}
	out["nuget version"] = attack{pkg("nuget", "Acme", "[1,)", ""), "is not a version (nuget)", false}
	for _, id := range []string{"sh", "bash", "rm", "sudo", "python3", "mcpctl", "xmcp"} {
		out["cargo, another program "+id] = attack{pkg("cargo", id, "1.0.0", `"packageArguments":[`+words("-c", "id")+`]`), "may be another program on this machine", false}
	}
	out["cargo version"] = attack{pkg("cargo", "acme-mcp", "--git=https://evil"[1:], ""), "begins with a dash", true}
	out["cargo version of an address"] = attack{pkg("cargo", "acme-mcp", "https://evil", ""), "is not a version (cargo)", false}
	out["an option for an identifier"] = attack{pkg("npm", "--registry=http://evil", "1", ""), "begins with a dash", true}
	out["another registry, of http"] = attack{pkg("npm", "acme", "1.0.0", `"registryBaseUrl":"https://npm.example@evil.example"`), "there is a user name before the host, which is evil.example", false}
	out["NUL in an argument"] = attack{npmArgs(`{"type":"positional","value":"a\u0000b"}`), "NUL", true}
	out["NUL for the user's part"] = attack{image(`{"type":"named","name":"-v","value":"\u0000:/h"}`), "NUL", true}
	out["NUL in a variable"] = attack{npmEnv(`{"name":"A","value":"a\u0000b"}`), "NUL", true}
	return out
}

// TestManyReasons: a refusal stays one readable line.
func TestManyReasons(t *testing.T) {
	var list []string
	for i := range 1000 {
		list = append(list, "--x"+strings.Repeat("y", i%100), "--privileged")
	}
	refused, _ := refusal(t, image(words(list...)), scaffold.Options{})
	if refused == nil || len(refused.Reasons) > 101 || len(refused.Error()) > 1000 || !strings.Contains(refused.Error(), "and 54 more") {
		t.Errorf("got %v", refused)
	}
}

// badVariables are environment variables that a record may not set.
func badVariables() map[string]attack {
	out := map[string]attack{}
	for names, reason := range map[string]string{
		"npm_config_registry NPM_CONFIG_SCRIPT_SHELL Npm_Config_Prefix NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS node_options BUN_INSTALL COREPACK_ENABLE_STRICT YARN_RC_FILENAME PNPM_HOME": "tells Node.js",
		"PYTHONPATH PYTHONHOME PYTHONSTARTUP PIP_INDEX_URL UV_INDEX_URL UV_DEFAULT_INDEX UV_PYTHON uv_config_file VIRTUAL_ENV":                                                                "tells Python",
		"_JAVA_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JAVA_HOME CLASSPATH":                                                                                                                "tells Java",
		"DOTNET_STARTUP_HOOKS CORECLR_PROFILER COMPlus_Foo NUGET_PACKAGES":                                                                                                                    "tells .NET",
		"PERL5LIB PERL5OPT PERLLIB RUBYOPT RUBYLIB GEM_PATH BUNDLE_GEMFILE":                                                                                                                   "tells an interpreter",
		"GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL GIT_SSH_COMMAND GIT_DIR git_askpass SSH_ASKPASS SSH_AUTH_SOCK":                                                                                    "tells Git and SSH",
		"DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT CONTAINER_HOST CONTAINERS_CONF":                                                                                                             "tells Docker",
		"LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT ld_preload DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH":                                                                                      "makes every program load",
		"BASH_ENV ENV PROMPT_COMMAND PS4 SHELLOPTS IFS ZDOTDIR SHELL BASH_FUNC_x":                                                                                                             "makes a shell run",
		"HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY NO_PROXY no_proxy":                                                                                                           "leads what the server sends",
		"SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE OPENSSL_CONF SSLKEYLOGFILE":                                                                                             "decides which machines",
		"HOME USERPROFILE XDG_CONFIG_HOME TMPDIR APPDATA":                                                                                                                                     "moves the folders",
		"CARGO_HOME RUSTC_WRAPPER GOFLAGS GOPROXY":                                                                                                                                            "tells a compiler",
		"EDITOR PAGER BROWSER LESSOPEN":                        "names a program",
		"PATH Path path":                                       "decides which programs run",
		"MCPCTL_CONFIG MCPCTL_ALLOW_INSECURE_HTTP mcpctl_home": "is a setting of mcpctl",
	} {
		for name := range strings.FieldsSeq(names) {
			out["variable "+name] = attack{npmEnv(`{"name":"` + name + `","value":"x"}`), "environment variable " + name + " " + reason, false}
		}
	}
	for _, name := range []string{"my.key", "1A", "A-B"} {
		out["variable "+name] = attack{npmEnv(`{"name":"` + name + `","value":"x"}`), "a name that no shell takes", false}
	}
	for _, name := range []string{"A B", `A\nB`, `A\tB`, "A=B", "", "BASH_FUNC_x%%", "É", "A[0]", "A(x86)", "A;B", "$(id)", "-v", "NPM_\u202e", `\u001b[2J`, `A\u2028`, ` A`} {
		out["variable "+name] = attack{npmEnv(`{"name":"` + name + `","value":"x"}`), "cannot be the name of an environment variable", true}
	}
	for name, list := range map[string]string{
		"a default":           `{"name":"NODE_OPTIONS","default":"x"}`,
		"an only choice":      `{"name":"NODE_OPTIONS","choices":["x"]}`,
		"an empty text":       `{"name":"NODE_OPTIONS","value":"{v}","variables":{"v":{"value":"","default":"x"}}}`,
		"a part of the users": `{"name":"NODE_OPTIONS","value":"--require={v}","variables":{"v":{"isRequired":true}}}`,
	} {
		out["variable, "+name] = attack{npmEnv(list), "NODE_OPTIONS tells Node.js", false}
	}
	out["variable of a container's template"] = attack{image(defaulted("-e", "DOCKER_HOST={h}", "h", "tcp://evil")), "tells Docker", false}
	out["variable of a container"] = attack{pkg("oci", "a.io/x:1", "", `"environmentVariables":[{"name":"DOCKER_HOST","value":"tcp://evil"}]`), "tells Docker", false}
	out["variable of pypi"] = attack{pkg("pypi", "x", "1", `"environmentVariables":[{"name":"UV_INDEX_URL","value":"https://evil"}]`), "tells Python", false}
	return out
}

// badRemotes lead elsewhere than they seem to, or set headers that are not
// theirs.
func badRemotes() map[string]attack {
	out := map[string]attack{}
	remote := func(url, more string) string {
		return `"remotes":[{"type":"streamable-http","url":"` + url + `"` + more + `}]`
	}
	for url, reason := range map[string]string{
		"https://user@evil.example/mcp":              "there is a user name before the host, which is evil.example",
		"https://user:password@evil.example/mcp":     "there is a user name before the host",
		"https://github.com@evil.example/mcp":        "which is evil.example",
		"https://@evil.example/mcp":                  "there is a user name before the host",
		"https://169.254.169.254/latest/meta-data":   "link-local",
		"https://169.254.0.1/mcp":                    "link-local",
		"https://169.254.169.254./mcp":               "link-local",
		"https://[fe80::1]/mcp":                      "link-local",
		"https://[fe80::1%25eth0]/mcp":               "link-local",
		"https://[::ffff:169.254.169.254]/mcp":       "link-local",
		"https://[::ffff:a9fe:a9fe]/mcp":             "link-local",
		"https://[64:ff9b::a9fe:a9fe]/mcp":           "link-local",
		"https://[fd00:ec2::254]/mcp":                "link-local",
		"https://100.100.100.200/mcp":                "link-local",
		"https://metadata.google.internal/mcp":       "link-local",
		"https://Metadata.Google.Internal./mcp":      "link-local",
		"https://metadata/mcp":                       "link-local",
		"https://169.254.169.254:8080/mcp":           "link-local",
		"https://2852039166/mcp":                     "read as an IP address by some programs",
		"https://0xa9fea9fe/mcp":                     "read as an IP address by some programs",
		"https://0251.0376.0251.0376/mcp":            "read as an IP address by some programs",
		"https://169.254.43518/mcp":                  "read as an IP address by some programs",
		"https://127.1/mcp":                          "read as an IP address by some programs",
		"https://0.0.0.0/mcp":                        "not the address of a server",
		"https://[::]/mcp":                           "not the address of a server",
		"https://ex\u0430mple.com/mcp":               "it is xn--exmple-4nf.com",
		"https://\u0440\u0430ypal.com/mcp":           "it is xn--ypal-43d9g.com",
		"https://b\u00fccher.example/mcp":            "it is xn--bcher-kva.example",
		"https://ex%D0%B0mple.com/mcp":               "it is xn--exmple-4nf.com",
		"https://169\u3002254\u3002169\u3002254/mcp": "link-local",
		"http://evil.example/mcp":                    "not https",
	} {
		out["remote "+url] = attack{remote(url, ""), reason, false}
	}
	for name, more := range map[string]string{
		"{base}@evil.example/mcp":         "leads elsewhere than its placeholder",
		"{base}.evil.example/mcp":         "leads elsewhere than its placeholder",
		"https://{base}@evil.example/mcp": "there is a user name before the host",
	} {
		out["remote "+name] = attack{remote(name, `,"variables":{"base":{"isRequired":true}}`), more, false}
	}
	out["remote, by a default"] = attack{remote("https://{h}/mcp", `,"variables":{"h":{"default":"169.254.169.254"}}`), "link-local", false}
	for _, name := range []string{"Content-Length", "content-length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "TE", "Trailer", "Proxy-Authorization", "Proxy-Connection", "Expect"} {
		out["header "+name] = attack{remote("https://h.example/mcp", `,"headers":[{"name":"`+name+`","value":"x"}]`), "header " + name + " belongs to the connection", true}
	}
	out["header Host"] = attack{remote("https://h.example/mcp", `,"headers":[{"name":"Host","value":"internal"}]`), "header Host asks the machine of the URL for another host", false}
	out["header of a package"] = attack{`"packages":[{"registryType":"npm","identifier":"x","version":"1","transport":{"type":"streamable-http","url":"http://localhost:1/mcp","headers":[{"name":"Transfer-Encoding","value":"chunked"}]}}]`, "belongs to the connection", true}
	return out
}

// TestAttacks: each record is refused in one line about what it would do;
// --force allows what is dangerous but not what is broken.
func TestAttacks(t *testing.T) {
	count := 0
	for kind, list := range map[string]map[string]attack{
		"mounts": hostMounts(), "containers": containerOptions(), "runners": fetchOptions(), "names": badNames(), "variables": badVariables(), "remotes": badRemotes(),
	} {
		count += len(list)
		for name, a := range list {
			t.Run(kind+"/"+name, func(t *testing.T) {
				refused, _ := refusal(t, a.members, scaffold.Options{})
				if refused == nil {
					t.Fatal("it is added")
				}
				text := refused.Error()
				if !strings.Contains(text, a.reason) || strings.ContainsAny(text, "\n\x00\u202e") || len(text) > 1000 {
					t.Errorf("got %q, want one line with %q", text, a.reason)
				}
				if refused.Force == a.hard {
					t.Errorf("got force %v, want %v: %s", refused.Force, !a.hard, text)
				}
				if want := "--force"; !a.hard && !strings.Contains(refused.Hint(), want) {
					t.Errorf("got hint %q, want one with %s", refused.Hint(), want)
				}
				refused, p := refusal(t, a.members, scaffold.Options{Force: true})
				if (refused != nil) != a.hard {
					t.Fatalf("with --force: got %v", refused)
				}
				if p != nil && !strings.Contains(strings.Join(p.Warnings, "\n"), a.reason) {
					t.Errorf("with --force: got warnings %q, want one with %q", p.Warnings, a.reason)
				}
			})
		}
	}
	if count < 150 {
		t.Errorf("got %d records, want 150", count)
	}
	t.Logf("%d records", count)
}

// TestTooMany: a record that is large beyond reason is refused at once, in place of keeping
// the processor busy.
func TestTooMany(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]registry.Server{
		"remotes": {Name: "io.example/x", Remotes: make([]registry.Remote, 101)},
		"inputs":  {Name: "io.example/x", Packages: []registry.Package{{RegistryType: "npm", Identifier: "x", EnvironmentVariables: make([]registry.KeyValueInput, 5001)}}},
	} {
		_, err := scaffold.New(s, scaffold.Options{Force: true})
		var refused *scaffold.RefusedError
		if !errors.As(err, &refused) || refused.Force || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
