package ssmsim

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{
		service.Read("GetParameter", s.getParameter, "Name", "WithDecryption"),
		service.Read("GetParameters", s.getParameters, "Names", "WithDecryption"),
		service.Read("GetParametersByPath", s.getParametersByPath, "Path", "Recursive", "WithDecryption", "MaxResults", "NextToken"),
		service.Read("DescribeParameters", s.describeParameters, "ParameterFilters", "MaxResults", "NextToken"),
		service.Read("GetParameterHistory", s.getParameterHistory, "Name", "WithDecryption"),
		service.Write("PutParameter", s.putParameter, "Name", "Value", "Type", "Description", "Overwrite", "KeyId", "Tier", "DataType", "AllowedPattern", "Tags"),
		service.Write("DeleteParameter", s.deleteParameter, "Name"),
		service.Write("DeleteParameters", s.deleteParameters, "Names"),
		service.Write("AddTagsToResource", s.addTags, "ResourceType", "ResourceId", "Tags"),
		service.Write("RemoveTagsFromResource", s.removeTags, "ResourceType", "ResourceId", "TagKeys"),
		service.Read("ListTagsForResource", s.listTags, "ResourceType", "ResourceId"),
	}
}

func notFound(name string) error {
	return service.Refuse("ParameterNotFound", "Parameter %s not found.", name)
}

func invalid(format string, args ...any) error {
	return service.Refuse("ValidationException", format, args...)
}

// find returns a version of a parameter by its name, its ARN, and either with
// a number or label behind a colon.
func (s *Service) find(region, asked string) (*types.Parameter, error) {
	name := strings.TrimPrefix(asked, "arn:aws:ssm:"+region+":"+s.account+":parameter")
	if shown, ok := s.public(region, name); ok {
		return shown, nil
	}
	name, selector, selected := strings.Cut(name, ":")
	p := s.in(region)[name]
	if p == nil {
		p = s.in(region)[strings.TrimPrefix(name, "/")]
	}
	if p == nil {
		return nil, notFound(asked)
	}
	at := len(p.Versions) - 1
	if selected {
		at = slices.IndexFunc(p.Versions, func(v version) bool { return slices.Contains(v.Labels, selector) })
		if number, err := strconv.Atoi(selector); err == nil && number >= 1 && number <= len(p.Versions) {
			at = number - 1
		}
		if at < 0 {
			return nil, service.Refuse("ParameterVersionNotFound", "Systems Manager could not find version %s of %s.", selector, name)
		}
	}
	shown := s.shown(region, p, at)
	if selected {
		shown.Selector = aws.String(":" + selector)
	}
	return shown, nil
}

func (s *Service) shown(region string, p *parameter, at int) *types.Parameter {
	v := p.Versions[at]
	return &types.Parameter{
		Name: aws.String(p.Name), ARN: aws.String(s.arn(region, p.Name)), Type: p.Type, DataType: aws.String(p.DataType),
		Value: aws.String(v.Value), Version: int64(at + 1), LastModifiedDate: aws.Time(v.At),
	}
}

// sealed gives the value of a secure parameter only to who asks for it in the
// clear.
func sealed(p *types.Parameter, open *bool) types.Parameter {
	if p.Type == types.ParameterTypeSecureString && !aws.ToBool(open) {
		p.Value = aws.String(base64.StdEncoding.EncodeToString([]byte("sealed:" + *p.Name)))
	}
	return *p
}

func (s *Service) getParameter(c *service.Call, in *ssm.GetParameterInput) (*ssm.GetParameterOutput, error) {
	p, err := s.find(c.Region, aws.ToString(in.Name))
	if err != nil {
		return nil, err
	}
	return &ssm.GetParameterOutput{Parameter: new(sealed(p, in.WithDecryption))}, nil
}

const mostNames = 10

func (s *Service) getParameters(c *service.Call, in *ssm.GetParametersInput) (*ssm.GetParametersOutput, error) {
	if len(in.Names) == 0 || len(in.Names) > mostNames {
		return nil, invalid("Between 1 and %d names can be given", mostNames)
	}
	out := &ssm.GetParametersOutput{Parameters: []types.Parameter{}, InvalidParameters: []string{}}
	for _, name := range in.Names {
		p, err := s.find(c.Region, name)
		if err != nil {
			out.InvalidParameters = append(out.InvalidParameters, name)
			continue
		}
		out.Parameters = append(out.Parameters, sealed(p, in.WithDecryption))
	}
	return out, nil
}

