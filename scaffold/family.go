package scaffold

import "strings"

// family returns what a variable does if runners, interpreters, loaders, shells
// or mcpctl itself take programs, code, settings or addresses from it; "" for
// others. A record never sets such a variable. Letter case does not count: npm
// reads its settings in any, Windows all variables.
func family(name string) string {
	name = strings.ToUpper(name)
	if isHarmless(name) {
		return ""
	}
	for _, f := range families() {
		for word := range strings.FieldsSeq(f.names) {
			prefix, isPrefix := strings.CutSuffix(word, "*")
			if name == word || isPrefix && strings.HasPrefix(name, prefix) {
				return f.does
			}
		}
	}
	return ""
}

// isHarmless reports whether a variable is one of a family that servers often
// set and that chooses neither a program nor a place.
func isHarmless(name string) bool {
	switch name {
	case "NODE_ENV", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
		"DOTNET_ENVIRONMENT", "DOTNET_NOLOGO", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOCKER_CONTAINER":
		return true
	}
	return false
}

// isEveryday reports whether a variable is set on most machines and names a
// place there. A placeholder of that name would not make anybody set it.
func isEveryday(name string) bool {
	switch name {
	case "HOME", "PATH", "PWD", "OLDPWD", "SHELL", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "SSH_AUTH_SOCK",
		"DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "KUBECONFIG", "GNUPGHOME":
		return true
	}
	return strings.HasPrefix(name, "XDG_")
}

// families returns names, and prefixes of names with a star at the end.
func families() []struct{ names, does string } {
	return []struct{ names, does string }{
		{
			"NPM_* NODE_* COREPACK_* PNPM_* YARN_* BUN_* DENO_*",
			"tells Node.js, npm and their like what to load and where packages come from",
		},
		{
			"PYTHON* PIP_* PIPX_* UV_* VIRTUAL_ENV CONDA_* PYENV_* POETRY_*",
			"tells Python, pip and uv what to load and where packages come from",
		},
		{
			"JAVA_* _JAVA_* JDK_* JRE_* CLASSPATH MAVEN_* GRADLE_* JBANG_*",
			"tells Java what to load",
		},
		{
			"DOTNET_* CORECLR_* COR_* COMPLUS_* NUGET_* MSBUILD*",
			"tells .NET what to load and where packages come from",
		},
		{"PERL* RUBY* GEM_* BUNDLE_* BUNDLER_* PHPRC PHP_INI_* LUA_* R_HOME R_PROFILE* R_ENVIRON*", "tells an interpreter what to load"},
		{
			"CARGO_* RUSTC* RUSTUP_* RUSTFLAGS GODEBUG GOFLAGS GOPROXY GOENV GOROOT GOPATH GOBIN GOTOOLCHAIN GOSUMDB GONOSUMDB GOINSECURE GOPRIVATE",
			"tells a compiler what to run and where packages come from",
		},
		{"GIT_* SSH_ASKPASS* SSH_AUTH_SOCK SSH_SK_PROVIDER SUDO_ASKPASS SVN_SSH CVS_RSH RSYNC_RSH", "tells Git and SSH which programs and keys to use"},
		{
			"DOCKER_* BUILDKIT_* BUILDX_* COMPOSE_* CONTAINER_* CONTAINERS_* CONTAINERD_* NERDCTL_* PODMAN_* REGISTRY_AUTH_FILE",
			"tells Docker and its like which machine to use, and how",
		},
		{"LD_* DYLD_* _RLD* LIBPATH SHLIB_PATH GLIBC_TUNABLES MALLOC_* GCONV_PATH LOCPATH HOSTALIASES RES_OPTIONS GTK_* QT_PLUGIN_PATH", "makes every program load other code"},
		{
			"BASH_* BASHOPTS SHELLOPTS SHELL ENV PROMPT_COMMAND PS1 PS2 PS4 IFS CDPATH FPATH ZDOTDIR KSH_ENV COMSPEC PATHEXT PSMODULEPATH",
			"makes a shell run other commands",
		},
		{"EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE", "names a program that others start"},
		{
			"HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY WS_PROXY WSS_PROXY SOCKS_PROXY SOCKS5_PROXY GLOBAL_AGENT_*",
			"leads what the server sends over another machine",
		},
		{
			"SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE OPENSSL_* CURL_CA_BUNDLE REQUESTS_CA_BUNDLE AWS_CA_BUNDLE HTTPLIB2_CA_CERTS GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
			"decides which machines the server believes",
		},
		{
			"HOME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* SYSTEMROOT SYSTEMDRIVE WINDIR XDG_* TMPDIR TEMP TMP PWD OLDPWD CURL_HOME",
			"moves the folders in which programs look for settings",
		},
		{"PATH", "decides which programs run"},
		{"MCPCTL_*", "is a setting of mcpctl"},
	}
}
