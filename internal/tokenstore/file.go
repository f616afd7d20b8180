package tokenstore

import "github.com/mcpctl/mcpctl/internal/atomicfile"

// maxFile bounds the token file, in bytes.
const maxFile = 4 << 20

// tokenFile keeps tokens in a file: its path.
type tokenFile string

func (f tokenFile) String() string { return string(f) }

func (f tokenFile) repair() string { return "move it away to log in anew" }

func (f tokenFile) read() ([]byte, error) { return atomicfile.Read(string(f), maxFile) }

func (f tokenFile) write(document []byte) error {
	return atomicfile.Write(string(f), document, 0o600)
}

func (f tokenFile) sweep() { atomicfile.Sweep(string(f)) } // temporary files have tokens in them
