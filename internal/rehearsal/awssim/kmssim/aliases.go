package kmssim

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) aliasOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateAlias", s.createAlias, "AliasName", "TargetKeyId"),
		service.Write("UpdateAlias", s.updateAlias, "AliasName", "TargetKeyId"),
		service.Write("DeleteAlias", s.deleteAlias, "AliasName"),
		service.Read("ListAliases", s.listAliases, "KeyId", "Marker", "Limit"),
	}
}

var aliasPattern = regexp.MustCompile(`^alias/[a-zA-Z0-9/_-]+$`)

func checkAlias(name *string) (string, error) {
	alias := aws.ToString(name)
	switch {
	case !aliasPattern.MatchString(alias):
		return "", service.Refuse("InvalidAliasNameException", "Alias must start with the prefix \"alias/\". Please see https://docs.aws.amazon.com/kms")
	case strings.HasPrefix(alias, managedAliases):
		return "", service.Refuse("NotAuthorizedException", "")
	}
	return alias, nil
}

func (s *Service) aliasARN(c *service.Call, alias string) string {
	return "arn:aws:kms:" + c.Region + ":" + s.account + ":" + alias
}

func (s *Service) createAlias(c *service.Call, in *kms.CreateAliasInput) (*kms.CreateAliasOutput, error) {
	alias, err := checkAlias(in.AliasName)
	if err != nil {
		return nil, err
	}
	k, err := s.changeable(c, in.TargetKeyId)
	if err != nil {
		return nil, err
	}
	r := s.in(c.Region)
	if _, ok := r.Aliases[alias]; ok {
		return nil, service.Refuse("AlreadyExistsException", "An alias with the name %s already exists", s.aliasARN(c, alias))
	}
	r.Aliases[alias] = k.ID
	return &kms.CreateAliasOutput{}, nil
}

func (s *Service) existing(c *service.Call, name *string) (string, error) {
	alias, err := checkAlias(name)
	if err != nil {
		return "", err
	}
	if _, ok := s.in(c.Region).Aliases[alias]; !ok {
		return "", notFound("Alias %s is not found.", s.aliasARN(c, alias))
	}
	return alias, nil
}

func (s *Service) updateAlias(c *service.Call, in *kms.UpdateAliasInput) (*kms.UpdateAliasOutput, error) {
	alias, err := s.existing(c, in.AliasName)
	if err != nil {
		return nil, err
	}
	k, err := s.changeable(c, in.TargetKeyId)
	if err != nil {
		return nil, err
	}
	s.in(c.Region).Aliases[alias] = k.ID
	return &kms.UpdateAliasOutput{}, nil
}

func (s *Service) deleteAlias(c *service.Call, in *kms.DeleteAliasInput) (*kms.DeleteAliasOutput, error) {
	alias, err := s.existing(c, in.AliasName)
	if err != nil {
		return nil, err
	}
	delete(s.in(c.Region).Aliases, alias)
	return &kms.DeleteAliasOutput{}, nil
}

func (s *Service) listAliases(c *service.Call, in *kms.ListAliasesInput) (*kms.ListAliasesOutput, error) {
	r := s.in(c.Region)
	names := slices.Sorted(maps.Keys(r.Aliases))
	if in.KeyId != nil {
		k, err := s.lookup(c, in.KeyId)
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(names, func(n string) bool { return r.Aliases[n] != k.ID })
	}
	names, truncated, next, err := page(names, in.Marker, in.Limit, 50)
	if err != nil {
		return nil, err
	}
	out := &kms.ListAliasesOutput{Aliases: []types.AliasListEntry{}, Truncated: truncated, NextMarker: next}
	for _, name := range names {
		at := r.Keys[r.Aliases[name]].CreatedAt
		out.Aliases = append(out.Aliases, types.AliasListEntry{
			AliasName: aws.String(name), AliasArn: aws.String(s.aliasARN(c, name)), TargetKeyId: aws.String(r.Aliases[name]),
			CreationDate: aws.Time(at), LastUpdatedDate: aws.Time(at),
		})
	}
	return out, nil
}
