package policy

// Remembered returns how many views a World remembers, and their bytes.
func (w *Snapshot) Remembered() (n, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.views), w.bytes
}
