package access

// Local is the Provider of principals whom the system itself has named: the user of this
// machine, on a socket that only they can reach.
const Local = "local"
