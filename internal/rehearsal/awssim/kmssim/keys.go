package kmssim

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) keyOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateKey", s.createKey, "Description", "Policy", "KeyUsage", "KeySpec", "Tags", "BypassPolicyLockoutSafetyCheck"),
		// Asking for AWS's own key for the first time makes it.
		service.Read("DescribeKey", s.describeKey, "KeyId").Saving(),
		service.Read("ListKeys", s.listKeys, "Marker", "Limit"),
		service.Write("EnableKey", s.enableKey, "KeyId"),
		service.Write("DisableKey", s.disableKey, "KeyId"),
		service.Write("UpdateKeyDescription", s.updateKeyDescription, "KeyId", "Description"),
		service.Write("ScheduleKeyDeletion", s.scheduleKeyDeletion, "KeyId", "PendingWindowInDays"),
		service.Write("CancelKeyDeletion", s.cancelKeyDeletion, "KeyId"),
		service.Read("GetKeyPolicy", s.getKeyPolicy, "KeyId", "PolicyName"),
		service.Read("ListKeyPolicies", s.listKeyPolicies, "KeyId"),
		service.Write("PutKeyPolicy", s.putKeyPolicy, "KeyId", "PolicyName", "Policy", "BypassPolicyLockoutSafetyCheck"),
		service.Read("GetKeyRotationStatus", s.getKeyRotationStatus, "KeyId"),
		service.Write("EnableKeyRotation", s.enableKeyRotation, "KeyId"),
		service.Write("DisableKeyRotation", s.disableKeyRotation, "KeyId"),
	}
}

// page cuts one answer out of the sorted names: those after marker.
func page(names []string, marker *string, limit *int32, most int32) (part []string, truncated bool, next *string, err error) {
	size := most
	if limit != nil {
		if size = *limit; size < 1 || size > 1000 {
			return nil, false, nil, invalid("Limit must be between 1 and 1000")
		}
	}
	last, err := base64.RawURLEncoding.DecodeString(aws.ToString(marker))
	if err != nil {
		return nil, false, nil, service.Refuse("InvalidMarkerException", "Could not deserialize marker")
	}
	start := 0
	if len(last) > 0 {
		start = sort.SearchStrings(names, string(last)+"\x00")
	}
	names = names[start:]
	if len(names) <= int(size) {
		return names, false, nil, nil
	}
	names = names[:size]
	return names, true, aws.String(base64.RawURLEncoding.EncodeToString([]byte(names[size-1]))), nil
}

func checkPolicy(text string) error {
	var document struct{ Statement any }
	if json.Unmarshal([]byte(text), &document) != nil || document.Statement == nil {
		return service.Refuse("MalformedPolicyDocumentException", "The key policy is not a policy document")
	}
	return nil
}

func (s *Service) createKey(c *service.Call, in *kms.CreateKeyInput) (*kms.CreateKeyOutput, error) {
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	k := &key{
		ID: uuid(c.World.NewID("", 32)), Description: aws.ToString(in.Description), Policy: s.defaultPolicy(),
		Usage: types.KeyUsageTypeEncryptDecrypt, Spec: types.KeySpecSymmetricDefault, State: types.KeyStateEnabled,
		CreatedAt: c.World.Now().UTC(), Tags: tags,
	}
	if in.KeyUsage != "" {
		k.Usage = in.KeyUsage
	}
	if in.KeySpec != "" {
		k.Spec = in.KeySpec
	}
	if !slices.Contains(k.Usage.Values(), k.Usage) || !slices.Contains(k.Spec.Values(), k.Spec) {
		return nil, invalid("The key usage %s or key spec %s is not one", k.Usage, k.Spec)
	}
	if in.Policy != nil {
		if err := checkPolicy(*in.Policy); err != nil {
			return nil, err
		}
		k.Policy = *in.Policy
	}
	s.in(c.Region).Keys[k.ID] = k
	return &kms.CreateKeyOutput{KeyMetadata: s.shown(c, k)}, nil
}

func (s *Service) shown(c *service.Call, k *key) *types.KeyMetadata {
	out := &types.KeyMetadata{
		KeyId: aws.String(k.ID), Arn: aws.String(s.arn(c.Region, k.ID)), AWSAccountId: aws.String(s.account), Description: aws.String(k.Description),
		KeyUsage: k.Usage, KeySpec: k.Spec, KeyState: k.State, Enabled: k.State == types.KeyStateEnabled,
		CreationDate: aws.Time(k.CreatedAt), KeyManager: types.KeyManagerTypeCustomer, Origin: types.OriginTypeAwsKms, MultiRegion: aws.Bool(false),
	}
	if k.Usage == types.KeyUsageTypeEncryptDecrypt && k.Spec == types.KeySpecSymmetricDefault {
		out.EncryptionAlgorithms = []types.EncryptionAlgorithmSpec{types.EncryptionAlgorithmSpecSymmetricDefault}
	}
	if k.Managed {
		out.KeyManager = types.KeyManagerTypeAws
	}
	if !k.DeletedAt.IsZero() {
		out.DeletionDate = aws.Time(k.DeletedAt)
	}
	return out
}

