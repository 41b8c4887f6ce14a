package ec2sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) launchTemplateVersionOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateLaunchTemplateVersion", (*place).createTemplateVersion,
			"LaunchTemplateId", "LaunchTemplateName", "LaunchTemplateData", "SourceVersion", "VersionDescription", "ClientToken"),
		read(s, "DescribeLaunchTemplateVersions", (*place).describeTemplateVersions,
			"LaunchTemplateId", "LaunchTemplateName", "Versions", "MinVersion", "MaxVersion", "MaxResults", "NextToken"),
		write(s, "DeleteLaunchTemplateVersions", (*place).deleteTemplateVersions, "LaunchTemplateId", "LaunchTemplateName", "Versions"),
	}
}

// createTemplateVersion lays what it is given over a source version, if one is
// named.
func (p *place) createTemplateVersion(in *ec2.CreateLaunchTemplateVersionInput) (*ec2.CreateLaunchTemplateVersionOutput, error) {
	t, err := p.template(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if in.LaunchTemplateData == nil {
		return nil, missing("launchTemplateData")
	}
	data := *in.LaunchTemplateData
	if in.SourceVersion != nil {
		source, err := t.number(*in.SourceVersion)
		if err != nil {
			return nil, err
		}
		if data, err = overlaid(t.Versions[source].Data, data); err != nil {
			return nil, err
		}
	}
	token, number := aws.ToString(in.ClientToken), int64(0)
	for n, v := range t.Versions {
		if token != "" && v.Token == token {
			number = n
		}
	}
	if number == 0 {
		p.addVersion(t, data, in.VersionDescription, token)
		number = t.Latest
	}
	shown, err := p.showVersion(t, number)
	if err != nil {
		return nil, err
	}
	return &ec2.CreateLaunchTemplateVersionOutput{LaunchTemplateVersion: &shown}, nil
}

// overlaid is base with every member that top sets.
func overlaid(base, top types.RequestLaunchTemplateData) (out types.RequestLaunchTemplateData, err error) {
	members := map[string]json.RawMessage{}
	for _, one := range []types.RequestLaunchTemplateData{base, top} {
		text, err := json.Marshal(one)
		if err != nil {
			return out, fmt.Errorf("launch template: %w", err)
		}
		var set map[string]json.RawMessage
		if err := json.Unmarshal(text, &set); err != nil {
			return out, fmt.Errorf("launch template: %w", err)
		}
		maps.DeleteFunc(set, func(_ string, value json.RawMessage) bool { return string(value) == "null" || string(value) == `""` })
		maps.Copy(members, set)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return out, fmt.Errorf("launch template: %w", err)
	}
	return out, json.Unmarshal(text, &out)
}

// showVersion shows a version. What requests and answers say of it is spelled
// alike member by member, in types of different names.
func (p *place) showVersion(t *launchTemplate, number int64) (types.LaunchTemplateVersion, error) {
	v := t.Versions[number]
	text, err := json.Marshal(v.Data)
	if err != nil {
		return types.LaunchTemplateVersion{}, fmt.Errorf("launch template %s: %w", t.ID, err)
	}
	var data types.ResponseLaunchTemplateData
	if err := json.Unmarshal(text, &data); err != nil {
		return types.LaunchTemplateVersion{}, fmt.Errorf("launch template %s: %w", t.ID, err)
	}
	return types.LaunchTemplateVersion{
		LaunchTemplateId: aws.String(t.ID), LaunchTemplateName: aws.String(t.Name), VersionNumber: aws.Int64(number),
		VersionDescription: v.Description, CreateTime: aws.Time(v.CreatedAt), CreatedBy: aws.String(v.CreatedBy),
		DefaultVersion: aws.Bool(number == t.Default), LaunchTemplateData: &data,
	}, nil
}

func (p *place) describeTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	if in.LaunchTemplateId == nil && in.LaunchTemplateName == nil {
		return p.versionsOfAll(in)
	}
	t, err := p.template(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	numbers := slices.Sorted(maps.Keys(t.Versions))
	if len(in.Versions) > 0 {
		numbers = nil
		for _, version := range in.Versions {
			number, err := t.number(version)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, number)
		}
	}
	for _, bound := range []struct {
		text  *string
		below bool
	}{{in.MinVersion, true}, {in.MaxVersion, false}} {
		if bound.text == nil {
			continue
		}
		limit, err := strconv.ParseInt(*bound.text, 10, 64)
		if err != nil {
			return nil, invalid("The version %q is no number", *bound.text)
		}
		numbers = slices.DeleteFunc(numbers, func(n int64) bool { return bound.below && n < limit || !bound.below && n > limit })
	}
	slices.Reverse(numbers) // EC2 lists the newest first
	position := func(n int64) string { return fmt.Sprintf("%019d", 1<<62-n) }
	numbers, next, err := page(numbers, position, 200, selection{max: in.MaxResults, token: in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{NextToken: next}
	for _, number := range numbers {
		shown, err := p.showVersion(t, number)
		if err != nil {
			return nil, err
		}
		out.LaunchTemplateVersions = append(out.LaunchTemplateVersions, shown)
	}
	return out, nil
}

// versionsOfAll lists the latest or default version of every launch template,
// which is all that can be asked without naming one.
func (p *place) versionsOfAll(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	for _, version := range in.Versions {
		if version != "$Latest" && version != "$Default" {
			return nil, missing("launchTemplateId")
		}
	}
	if len(in.Versions) == 0 {
		return nil, missing("launchTemplateId")
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{}
	for _, t := range sorted(p.LaunchTemplates) {
		for _, version := range in.Versions {
			number, err := t.number(version)
			if err != nil {
				return nil, err
			}
			shown, err := p.showVersion(t, number)
			if err != nil {
				return nil, err
			}
			out.LaunchTemplateVersions = append(out.LaunchTemplateVersions, shown)
		}
	}
	return out, nil
}

// deleteTemplateVersions succeeds as a call and names each version that it
// could not delete: the default one, and those that do not exist.
func (p *place) deleteTemplateVersions(in *ec2.DeleteLaunchTemplateVersionsInput) (*ec2.DeleteLaunchTemplateVersionsOutput, error) {
	t, err := p.template(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if len(in.Versions) == 0 {
		return nil, missing("launchTemplateVersion")
	}
	out := &ec2.DeleteLaunchTemplateVersionsOutput{}
	for _, version := range in.Versions {
		number, err := strconv.ParseInt(version, 10, 64)
		code, message := types.LaunchTemplateErrorCodeLaunchTemplateVersionDoesNotExist, "The version does not exist"
		switch {
		case err != nil:
			return nil, invalid("The version %q is no number", version)
		case number == t.Default:
			code, message = types.LaunchTemplateErrorCodeUnexpectedError, "The default version cannot be deleted"
		case t.Versions[number] != nil:
			delete(t.Versions, number)
			out.SuccessfullyDeletedLaunchTemplateVersions = append(out.SuccessfullyDeletedLaunchTemplateVersions, types.DeleteLaunchTemplateVersionsResponseSuccessItem{
				LaunchTemplateId: aws.String(t.ID), LaunchTemplateName: aws.String(t.Name), VersionNumber: aws.Int64(number),
			})
			continue
		}
		out.UnsuccessfullyDeletedLaunchTemplateVersions = append(out.UnsuccessfullyDeletedLaunchTemplateVersions, types.DeleteLaunchTemplateVersionsResponseErrorItem{
			LaunchTemplateId: aws.String(t.ID), LaunchTemplateName: aws.String(t.Name), VersionNumber: aws.Int64(number),
			ResponseError: &types.ResponseError{Code: code, Message: aws.String(message)},
		})
	}
	return out, nil
}

// LaunchTemplate is what another service needs to know of a launch template's
// version.
type LaunchTemplate struct {
	ID, Name       string
	Version        int64
	InstanceType   string
	ImageID        string
	SecurityGroups []string
	Tags           map[string]string // for instances
}

// LookupLaunchTemplate returns a version of the launch template with the id or,
// where that is empty, the name. version is a number, $Latest or $Default;
// empty is $Default. The error is a *service.Error.
func (s *Service) LookupLaunchTemplate(region, id, name, version string) (LaunchTemplate, error) {
	p, err := s.at(region, nil)
	if err != nil {
		return LaunchTemplate{}, err
	}
	t, err := p.template(set(id), set(name))
	if err != nil {
		return LaunchTemplate{}, err
	}
	if version == "" {
		version = "$Default"
	}
	number, err := t.number(version)
	if err != nil {
		return LaunchTemplate{}, err
	}
	data := t.Versions[number].Data
	found := LaunchTemplate{
		ID: t.ID, Name: t.Name, Version: number, InstanceType: string(data.InstanceType), ImageID: aws.ToString(data.ImageId),
		SecurityGroups: slices.Clone(data.SecurityGroupIds), Tags: map[string]string{},
	}
	for _, n := range data.NetworkInterfaces {
		found.SecurityGroups = append(found.SecurityGroups, n.Groups...)
	}
	for _, spec := range data.TagSpecifications {
		if spec.ResourceType == types.ResourceTypeInstance {
			for _, tag := range spec.Tags {
				found.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
			}
		}
	}
	return found, nil
}
