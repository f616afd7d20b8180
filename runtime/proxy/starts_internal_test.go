package proxy

// SetSpare has servers started by this in the place of what the machine says; see
// starts.Turns.
func (p *Proxy) SetSpare(spare func() int) { p.router.Set.Turns.Spare = spare }
