package secretsim

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{
		service.Write("CreateSecret", s.createSecret, "Name", "Description", "KmsKeyId", "SecretString", "SecretBinary", "ClientRequestToken", "Tags"),
		service.Read("DescribeSecret", s.describeSecret, "SecretId"),
		service.Read("ListSecrets", s.listSecrets, "Filters", "IncludePlannedDeletion", "MaxResults", "NextToken", "SortOrder"),
		service.Read("GetSecretValue", s.getSecretValue, "SecretId", "VersionId", "VersionStage"),
		service.Write("PutSecretValue", s.putSecretValue, "SecretId", "SecretString", "SecretBinary", "ClientRequestToken"),
		service.Write("UpdateSecret", s.updateSecret, "SecretId", "Description", "KmsKeyId", "SecretString", "SecretBinary", "ClientRequestToken"),
		service.Read("ListSecretVersionIds", s.listSecretVersionIDs, "SecretId", "IncludeDeprecated"),
		service.Write("DeleteSecret", s.deleteSecret, "SecretId", "ForceDeleteWithoutRecovery", "RecoveryWindowInDays"),
		service.Write("RestoreSecret", s.restoreSecret, "SecretId"),
		service.Write("TagResource", s.tagResource, "SecretId", "Tags"),
		service.Write("UntagResource", s.untagResource, "SecretId", "TagKeys"),
	}
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]{1,512}$`)

// given reads the value that a request brings, or nil.
func given(text *string, binary []byte) (*version, error) {
	switch {
	case text != nil && binary != nil:
		return nil, invalidParameter("You can't specify both a binary secret value and a string secret value in the same secret.")
	case text == nil && binary == nil:
		return nil, nil
	}
	return &version{Text: text, Binary: binary}, nil
}

func (s *Service) createSecret(c *service.Call, in *secretsmanager.CreateSecretInput) (*secretsmanager.CreateSecretOutput, error) {
	name := aws.ToString(in.Name)
	if !namePattern.MatchString(name) {
		return nil, invalidParameter("Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!")
	}
	v, err := given(in.SecretString, in.SecretBinary)
	if err != nil {
		return nil, err
	}
	id := aws.ToString(in.ClientRequestToken)
	for _, one := range s.sorted(c.Region) {
		switch {
		case one.Name != name:
		case !one.DeletedAt.IsZero():
			return nil, invalidRequest("You can't create this secret because a secret with this name is already scheduled for deletion.")
		case id != "" && one.Versions[id] != nil && equal(one.Versions[id], v):
			return &secretsmanager.CreateSecretOutput{ARN: aws.String(one.ARN), Name: in.Name, VersionId: in.ClientRequestToken}, nil
		default:
			return nil, service.Refuse("ResourceExistsException", "The operation failed because the secret %s already exists.", name)
		}
	}
	if id == "" {
		id = uuid(c.World)
	}
	tags := map[string]string{}
	for _, t := range in.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	one := s.add(c.World, c.Region, &secret{Name: name, Description: aws.ToString(in.Description), Key: aws.ToString(in.KmsKeyId), Tags: tags}, id, v)
	out := &secretsmanager.CreateSecretOutput{ARN: aws.String(one.ARN), Name: in.Name}
	if v != nil {
		out.VersionId = aws.String(id)
	}
	return out, nil
}

func equal(a, b *version) bool {
	return b != nil && aws.ToString(a.Text) == aws.ToString(b.Text) && slices.Equal(a.Binary, b.Binary)
}

func (one *secret) stages() map[string][]string {
	if len(one.Versions) == 0 {
		return nil
	}
	all := map[string][]string{}
	for id, v := range one.Versions {
		if len(v.Stages) > 0 {
			all[id] = v.Stages
		}
	}
	return all
}

func (one *secret) tags() []types.Tag {
	all := []types.Tag{}
	for _, key := range slices.Sorted(maps.Keys(one.Tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(one.Tags[key])})
	}
	return all
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func optionalTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func (s *Service) describeSecret(c *service.Call, in *secretsmanager.DescribeSecretInput) (*secretsmanager.DescribeSecretOutput, error) {
	one, err := s.find(c.Region, in.SecretId)
	if err != nil {
		return nil, err
	}
	return &secretsmanager.DescribeSecretOutput{
		ARN: aws.String(one.ARN), Name: aws.String(one.Name), Description: optional(one.Description), KmsKeyId: optional(one.Key),
		OwningService: optional(one.Owner), CreatedDate: aws.Time(one.CreatedAt), LastChangedDate: aws.Time(one.ChangedAt),
		DeletedDate: optionalTime(one.DeletedAt), Tags: one.tags(), VersionIdsToStages: one.stages(),
	}, nil
}

// matches reports whether the secret is what the filters ask for.
func (one *secret) matches(filters []types.Filter) (bool, error) {
	for _, f := range filters {
		var has []string
		switch f.Key {
		case types.FilterNameStringTypeName:
			has = []string{one.Name}
		case types.FilterNameStringTypeDescription:
			has = []string{one.Description}
		case types.FilterNameStringTypeTagKey:
			has = slices.Collect(maps.Keys(one.Tags))
		case types.FilterNameStringTypeTagValue:
			has = slices.Collect(maps.Values(one.Tags))
		case types.FilterNameStringTypeOwningService:
			has = []string{one.Owner}
		default:
			return false, invalidParameter("The filter %s is not modelled", f.Key)
		}
		if !slices.ContainsFunc(f.Values, func(value string) bool {
			return slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, value) })
		}) {
			return false, nil
		}
	}
	return true, nil
}

func (s *Service) listSecrets(c *service.Call, in *secretsmanager.ListSecretsInput) (*secretsmanager.ListSecretsOutput, error) {
	size := 100
	if in.MaxResults != nil {
		if size = int(*in.MaxResults); size < 1 || size > 100 {
			return nil, invalidParameter("MaxResults must be between 1 and 100")
		}
	}
	last, err := base64.RawURLEncoding.DecodeString(aws.ToString(in.NextToken))
	if err != nil {
		return nil, service.Refuse("InvalidNextTokenException", "The NextToken value is invalid.")
	}
	out := &secretsmanager.ListSecretsOutput{SecretList: []types.SecretListEntry{}}
	for _, one := range s.sorted(c.Region) {
		ok, err := one.matches(in.Filters)
		if err != nil {
			return nil, err
		}
		if !ok || one.Name <= string(last) || !one.DeletedAt.IsZero() && !aws.ToBool(in.IncludePlannedDeletion) {
			continue
		}
		if len(out.SecretList) == size {
			out.NextToken = aws.String(base64.RawURLEncoding.EncodeToString([]byte(*out.SecretList[size-1].Name)))
			break
		}
		out.SecretList = append(out.SecretList, types.SecretListEntry{
			ARN: aws.String(one.ARN), Name: aws.String(one.Name), Description: optional(one.Description), KmsKeyId: optional(one.Key),
			OwningService: optional(one.Owner), CreatedDate: aws.Time(one.CreatedAt), LastChangedDate: aws.Time(one.ChangedAt),
			DeletedDate: optionalTime(one.DeletedAt), Tags: one.tags(), SecretVersionsToStages: one.stages(),
		})
	}
	return out, nil
}
