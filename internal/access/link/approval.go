package link

import (
	"encoding/json"
	"net/url"

	"github.com/mcpctl/mcpctl/internal/seal"
)

// ApprovePath is the path of the page on which a person is asked about a call.
const ApprovePath = "/approve"

// Approval leads one principal to the page on which they are asked about a call. It gives
// no rights: who follows it must log in as that principal.
type Approval struct {
	// ID is that of the call in a consent.Table.
	ID string `json:"i"`
	// Principal is the ID of whom it is for; see access.Principal.
	Principal string `json:"p"`
}

// approvalPurpose keeps them apart from what else is sealed.
const approvalPurpose = "approve link"

// Page returns the address of the page, with the approval sealed. It can be opened for TTL.
func (a Approval) Page(ring *seal.Keyring, endpoint *url.URL) string {
	plain, err := json.Marshal(a)
	if err != nil {
		panic("link: texts cannot be encoded: " + err.Error())
	}
	return Root(endpoint) + ApprovePath + "?s=" + ring.Seal(approvalPurpose, plain, TTL)
}

// OpenApproval returns an approval that was sealed. Its error is [ErrInvalid].
func OpenApproval(ring *seal.Keyring, sealed string) (a Approval, err error) {
	if len(sealed) > maxSealed {
		return Approval{}, ErrInvalid
	}
	plain, err := ring.Open(approvalPurpose, sealed)
	if err != nil || json.Unmarshal(plain, &a) != nil {
		return Approval{}, ErrInvalid
	}
	return a, nil
}
