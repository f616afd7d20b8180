package upstream

import (
	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// noteEra notes what a new connection says of the server's era. The caller holds
// the lock.
func (p *Pool) noteEra(c *Conn) {
	if c.Slot.isDiscovery() {
		legacy := false
		for _, v := range c.Client.Info().Versions {
			legacy = legacy || !revision.IsModern(v)
		}
		p.era.Modern = c.Modern()
		p.era.Remote = !c.Modern() && c.Pipe == nil
		p.era.SpeaksBoth = c.Modern() && legacy
		// Without its versions the revision is one that the entry has fixed.
		p.era.NoHandshake = c.Modern() && (c.shakes || len(c.Client.Info().Versions) == 0)
	} else if c.Slot.Key.Legacy && c.Modern() {
		p.era.SpeaksBoth, p.era.NoHandshake = false, true // it was tried, see ShareRequest.Legacy
	} else if c.Slot.Key.Legacy && ability.Sessionless(c.Client.Transport()) {
		// Such a server can neither ask in the client's era nor be told of a
		// cancel: the stateless era has all that it has, and these.
		p.b.Log.Info("backend keeps no session after a handshake: its other era is used")
		p.era.SpeaksBoth, p.era.NoHandshake = false, true
	}
	p.publishFastPath()
}

// currentEra returns what is known of it now.
func (p *Pool) currentEra() Era {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.era
}

// SetAsksClients notes that the server has asked a client something over a
// connection that it may share with others; unattributed says that nothing tells
// to which call the question belongs. A session that has used the connection alone
// so far keeps it, with the state that the server has for it. What is noted is
// kept for processes to come, where there is a store.
func (p *Pool) SetAsksClients(c *Conn, unattributed bool) {
	if c.Modern() {
		return // its questions are answers to calls
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.era.AsksClients {
		p.b.Log.Info("backend asks its clients")
	}
	p.era.AsksClients, p.era.Unattributed = true, p.era.Unattributed || unattributed
	c.reserved = c.reserved || c.onlyClient() != nil
	p.publishFastPath()
}

// learn notes what is found out about the era by other means than a connection.
func (p *Pool) learn(what func(e *Era)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what(&p.era)
}

// SetRemote notes whether the server is no process of ours.
func (p *Pool) SetRemote(remote bool) { p.learn(func(e *Era) { e.Remote = remote }) }

// publishFastPath publishes over which connections fast calls go; nil: SelectSlot
// decides. Where principals are told apart, a session's is found with the session, and
// ModernShared is for those who are nobody in particular. The caller holds the lock.
func (p *Pool) publishFastPath() {
	var c *Conn
	s, isolation := p.b.Primary, p.b.Config().Isolation
	switch {
	case p.era.SpeaksBoth:
		s = p.slots[Everybodys(p.b.Name, true)]
	case p.era.IsUntold():
		s = nil // it depends on what the client can be asked
	}
	private := isolation == IsolationSession || isolation == IsolationAuto && p.era.AsksClients && (p.era.SpeaksBoth || !p.era.Modern)
	if s != nil && !private && !p.b.Config().ByPrincipal() {
		c = s.Ready.Load()
	}
	p.b.LegacyShared.Store(c)
	// See SelectSlot, for a caller of the modern era.
	if c = p.b.Primary.Ready.Load(); c != nil &&
		(!c.takesFastCalls() || p.era.AsksClients && (isolation == IsolationAuto || isolation == IsolationSession)) {
		c = nil
	}
	p.b.ModernShared.Store(c)
}
