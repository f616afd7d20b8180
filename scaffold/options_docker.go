package scaffold

import (
	"encoding/csv"
	"fmt"
	"strings"
)

// docker returns the options of docker run that keep a container isolated.
// podman and nerdctl read them the same way. Source: docker run --help of Docker
// 28 and podman-run(1) of Podman 5.
func docker(command string) *runner {
	const (
		size   = `[0-9]+(\.[0-9]+)?([bkmgtBKMGT][bB]?)?`
		number = `[0-9]+`
	)
	return &runner{
		command:  []string{command},
		clusters: true,
		options: []option{
			flag("-i", "--interactive"), flag("--rm"), flag("--init"), flag("--read-only"), flag("-q", "--quiet"),
			flag("--no-healthcheck"), flag("--sig-proxy"),
			{[]string{"-e", "--env"}, containerEnv},
			{[]string{"-v", "--volume"}, volume},
			{[]string{"--mount"}, mount},
			{[]string{"--network", "--net"}, network},
			{[]string{"-p", "--publish"}, publish},
			matching(inside+`(:[A-Za-z0-9=,]+)?`, "--tmpfs"),
			matching(`[A-Za-z0-9][A-Za-z0-9_.-]*`, "--name", "--network-alias"),
			matching(`[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?`, "-h", "--hostname"),
			matching(`[a-z0-9]+(/[a-z0-9_]+(/[a-z0-9.]+)?)?`, "--platform"),
			matching(`[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)?`, "-u", "--user"),
			matching(inside, "-w", "--workdir"),
			withWarning("the container starts %s in place of its image's own program", `[^-].*|`, "--entrypoint"),
			matching(size, "-m", "--memory", "--memory-reservation", "--shm-size"),
			matching(`-1|`+size, "--memory-swap"),
			matching(`[0-9]+(\.[0-9]+)?|\.[0-9]+`, "--cpus"),
			matching(number, "-c", "--cpu-shares", "--stop-timeout"),
			matching(`-1|`+number, "--pids-limit"),
			matching(`[0-9,-]+`, "--cpuset-cpus"),
			matching(`[a-z]+=-?[0-9]+(:-?[0-9]+)?`, "--ulimit"),
			matching(`[A-Za-z_]+`, "--cap-drop"),
			matching(`no-new-privileges([:=]true)?`, "--security-opt"),
			oneOf("always|missing|never", "--pull"),
			matching(`[A-Za-z0-9._-]+[:=](host-gateway|[0-9.]+|\[?[0-9A-Fa-f:]+\]?)`, "--add-host"),
			matching(`[0-9.]+|[0-9A-Fa-f:]+`, "--dns"),
			matching(`[0-9]+(-[0-9]+)?(/(tcp|udp|sctp))?`, "--expose"),
			oneOf("none", "--log-driver"),
			withWarning("the container may use the graphics processors of this machine (%s)", `all|[0-9]+|"?device=[0-9A-Za-z,-]+"?`, "--gpus"),
		},
		does: dockerDoes(),
	}
}

func dockerDoes() map[string]string {
	const (
		device    = "gives the container a device of this machine"
		namespace = "lets the container into a namespace of this machine or of another container"
		power     = "gives the container more rights over this machine"
		other     = "gives the container what belongs to another container"
		outcome   = "breaks the conversation over standard input and output"
	)
	return map[string]string{
		"--privileged": "gives the container all of this machine", "--cap-add": power, "--group-add": power, "--sysctl": power, "--runtime": power,
		"--cgroup-parent": power, "--oom-score-adj": power, "--annotation": power,
		"--device": device, "--device-cgroup-rule": device, "--device-read-bps": device, "--device-write-bps": device,
		"--pid": namespace, "--ipc": namespace, "--uts": namespace, "--userns": namespace, "--cgroupns": namespace,
		"--volumes-from": other, "--link": other, "--pod": other,
		"--use-api-socket": "gives the container the Docker of this machine, and so all of it",
		"--env-file":       "hands the container a file of this machine", "--label-file": "reads a file of this machine", "--env-host": "hands the container every variable",
		"--cidfile": "writes a file that the record names", "--pidfile": "writes a file that the record names",
		"--rootfs": "runs a folder of this machine", "--volume-driver": "can make a volume of a folder of this machine", "--storage-opt": power,
		"-P": "opens every port of the container to other machines", "--publish-all": "opens every port of the container to other machines",
		"--restart": "keeps the container running when nobody uses it", "--label": "can instruct other programs that watch containers", "-l": "can instruct other programs that watch containers",
		"-d": outcome, "--detach": outcome, "-t": outcome, "--tty": outcome, "-a": outcome, "--attach": outcome,
	}
}

// inside matches an absolute path in a container.
const inside = `/[^:,]*`