// page cuts one answer out of the sorted names.
func page(names []string, max *int32, token *string, most int) ([]string, *string, error) {
	last, err := base64.RawURLEncoding.DecodeString(aws.ToString(token))
	if err != nil {
		return nil, nil, service.Refuse("InvalidNextToken", "The specified token isn't valid.")
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n <= string(last) })
	size := most
	if max != nil {
		if size = int(*max); size < 1 || size > most {
			return nil, nil, invalid("MaxResults must be between 1 and %d", most)
		}
	}
	if len(names) <= size {
		return names, nil, nil
	}
	return names[:size], aws.String(base64.RawURLEncoding.EncodeToString([]byte(names[size-1]))), nil
}

// getParametersByPath lists the account's own parameters. AWS's public ones
// are too many to list here and are asked for by name.
func (s *Service) getParametersByPath(c *service.Call, in *ssm.GetParametersByPathInput) (*ssm.GetParametersByPathOutput, error) {
	path := strings.TrimSuffix(aws.ToString(in.Path), "/") + "/"
	if !strings.HasPrefix(path, "/") {
		return nil, invalid("The parameter doesn't meet the parameter name requirements. The parameter name must begin with a forward slash \"/\".")
	}
	if strings.HasPrefix(path, "/aws/") {
		return nil, invalid("The simulated AWS does not list public parameters, ask for them by name")
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.in(c.Region))), func(n string) bool {
		rest, below := strings.CutPrefix(n, path)
		return !below || !aws.ToBool(in.Recursive) && strings.Contains(rest, "/")
	})
	part, next, err := page(names, in.MaxResults, in.NextToken, 10)
	if err != nil {
		return nil, err
	}
	out := &ssm.GetParametersByPathOutput{Parameters: []types.Parameter{}, NextToken: next}
	for _, name := range part {
		p := s.in(c.Region)[name]
		out.Parameters = append(out.Parameters, sealed(s.shown(c.Region, p, len(p.Versions)-1), in.WithDecryption))
	}
	return out, nil
}

// matches reports whether a parameter is what the filters ask for.
func (p *parameter) matches(filters []types.ParameterStringFilter) (bool, error) {
	for _, f := range filters {
		key := aws.ToString(f.Key)
		var has string
		tag, byTag := strings.CutPrefix(key, "tag:")
		switch {
		case byTag:
			value, ok := p.Tags[tag]
			if !ok {
				return false, nil
			}
			has = value
		case key == "Name":
			has = p.Name
		case key == "Type":
			has = string(p.Type)
		default:
			return false, service.Refuse("InvalidFilterKey", "The filter key %q is invalid.", key)
		}
		ok := slices.ContainsFunc(f.Values, func(value string) bool {
			switch aws.ToString(f.Option) {
			case "BeginsWith":
				return strings.HasPrefix(has, value)
			case "Contains":
				return strings.Contains(has, value)
			}
			return has == value
		})
		if !ok && len(f.Values) > 0 {
			return false, nil
		}
	}
	return true, nil
}

func (s *Service) describeParameters(c *service.Call, in *ssm.DescribeParametersInput) (*ssm.DescribeParametersOutput, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.in(c.Region))) {
		ok, err := s.in(c.Region)[name].matches(in.ParameterFilters)
		if err != nil {
			return nil, err
		}
		if ok {
			names = append(names, name)
		}
	}
	part, next, err := page(names, in.MaxResults, in.NextToken, 50)
	if err != nil {
		return nil, err
	}
	out := &ssm.DescribeParametersOutput{Parameters: []types.ParameterMetadata{}, NextToken: next}
	for _, name := range part {
		p := s.in(c.Region)[name]
		v := p.Versions[len(p.Versions)-1]
		shown := types.ParameterMetadata{
			Name: aws.String(name), ARN: aws.String(s.arn(c.Region, name)), Type: p.Type, Tier: p.Tier, DataType: aws.String(p.DataType),
			Version: int64(len(p.Versions)), LastModifiedDate: aws.Time(v.At), LastModifiedUser: aws.String(v.User),
		}
		if p.Description != "" {
			shown.Description = aws.String(p.Description)
		}
		if p.Key != "" {
			shown.KeyId = aws.String(p.Key)
		}
		out.Parameters = append(out.Parameters, shown)
	}
	return out, nil
}

func (s *Service) getParameterHistory(c *service.Call, in *ssm.GetParameterHistoryInput) (*ssm.GetParameterHistoryOutput, error) {
	p := s.in(c.Region)[aws.ToString(in.Name)]
	if p == nil {
		return nil, notFound(aws.ToString(in.Name))
	}
	out := &ssm.GetParameterHistoryOutput{}
	for at, v := range p.Versions {
		shown := sealed(s.shown(c.Region, p, at), in.WithDecryption)
		out.Parameters = append(out.Parameters, types.ParameterHistory{
			Name: shown.Name, Type: p.Type, Value: shown.Value, Version: int64(at + 1), DataType: shown.DataType, Tier: p.Tier,
			LastModifiedDate: aws.Time(v.At), LastModifiedUser: aws.String(v.User), Labels: v.Labels,
		})
	}
	return out, nil
}
