package upstream

// maxPendingNotices bounds the notices that are awaited; beyond it one of them is not
// passed on.
const maxPendingNotices = 256

// PendingNotices are the clients that are to hear of the end of something, by its id. The
// zero value has none.
type PendingNotices[C comparable] struct{ byID map[string]C }

// Add notes who is to hear of it.
func (p *PendingNotices[C]) Add(id string, client C) {
	if p.byID == nil {
		p.byID = map[string]C{}
	}
	if len(p.byID) >= maxPendingNotices {
		for other := range p.byID {
			delete(p.byID, other)
			break
		}
	}
	p.byID[id] = client
}

// Take returns who is to hear of it, the zero value for nobody, and forgets it.
func (p *PendingNotices[C]) Take(id string) C {
	client := p.byID[id]
	delete(p.byID, id)
	return client
}