// containerEnv checks NAME=text, or NAME for a value from the entry.
func containerEnv(_ *builder, spec string) string {
	name, _, hasText := strings.Cut(spec, "=")
	if !isVariableName(name) {
		return fmt.Sprintf("%q is not the name of a variable", display(name))
	}
	if fault := family(name); hasText && fault != "" {
		return name + " " + fault
	}
	return ""
}

// volume checks [SOURCE:]TARGET[:MODES].
func volume(b *builder, spec string) string {
	parts := strings.Split(spec, ":")
	if len(parts) == 1 {
		parts = []string{userPart, spec} // a volume of its own, with nothing of this machine
	}
	const mode = `(ro|rw|z|Z|cached|delegated|consistent|nocopy)`
	if len(parts) > 3 || len(parts) == 3 && parts[2] != userPart && !matches(mode+`(,`+mode+`)*`, parts[2]) {
		return fmt.Sprintf("%q is not a mount that a record may ask for", display(spec))
	}
	if !matches(inside, containerPath(parts[1])) {
		return fmt.Sprintf("%q is not a path in a container", display(parts[1]))
	}
	return b.checkMountSource(parts[0])
}

// containerPath returns a path in a container, for which the whole may be the
// user's.
func containerPath(s string) string {
	if s == userPart {
		return "/"
	}
	return s
}

// checkMountSource checks what a container sees: a place of the user's, or a
// named volume. A part of the user's is not enough, since the rest decides where
// it leads.
func (b *builder) checkMountSource(src string) string {
	switch {
	case src == userPart:
		return ""
	case matches(`[A-Za-z0-9][A-Za-z0-9_.-]+`, src):
		b.warn(RuleRunnerEffect, fmt.Sprintf("the container uses the volume %s, as every container may that names it", src))
		return ""
	}
	return fmt.Sprintf("the container would see %s of this machine, which the user did not name", display(src))
}

// mount checks a line of CSV with fields of the form KEY=VALUE, in any letter
// case.
func mount(b *builder, spec string) string {
	fields, err := csv.NewReader(strings.NewReader(spec)).Read()
	if err != nil || strings.ContainsAny(spec, "\r\n") {
		return fmt.Sprintf("%q is not a mount", display(spec))
	}
	kind, sources := "volume", []string{}
	for _, f := range fields {
		key, val, _ := strings.Cut(f, "=")
		ok := true
		switch strings.ToLower(key) {
		case "type":
			kind = strings.ToLower(val)
			ok = matches("bind|volume|tmpfs", kind)
		case "source", "src":
			sources = append(sources, val)
		case "target", "dst", "destination":
			ok = matches(inside, containerPath(val))
		case "readonly", "ro":
			ok = matches("|true|false|1|0", val)
		case "tmpfs-size", "tmpfs-mode":
			ok = matches(`[0-9]+[kmgKMG]?`, val)
		case "volume-nocopy", "consistency":
			ok = matches(`|[a-z]+`, val)
		default:
			ok = false
		}
		if !ok {
			return fmt.Sprintf("%q is not a part of a mount that a record may ask for", display(f))
		}
	}
	for _, src := range sources {
		if kind == "bind" && src != userPart {
			return fmt.Sprintf("the container would see %s of this machine, which the user did not name", display(src))
		}
		if reason := b.checkMountSource(src); reason != "" {
			return reason
		}
	}
	return ""
}

func network(b *builder, name string) string {
	switch {
	case name == "bridge" || name == "none" || name == "default":
	case strings.EqualFold(name, "host"):
		b.warn(RuleRunnerEffect, "the container uses the host network")
	case matches(`[A-Za-z0-9][A-Za-z0-9_.-]*`, name):
		b.warn(RuleRunnerEffect, fmt.Sprintf("the container joins the network %s, and reaches what else is in it", name))
	default:
		return fmt.Sprintf("%q is not a network that a record may name", display(name))
	}
	return ""
}

// publish checks [[ADDRESS:][PORT]:]PORT[/PROTOCOL].
func publish(b *builder, spec string) string {
	const ports = `[0-9]+(-[0-9]+)?`
	if !matches(`((([0-9.]+|\[[0-9A-Fa-f:]+\]):)?(`+ports+`)?:)?`+ports+`(/(tcp|udp|sctp))?`, strings.ReplaceAll(spec, userPart, "0")) {
		return fmt.Sprintf("%q is not a port", display(spec))
	}
	if !strings.HasPrefix(spec, "127.") && !strings.HasPrefix(spec, "[::1]") {
		b.warn(RuleRunnerEffect, fmt.Sprintf("port %s of the container is open to other machines; 127.0.0.1:PORT:PORT keeps it on this one", display(spec)))
	}
	return ""
}
