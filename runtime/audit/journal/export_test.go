package journal

// Turns returns how often the writer was woken.
func (j *Journal) Turns() int64 { return j.w.turns.Load() }
