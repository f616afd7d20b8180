// Package packages says what the registries of npm, PyPI and container images
// know of a package: its newest version, all versions, and the digests of its
// files.
//
// It asks no registry itself. It runs the tool that comes with the runner of such
// a package (npm, uv or pip, docker or skopeo), which reads the user's own
// configuration: so the answer is that of the mirror, with the credentials and
// through the proxy, that the runner will use. A tool that is not installed is an
// error that says so, and nothing else is tried over the network.
//
// Nothing of a package runs: npm reads metadata only, and uv and pip are told to
// build nothing.
package packages
