package packages

import (
	"path"
	"slices"
	"strings"
)

// Of returns the package that a command line runs, and false where it runs none that
// can be looked up: another program, or a package whose name has a placeholder.
func Of(command string, args []string) (Package, bool) {
	command = command[strings.LastIndexAny(command, `/\`)+1:]
	command = strings.TrimSuffix(strings.TrimSuffix(command, ".exe"), ".cmd")
	var p Package
	switch command {
	case "npx", "bunx":
		p = npmOf(args)
	case "npm", "pnpm", "yarn":
		if len(args) > 0 && slices.Contains([]string{"exec", "x", "dlx"}, args[0]) {
			p = npmOf(args[1:])
		}
	case "uvx":
		p = pypiOf(args)
	case "uv":
		if len(args) > 1 && args[0] == "tool" && args[1] == "run" {
			p = pypiOf(args[2:])
		}
	case "pipx":
		if len(args) > 0 && args[0] == "run" {
			p = pypiOf(args[1:])
		}
	case "docker", "podman", "nerdctl":
		if i := slices.Index(args, "run"); i >= 0 {
			p = imageOf(args[i+1:])
		}
	}
	return p, p.Name != "" && fault(p) == ""
}

// operandOf returns the first word that is no option, and the values of the options
// that are asked for. takesValue are those that are followed by one.
func operandOf(args []string, takesValue func(option string) bool) (operand string, options map[string]string) {
	options = map[string]string{}
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			if i+1 < len(args) {
				return args[i+1], options
			}
			return "", options
		}
		if !strings.HasPrefix(word, "-") {
			return word, options
		}
		name, value, joined := strings.Cut(word, "=")
		if !joined && takesValue(name) && i+1 < len(args) {
			i++
			value = args[i]
		}
		options[name] = value
	}
	return "", options
}

func npmOf(args []string) Package {
	operand, options := operandOf(args, func(o string) bool {
		return slices.Contains([]string{"-p", "--package", "--registry", "-c", "--call", "-w", "--workspace", "--cache"}, o)
	})
	p := Package{Type: typeNPM, Base: options["--registry"]}
	for _, named := range []string{"--package", "-p"} {
		if options[named] != "" {
			operand = options[named]
		}
	}
	p.Name = operand
	if at := strings.LastIndexByte(operand, '@'); at > 0 {
		p.Name, p.Version = operand[:at], operand[at+1:]
	}
	return p
}

func pypiOf(args []string) Package {
	operand, options := operandOf(args, func(o string) bool {
		return slices.Contains([]string{
			"--from", "--spec", "--with", "-w", "--with-editable", "--with-requirements", "--python", "-p", "--index", "--default-index", "--index-url", "-i",
			"--extra-index-url", "--find-links", "-f", "--cache-dir", "--directory", "--project", "--config-file", "--env-file", "--constraints", "-c", "--pip-args",
		}, o)
	})
	for _, named := range []string{"--from", "--spec"} {
		if options[named] != "" {
			operand = options[named]
		}
	}
	p := Package{Type: typePyPI, Name: operand}
	for _, named := range []string{"--index-url", "-i", "--default-index"} {
		if options[named] != "" {
			p.Base = options[named]
		}
	}
	for _, sign := range []string{"==", "@"} {
		if name, version, ok := strings.Cut(operand, sign); ok {
			p.Name, p.Version = name, version
			break
		}
	}
	if p.Version == "latest" {
		p.Version = ""
	}
	return p
}

// imageOf reads the arguments of docker run. An option of more than one letter takes a
// value unless it is one of the switches.
func imageOf(args []string) Package {
	image, _ := operandOf(args, func(o string) bool {
		if !strings.HasPrefix(o, "--") {
			return strings.ContainsAny(o[len(o)-1:], "evpuwlmhac") // as in -e, -v, -itp
		}
		return !slices.Contains([]string{
			"--rm", "--init", "--interactive", "--tty", "--detach", "--privileged", "--read-only", "--no-healthcheck", "--oom-kill-disable", "--publish-all", "--quiet", "--sig-proxy", "--disable-content-trust",
		}, o)
	})
	p := Package{Type: typeOCI, Name: image}
	if name, digest, ok := strings.Cut(image, "@"); ok {
		p.Name, p.Version = name, digest
		if strings.Contains(path.Base(name), ":") {
			p.Name = name[:strings.LastIndexByte(name, ':')]
		}
		return p
	}
	if colon := strings.LastIndexByte(image, ':'); colon > strings.LastIndexByte(image, '/') {
		p.Name, p.Version = image[:colon], image[colon+1:]
	}
	return p
}
