package scaffold

// The options of runners that fetch a package. Sources: npm exec (npm 11) and
// its npx, which takes the word after every unknown option for its value; bunx
// (Bun 1.3); yarn dlx (Yarn 4); uv tool run (uv 0.9); dotnet tool exec (.NET
// 10).

// npx has those of npm's options that npx knows to have no value, and the log
// level.
func npx() *runner {
	return &runner{
		command: []string{"npx"},
		options: []option{
			flag("-q", "--quiet"), flag("-s", "--silent"), flag("-d", "--verbose"),
			flag("--prefer-offline"), flag("--prefer-online"), flag("--offline"), flag("--ignore-scripts"),
			oneOf("silent|error|warn|notice|http|info|verbose|silly", "--loglevel"),
			userOnly("--cache"),
			ownPackage("-p", "--package"),
		},
		does: map[string]string{
			"--registry": otherSource, "--reg": otherSource,
			"--script-shell": otherProgram, "--shell": otherProgram, "--node-options": otherProgram, "--node-arg": otherProgram, "-n": otherProgram,
			"-c": commandLine, "--call": commandLine,
			"--userconfig": otherSettings, "--globalconfig": otherSettings, "--prefix": otherSettings, "-C": otherSettings,
		},
	}
}

const (
	otherSource   = "packages would come from a place that the record names"
	otherProgram  = "the runner would start a program that the record names"
	commandLine   = "runs a command line that the record wrote"
	otherSettings = "the runner would take its settings from a place that the record names"
	otherFile     = "the runner would read a file that the record names"
)

func bunx() *runner {
	return &runner{command: []string{"bunx"}, options: []option{
		flag("--bun"), flag("--silent"), flag("--verbose"), flag("--no-install"), ownPackage("-p", "--package"),
	}}
}

// pnpm reads its options before dlx only.
func pnpm() *runner { return &runner{command: []string{"pnpm", "dlx"}} }

func yarn() *runner {
	return &runner{command: []string{"yarn", "dlx"}, options: []option{flag("-q", "--quiet"), ownPackage("-p", "--package")}}
}

func uvx() *runner {
	return &runner{
		command:  []string{"uvx"},
		clusters: true,
		options: []option{
			flag("-q", "--quiet"), flag("-v", "--verbose"), flag("--no-progress"), flag("--isolated"),
			flag("-n", "--no-cache"), flag("--offline"), flag("--refresh"), flag("-U", "--upgrade"), flag("--reinstall"),
			flag("--no-config"), flag("--no-env-file"), flag("--no-build"), flag("--compile-bytecode"), flag("--native-tls"),
			flag("--managed-python"), flag("--no-managed-python"), flag("--no-python-downloads"),
			matching(pythonVersion, "-p", "--python"),
			matching(pypiName, "--refresh-package", "--upgrade-package", "-P", "--reinstall-package", "--no-build-package"),
			oneOf("disallow|allow|if-necessary|explicit|if-necessary-or-explicit", "--prerelease"),
			oneOf("highest|lowest|lowest-direct", "--resolution"),
			oneOf("clone|copy|hardlink|symlink", "--link-mode"),
			oneOf("auto|always|never", "--color"),
			matching(`[0-9TZ:.+-]+`, "--exclude-newer"),
			userOnly("--cache-dir", "--directory"),
			withWarning("uvx installs %s beside the package", requirementSpec+`(,`+requirementSpec+`)*`, "-w", "--with"),
			ownPackage("--from"),
		},
		does: map[string]string{
			"--index-url": otherSource, "-i": otherSource, "--index": otherSource, "--default-index": otherSource,
			"--extra-index-url": otherSource, "-f": otherSource, "--find-links": otherSource,
			"--allow-insecure-host": "a host that the record names would not be checked", "--trusted-host": "a host that the record names would not be checked",
			"--env-file": otherFile, "--with-requirements": otherFile, "-c": otherFile, "--constraints": otherFile,
			"--overrides": otherFile, "-b": otherFile, "--build-constraints": otherFile,
			"--with-editable": "installs from a folder or an address that the record names",
			"--config-file":   otherSettings, "--project": otherSettings,
		},
	}
}

// pythonVersion is a version of Python and not the path of a program.
const pythonVersion = `((cpython|pypy|graalpy|python)[@-]?)?(==|~=|>=|<=|>|<)?[0-9]+(\.[0-9]+)*t?(,(==|~=|!=|>=|<=|>|<)[0-9]+(\.[0-9]+)*)*`

func dnx() *runner {
	return &runner{
		command: []string{"dnx"},
		options: []option{
			flag("--prerelease"), flag("--allow-roll-forward"), flag("--ignore-failed-sources"), flag("--disable-parallel"), flag("--no-http-cache"),
			oneOf("q|quiet|m|minimal|n|normal|d|detailed|diag|diagnostic", "-v", "--verbosity"),
			matching(`net[0-9.]+`, "--framework"),
			oneOf("x86|x64|arm|arm64", "-a", "--arch"),
		},
		does: map[string]string{"--source": otherSource, "--add-source": otherSource, "--configfile": otherSettings},
	}
}