func (s *Service) describeKey(c *service.Call, in *kms.DescribeKeyInput) (*kms.DescribeKeyOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	return &kms.DescribeKeyOutput{KeyMetadata: s.shown(c, k)}, nil
}

func (s *Service) listKeys(c *service.Call, in *kms.ListKeysInput) (*kms.ListKeysOutput, error) {
	ids, truncated, next, err := page(slices.Sorted(maps.Keys(s.in(c.Region).Keys)), in.Marker, in.Limit, 100)
	if err != nil {
		return nil, err
	}
	out := &kms.ListKeysOutput{Keys: []types.KeyListEntry{}, Truncated: truncated, NextMarker: next}
	for _, id := range ids {
		out.Keys = append(out.Keys, types.KeyListEntry{KeyId: aws.String(id), KeyArn: aws.String(s.arn(c.Region, id))})
	}
	return out, nil
}

func (s *Service) enableKey(c *service.Call, in *kms.EnableKeyInput) (*kms.EnableKeyOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	k.State = types.KeyStateEnabled
	return &kms.EnableKeyOutput{}, nil
}

func (s *Service) disableKey(c *service.Call, in *kms.DisableKeyInput) (*kms.DisableKeyOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	k.State = types.KeyStateDisabled
	return &kms.DisableKeyOutput{}, nil
}

func (s *Service) updateKeyDescription(c *service.Call, in *kms.UpdateKeyDescriptionInput) (*kms.UpdateKeyDescriptionOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	k.Description = aws.ToString(in.Description)
	return &kms.UpdateKeyDescriptionOutput{}, nil
}

// "KMS API, ScheduleKeyDeletion".
const (
	leastWindow = 7
	mostWindow  = 30
)

func (s *Service) scheduleKeyDeletion(c *service.Call, in *kms.ScheduleKeyDeletionInput) (*kms.ScheduleKeyDeletionOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	days := int32(mostWindow)
	if in.PendingWindowInDays != nil {
		days = *in.PendingWindowInDays
	}
	if days < leastWindow || days > mostWindow {
		return nil, invalid("PendingWindowInDays must be between %d and %d", leastWindow, mostWindow)
	}
	k.State, k.DeletedAt = types.KeyStatePendingDeletion, c.World.Now().UTC().Add(time.Duration(days)*24*time.Hour)
	return &kms.ScheduleKeyDeletionOutput{
		KeyId: aws.String(s.arn(c.Region, k.ID)), KeyState: k.State, DeletionDate: aws.Time(k.DeletedAt), PendingWindowInDays: aws.Int32(days),
	}, nil
}

func (s *Service) cancelKeyDeletion(c *service.Call, in *kms.CancelKeyDeletionInput) (*kms.CancelKeyDeletionOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	if k.State != types.KeyStatePendingDeletion {
		return nil, service.Refuse("KMSInvalidStateException", "%s is not pending deletion.", s.arn(c.Region, k.ID))
	}
	k.State, k.DeletedAt = types.KeyStateDisabled, time.Time{}
	return &kms.CancelKeyDeletionOutput{KeyId: aws.String(s.arn(c.Region, k.ID))}, nil
}

// policyName is the only one a key's policy can have.
const policyName = "default"

func checkPolicyName(name *string) error {
	if name != nil && *name != policyName {
		return notFound("No such policy exists")
	}
	return nil
}

func (s *Service) getKeyPolicy(c *service.Call, in *kms.GetKeyPolicyInput) (*kms.GetKeyPolicyOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	return &kms.GetKeyPolicyOutput{Policy: aws.String(k.Policy), PolicyName: aws.String(policyName)}, checkPolicyName(in.PolicyName)
}

func (s *Service) listKeyPolicies(c *service.Call, in *kms.ListKeyPoliciesInput) (*kms.ListKeyPoliciesOutput, error) {
	_, err := s.lookup(c, in.KeyId)
	return &kms.ListKeyPoliciesOutput{PolicyNames: []string{policyName}}, err
}

func (s *Service) putKeyPolicy(c *service.Call, in *kms.PutKeyPolicyInput) (*kms.PutKeyPolicyOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	if err := checkPolicyName(in.PolicyName); err != nil {
		return nil, err
	}
	if err := checkPolicy(aws.ToString(in.Policy)); err != nil {
		return nil, err
	}
	k.Policy = *in.Policy
	return &kms.PutKeyPolicyOutput{}, nil
}

func (s *Service) getKeyRotationStatus(c *service.Call, in *kms.GetKeyRotationStatusInput) (*kms.GetKeyRotationStatusOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	return &kms.GetKeyRotationStatusOutput{KeyRotationEnabled: k.Rotates, KeyId: aws.String(s.arn(c.Region, k.ID))}, nil
}

func (s *Service) enableKeyRotation(c *service.Call, in *kms.EnableKeyRotationInput) (*kms.EnableKeyRotationOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	k.Rotates = true
	return &kms.EnableKeyRotationOutput{}, nil
}

func (s *Service) disableKeyRotation(c *service.Call, in *kms.DisableKeyRotationInput) (*kms.DisableKeyRotationOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	k.Rotates = false
	return &kms.DisableKeyRotationOutput{}, nil
}
