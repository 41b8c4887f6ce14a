package secretsim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// version finds a version by its id or stage; neither means the current one.
func (one *secret) version(id, stage *string) (string, *version, error) {
	wanted := aws.ToString(stage)
	if id == nil && stage == nil {
		wanted = current
	}
	for name, v := range one.Versions {
		if (id == nil || *id == name) && (wanted == "" || slices.Contains(v.Stages, wanted)) {
			return name, v, nil
		}
	}
	return "", nil, service.Refuse("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: %s", wanted)
}

func (s *Service) getSecretValue(c *service.Call, in *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
	one, err := s.usable(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	id, v, err := one.version(in.VersionId, in.VersionStage)
	if err != nil {
		return nil, err
	}
	return &secretsmanager.GetSecretValueOutput{
		ARN: aws.String(one.ARN), Name: aws.String(one.Name), VersionId: aws.String(id), VersionStages: v.Stages,
		SecretString: v.Text, SecretBinary: v.Binary, CreatedDate: aws.Time(v.At),
	}, nil
}

// put makes v the current version; the one before becomes the previous one.
func (one *secret) put(c *service.Call, token *string, v *version) (string, error) {
	id := aws.ToString(token)
	if id == "" {
		id = uuid(c.World)
	}
	if old := one.Versions[id]; old != nil {
		if equal(old, v) {
			return id, nil
		}
		return "", service.Refuse("ResourceExistsException", "You can't modify a version that already exists.")
	}
	for _, old := range one.Versions {
		old.Stages = slices.DeleteFunc(old.Stages, func(stage string) bool { return stage == previous })
		if at := slices.Index(old.Stages, current); at >= 0 {
			old.Stages[at] = previous
		}
	}
	now := c.World.Now().UTC()
	v.At, v.Stages = now, []string{current}
	one.Versions[id], one.ChangedAt = v, now
	return id, nil
}

func (s *Service) putSecretValue(c *service.Call, in *secretsmanager.PutSecretValueInput) (*secretsmanager.PutSecretValueOutput, error) {
	one, err := s.own(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	v, err := given(in.SecretString, in.SecretBinary)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, invalidRequest("You must provide either SecretString or SecretBinary.")
	}
	id, err := one.put(c, in.ClientRequestToken, v)
	if err != nil {
		return nil, err
	}
	return &secretsmanager.PutSecretValueOutput{ARN: aws.String(one.ARN), Name: aws.String(one.Name), VersionId: aws.String(id), VersionStages: v.Stages}, nil
}

func (s *Service) updateSecret(c *service.Call, in *secretsmanager.UpdateSecretInput) (*secretsmanager.UpdateSecretOutput, error) {
	one, err := s.own(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	v, err := given(in.SecretString, in.SecretBinary)
	if err != nil {
		return nil, err
	}
	out := &secretsmanager.UpdateSecretOutput{ARN: aws.String(one.ARN), Name: aws.String(one.Name)}
	if v != nil {
		id, err := one.put(c, in.ClientRequestToken, v)
		if err != nil {
			return nil, err
		}
		out.VersionId = aws.String(id)
	}
	if in.Description != nil {
		one.Description = *in.Description
	}
	if in.KmsKeyId != nil {
		one.Key = *in.KmsKeyId
	}
	one.ChangedAt = c.World.Now().UTC()
	return out, nil
}

func (s *Service) listSecretVersionIDs(c *service.Call, in *secretsmanager.ListSecretVersionIdsInput) (*secretsmanager.ListSecretVersionIdsOutput, error) {
	one, err := s.find(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	out := &secretsmanager.ListSecretVersionIdsOutput{ARN: aws.String(one.ARN), Name: aws.String(one.Name), Versions: []types.SecretVersionsListEntry{}}
	for _, id := range slices.Sorted(maps.Keys(one.Versions)) {
		v := one.Versions[id]
		if len(v.Stages) > 0 || aws.ToBool(in.IncludeDeprecated) {
			out.Versions = append(out.Versions, types.SecretVersionsListEntry{VersionId: aws.String(id), VersionStages: v.Stages, CreatedDate: aws.Time(v.At)})
		}
	}
	return out, nil
}

// "Secrets Manager API, DeleteSecret".
const (
	leastWindow    = 7
	mostWindow     = 30
	standardWindow = 30
)

func (s *Service) deleteSecret(c *service.Call, in *secretsmanager.DeleteSecretInput) (*secretsmanager.DeleteSecretOutput, error) {
	one, err := s.own(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	days := int64(standardWindow)
	if in.RecoveryWindowInDays != nil {
		days = *in.RecoveryWindowInDays
	}
	force, now := aws.ToBool(in.ForceDeleteWithoutRecovery), c.World.Now().UTC()
	switch {
	case force && in.RecoveryWindowInDays != nil:
		return nil, invalidParameter("You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.")
	case force:
		delete(s.state.Regions[c.Region], one.ARN)
		return &secretsmanager.DeleteSecretOutput{ARN: aws.String(one.ARN), Name: aws.String(one.Name), DeletionDate: aws.Time(now)}, nil
	case days < leastWindow || days > mostWindow:
		return nil, invalidParameter("The RecoveryWindowInDays value must be between %d and %d days (inclusive).", leastWindow, mostWindow)
	}
	one.DeletedAt, one.GoneAt = now, now.Add(time.Duration(days)*24*time.Hour)
	return &secretsmanager.DeleteSecretOutput{ARN: aws.String(one.ARN), Name: aws.String(one.Name), DeletionDate: aws.Time(one.GoneAt)}, nil
}

func (s *Service) restoreSecret(c *service.Call, in *secretsmanager.RestoreSecretInput) (*secretsmanager.RestoreSecretOutput, error) {
	one, err := s.find(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	one.DeletedAt, one.GoneAt = time.Time{}, time.Time{}
	return &secretsmanager.RestoreSecretOutput{ARN: aws.String(one.ARN), Name: aws.String(one.Name)}, nil
}

func (s *Service) tagResource(c *service.Call, in *secretsmanager.TagResourceInput) (*secretsmanager.TagResourceOutput, error) {
	one, err := s.usable(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	if one.Tags == nil {
		one.Tags = map[string]string{}
	}
	for _, t := range in.Tags {
		if key := aws.ToString(t.Key); key == "" || strings.HasPrefix(strings.ToLower(key), "aws:") {
			return nil, invalidParameter("The tag key %q is not valid", key)
		}
	}
	for _, t := range in.Tags {
		one.Tags[*t.Key] = aws.ToString(t.Value)
	}
	return &secretsmanager.TagResourceOutput{}, nil
}

func (s *Service) untagResource(c *service.Call, in *secretsmanager.UntagResourceInput) (*secretsmanager.UntagResourceOutput, error) {
	one, err := s.usable(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(one.Tags, key)
	}
	return &secretsmanager.UntagResourceOutput{}, nil
}
