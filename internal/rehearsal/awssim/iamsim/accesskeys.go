package iamsim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// maxKeys is the quota of access keys per user.
const maxKeys = 2

type accessKey struct {
	ID, Secret string
	Inactive   bool `json:",omitempty"`
	CreatedAt  time.Time
}

var _ service.Keyring = (*Service)(nil)

// LookupAccessKey implements service.Keyring for the keys of users.
func (s *Service) LookupAccessKey(id string) (service.Credential, bool) {
	for _, u := range s.state.Users {
		k := u.Keys[id]
		if k == nil || k.Inactive {
			continue
		}
		return service.Credential{
			SecretAccessKey: k.Secret,
			Principal:       service.Principal{ARN: u.ARN, UserID: u.ID, AccessKeyID: k.ID},
		}, true
	}
	return service.Credential{}, false
}

func (s *Service) accessKeyOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateAccessKey", s.createAccessKey, "UserName"),
		service.Read("ListAccessKeys", s.listAccessKeys, "UserName", "Marker", "MaxItems"),
		service.Write("UpdateAccessKey", s.updateAccessKey, "UserName", "AccessKeyId", "Status"),
		service.Write("DeleteAccessKey", s.deleteAccessKey, "UserName", "AccessKeyId"),
		service.Read("GetAccessKeyLastUsed", s.getAccessKeyLastUsed, "AccessKeyId"),
	}
}

func (k *accessKey) status() types.StatusType {
	if k.Inactive {
		return types.StatusTypeInactive
	}
	return types.StatusTypeActive
}

func (s *Service) createAccessKey(c *service.Call, in *iam.CreateAccessKeyInput) (*iam.CreateAccessKeyOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err != nil {
		return nil, err
	}
	if len(u.Keys) >= maxKeys {
		return nil, limitExceeded("Cannot exceed quota for AccessKeysPerUser: %d", maxKeys)
	}
	k := &accessKey{ID: strings.ToUpper(c.World.NewID("AKIA", 16)), Secret: c.World.NewID("", 40), CreatedAt: c.World.Now().UTC()}
	u.Keys[k.ID] = k
	return &iam.CreateAccessKeyOutput{AccessKey: &types.AccessKey{
		AccessKeyId: aws.String(k.ID), SecretAccessKey: aws.String(k.Secret), UserName: aws.String(u.Name),
		Status: k.status(), CreateDate: aws.Time(k.CreatedAt),
	}}, nil
}

func (s *Service) listAccessKeys(c *service.Call, in *iam.ListAccessKeysInput) (*iam.ListAccessKeysOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err != nil {
		return nil, err
	}
	ids, truncated, next, err := page(slices.Sorted(maps.Keys(u.Keys)), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListAccessKeysOutput{AccessKeyMetadata: []types.AccessKeyMetadata{}, IsTruncated: truncated, Marker: next}
	for _, id := range ids {
		k := u.Keys[id]
		out.AccessKeyMetadata = append(out.AccessKeyMetadata, types.AccessKeyMetadata{
			AccessKeyId: aws.String(id), UserName: aws.String(u.Name), Status: k.status(), CreateDate: aws.Time(k.CreatedAt),
		})
	}
	return out, nil
}

func (u *user) key(id *string) (*accessKey, error) {
	k := u.Keys[aws.ToString(id)]
	if k == nil {
		return nil, noSuchEntity("The Access Key with id %s cannot be found.", aws.ToString(id))
	}
	return k, nil
}

func (s *Service) updateAccessKey(c *service.Call, in *iam.UpdateAccessKeyInput) (*iam.UpdateAccessKeyOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err != nil {
		return nil, err
	}
	k, err := u.key(in.AccessKeyId)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(in.Status.Values(), in.Status) {
		return nil, invalid("status", "Member must satisfy enum value set: [Active, Inactive]")
	}
	k.Inactive = in.Status == types.StatusTypeInactive
	return &iam.UpdateAccessKeyOutput{}, nil
}

func (s *Service) deleteAccessKey(c *service.Call, in *iam.DeleteAccessKeyInput) (*iam.DeleteAccessKeyOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err != nil {
		return nil, err
	}
	k, err := u.key(in.AccessKeyId)
	if err != nil {
		return nil, err
	}
	delete(u.Keys, k.ID)
	return &iam.DeleteAccessKeyOutput{}, nil
}

// getAccessKeyLastUsed says that a key was never used: uses are on the record
// of calls, not with the key.
func (s *Service) getAccessKeyLastUsed(_ *service.Call, in *iam.GetAccessKeyLastUsedInput) (*iam.GetAccessKeyLastUsedOutput, error) {
	for _, u := range s.state.Users {
		if u.Keys[aws.ToString(in.AccessKeyId)] != nil {
			return &iam.GetAccessKeyLastUsedOutput{
				UserName:          aws.String(u.Name),
				AccessKeyLastUsed: &types.AccessKeyLastUsed{Region: aws.String("N/A"), ServiceName: aws.String("N/A")},
			}, nil
		}
	}
	return nil, noSuchEntity("The Access Key with id %s cannot be found.", aws.ToString(in.AccessKeyId))
}
