//go:build !unix

package hostile

func (s *server) spawn() {}
