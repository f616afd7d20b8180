package codec

// Fault says what is wrong with a value, and where. It has the form of
// runtime.FieldError, which it becomes.
type Fault struct {
	Pointer string
	Reason  string
}

// Error gives the place and the reason.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Reason
	}
	return "at " + f.Pointer + ": " + f.Reason
}
