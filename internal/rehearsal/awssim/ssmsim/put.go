package ssmsim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_.\-/]+$`)

func checkName(name string) error {
	bare := strings.ToLower(strings.TrimPrefix(name, "/"))
	switch {
	case !namePattern.MatchString(name), len(name) > 1011:
		return invalid("Parameter name: can't be prefixed with \"ssm\" (case-insensitive) and must consist of letters, numbers and .-_/")
	case strings.HasPrefix(bare, "aws"), strings.HasPrefix(bare, "ssm"):
		return service.Refuse("AccessDeniedException", "No access to reserved parameter name: %s.", name)
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return invalid("Parameter name must be a fully qualified name.")
	}
	return nil
}

// "Managing parameter tiers", Systems Manager user guide.
const (
	standardBytes = 4 << 10
	advancedBytes = 8 << 10
)

func (s *Service) putParameter(c *service.Call, in *ssm.PutParameterInput) (*ssm.PutParameterOutput, error) {
	name, value := aws.ToString(in.Name), aws.ToString(in.Value)
	if err := checkName(name); err != nil {
		return nil, err
	}
	p := s.in(c.Region)[name]
	limit := standardBytes
	if in.Tier == types.ParameterTierAdvanced || in.Tier == types.ParameterTierIntelligentTiering {
		limit = advancedBytes
	}
	switch {
	case value == "":
		return nil, invalid("1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case len(value) > limit:
		return nil, invalid("Standard tier parameters support a maximum parameter value of %d characters.", limit)
	case p != nil && !aws.ToBool(in.Overwrite):
		return nil, service.Refuse("ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")
	case p != nil && len(in.Tags) > 0:
		return nil, invalid("Invalid request: tags and overwrite can't be used together.")
	case p == nil && in.Type == "":
		return nil, invalid("A parameter type is required when you create a parameter.")
	case in.Type != "" && !slices.Contains(in.Type.Values(), in.Type):
		return nil, service.Refuse("UnsupportedParameterType", "The parameter type isn't supported.")
	}
	if in.AllowedPattern != nil {
		pattern, err := regexp.Compile(*in.AllowedPattern)
		if err != nil {
			return nil, service.Refuse("InvalidAllowedPatternException", "The pattern is not a regular expression")
		}
		if !pattern.MatchString(value) {
			return nil, service.Refuse("ParameterPatternMismatchException", "Parameter value, cannot be validated against allowedPattern: %s", *in.AllowedPattern)
		}
	}
	if p == nil {
		p = &parameter{Name: name, Type: in.Type, Tier: types.ParameterTierStandard, DataType: "text", Tags: map[string]string{}}
		s.in(c.Region)[name] = p
	}
	if in.Type != "" {
		p.Type = in.Type
	}
	if in.Tier == types.ParameterTierAdvanced {
		p.Tier = in.Tier
	}
	for _, set := range []struct {
		to   *string
		from *string
	}{{&p.Description, in.Description}, {&p.DataType, in.DataType}, {&p.Key, in.KeyId}, {&p.Pattern, in.AllowedPattern}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	if p.Type == types.ParameterTypeSecureString && p.Key == "" {
		p.Key = "alias/aws/ssm"
	}
	for _, t := range in.Tags {
		p.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	p.Versions = append(p.Versions, version{Value: value, User: c.Caller.ARN, At: c.World.Now().UTC()})
	return &ssm.PutParameterOutput{Version: int64(len(p.Versions)), Tier: p.Tier}, nil
}

func (s *Service) deleteParameter(c *service.Call, in *ssm.DeleteParameterInput) (*ssm.DeleteParameterOutput, error) {
	name := aws.ToString(in.Name)
	if s.in(c.Region)[name] == nil {
		return nil, notFound(name)
	}
	delete(s.in(c.Region), name)
	return &ssm.DeleteParameterOutput{}, nil
}

func (s *Service) deleteParameters(c *service.Call, in *ssm.DeleteParametersInput) (*ssm.DeleteParametersOutput, error) {
	out := &ssm.DeleteParametersOutput{DeletedParameters: []string{}, InvalidParameters: []string{}}
	for _, name := range in.Names {
		if s.in(c.Region)[name] == nil {
			out.InvalidParameters = append(out.InvalidParameters, name)
			continue
		}
		delete(s.in(c.Region), name)
		out.DeletedParameters = append(out.DeletedParameters, name)
	}
	return out, nil
}
